"""/skills: the command files and skills of this session, and who may use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table, tokens
from mcode.model.tokens import count_tokens
from mcode.text import shorten

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.config.skill_files import Skill
    from mcode.jsontext import JsonObject

_SHOWN = 60
"""Cells of a description in the table."""


async def _skills(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/skills")
    skills = context.agent.skills
    data: list[JsonObject] = [_as_object(skill) for skill in skills.all]
    if not data:
        text = (
            "No command files or skills were found. They would be in .claude/commands, .claude/skills, and the same "
            "under .mcode and .agents, in this folder or your home; they are read when a session begins."
        )
        return CommandResult(text, data)
    rows = [
        (f"/{skill.name} {skill.argument_hint}".strip(), skill.home.scope, _who(skill), _about(skill))
        for skill in skills.all
    ]
    listed = len(skills.for_model)
    cost = count_tokens(skills.listing()) if listed else 0
    found = plural(len(rows), "command file or skill", "command files and skills")
    lines = [
        f"{found}; the model reads of {listed}, {tokens(cost)} tokens in every request (estimate)",
        table(rows),
        "They were read when the session began; /clear reads them anew.",
    ]
    return CommandResult("\n".join(lines), data)


def _who(skill: Skill) -> str:
    if skill.by_user and skill.by_model:
        return "you and the model"
    return "you" if skill.by_user else "the model" if skill.by_model else "nobody"


def _about(skill: Skill) -> str:
    notes = [skill.problem] if skill.problem else []
    notes += [f"without effect here: {', '.join(skill.unused)}"] if skill.unused else []
    notes += ["for a sub-agent"] if skill.fork else []
    notes += [f"for {', '.join(skill.paths)}"] if skill.paths else []
    said = f"({'; '.join(notes)}) {skill.description}" if notes else skill.description
    return shorten(" ".join(said.split()), _SHOWN)


def _as_object(skill: Skill) -> JsonObject:
    return {
        "name": skill.name,
        "kind": skill.kind,
        "scope": skill.home.scope,
        "path": str(skill.path),
        "description": skill.description,
        "argument_hint": skill.argument_hint,
        "allowed_tools": list(skill.allowed_tools),
        "disallowed_tools": list(skill.disallowed_tools),
        "paths": list(skill.paths),
        "model": skill.model,
        "fork": skill.fork,
        "agent": skill.agent,
        "background": skill.background,
        "effort": skill.effort,
        "hooks": sorted({hook.event for hook in skill.hooks}),
        "unused": list(skill.unused),
        "by_user": skill.by_user,
        "by_model": skill.by_model,
        "problem": skill.problem,
    }


SKILLS = Command("skills", "command files and skills, and who may use them", _skills)
