"""The commands and skills of a session: found by name, and expanded into messages to the model.

A file's commands run along the road like every other call, and only where they may run without a question. What a
repository's file wants to run or to be allowed counts once the user has approved that very file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast

from mcode.agent.skill_listing import LONGEST, SHARE, listing, returning
from mcode.agent.turn_rules import TurnRules, rules_in
from mcode.call import Call, Origin
from mcode.config.globs import matches
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.permissions.verdict import Behavior
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from mcode.call import Outcome
    from mcode.config.settings import HookHandler, Settings
    from mcode.config.skill_files import Skill
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hook_verdicts import Reaction
    from mcode.pipeline.run import Pipeline
    from mcode.session.records import Record
    from mcode.tool import Workspace

RECORD = "skill"
"""Type of the journal's records of invocations: name, text."""

SWITCHED_OFF = "[not run: the setting disableSkillShellExecution is on]"


class Consent(Protocol):
    """Where the user says what files may do."""

    async def of_file(self, skill: Skill, runs: Sequence[str], allows: Sequence[str], call: Call) -> bool:
        """Whether a project's file may do what it says, as the user has approved it or does now."""
        ...

    async def of_model(self, skill: Skill, allows: Sequence[str], call: Call) -> bool:
        """Whether rules of a skill that the model has invoked hold until the turn ends."""
        ...


@dataclass(frozen=True, slots=True)
class Invoked:
    """What became of a skill's file."""

    text: str
    """For the model, with what its commands have printed."""
    own: str
    """The file's words and the arguments alone: where mentions of files are looked for."""


@dataclass(frozen=True, slots=True)
class SkillFacts:
    """What a session's skills need of it."""

    session_id: str
    workspace: Workspace
    settings: Settings
    window: int
    pipeline: Callable[[], Pipeline]
    fresh_id: Callable[[], str]
    """An id for a call that a command makes."""
    append: Callable[[str, JsonObject], None]
    """Writes a record to the journal."""
    expanding: Callable[[JsonObject, str], Awaitable[Reaction]]
    """Tells hooks of a skill that the user invokes; they may object."""
    add_hooks: Callable[[Sequence[HookHandler]], Callable[[], None]]
    """Lets hooks run from now on; returns what ends that."""


class Skills:
    """Everything that can be invoked by name, beside mcode's own commands."""

    def __init__(
        self,
        facts: SkillFacts,
        rules: TurnRules,
        consent: Consent,
        events: EventBus,
        earlier: Iterable[Record] = (),
    ) -> None:
        """`earlier`: the session's records so far."""
        self._facts = facts
        self._rules = rules
        self._consent = consent
        self._events = events
        self._by_name: dict[str, Skill] = {}
        self._texts: dict[str, str] = {}
        """What was invoked, by name, the last one at the end."""
        self._told: set[str] = set()
        """Names of those that the model hears of when it reads a file, and has heard of."""
        self.turn_model = ""
        """The model that a skill wants for this turn; empty for the session's own."""
        self.turn_effort = ""
        """How hard a skill wants the model to try in this turn; empty for as ever."""
        self._turn_hooks: list[Callable[[], None]] = []
        """Each ends the hooks of a skill of this turn."""
        for record in earlier:
            if record.type == "context":
                self._told.update(record.body.get("skills", ()))
            if record.type == RECORD:
                self._remember(str(record.body.get("name", "")), str(record.body.get("text", "")))

    def put(self, skills: Iterable[Skill]) -> None:
        """Take in what was read of the files, in place of everything before."""
        self._by_name = {skill.name.lower(): skill for skill in skills}

    def touched(self, paths: Sequence[Path]) -> None:
        """The model has read these files: it hears of skills that are for them, and of those that lie near them."""
        word = self.word_of(paths, self._told)
        if word is not None:
            self._facts.append("context", word)

    def take_in(self, nested: Iterable[Skill]) -> None:
        """Skills of a directory below the start that somebody has read in."""
        self._by_name |= {skill.name.lower(): skill for skill in nested}

    def word_of(self, paths: Sequence[Path], told: set[str]) -> JsonObject | None:
        """The record that tells whoever has read these files of skills for them; None where there is no new one.

        `told`: names of those that they have heard of; takes in the new ones.
        """
        new = [
            skill
            for skill in self.for_model
            if skill.name not in told and any(self._is_for(skill, path) for path in paths)
        ]
        if not new:
            return None
        names = [skill.name for skill in new]
        told.update(names)
        lines = (f"- {skill.name}: {clean(skill.in_listing, Kind.MODEL)[:LONGEST]}" for skill in new)
        text = "\n".join(
            ("For files such as the one you have read there are skills, for the tool Skill:", *lines)
        )
        return {"content": text, "skills": names}

    def _is_for(self, skill: Skill, path: Path) -> bool:
        """Whether it is heard of with this file: one for such files, or one that lies near it below the start."""
        if skill.paths:
            return self._fits(skill, path)
        folder = skill.home.folder
        return folder is not None and self._facts.workspace.start in folder.parents and folder in path.parents

    def preloaded(self, name: str) -> str:
        """The words of a skill for a sub-agent that begins with it; empty where there is none of this name."""
        from mcode.agent.placeholders import Given, Text, filled, parts_of

        skill = self.find(name)
        if skill is None:
            return ""
        dialect = skill.home.dialect
        parts = filled(list(parts_of(skill.body, dialect)), Given("", (), self._facts_for(skill)), dialect)
        words = "".join(
            part.text if isinstance(part, Text) else f"`{part.command}` (not run)" for part in parts
        )
        return f"The skill {skill.name}:\n{words.strip()}"

    def _fits(self, skill: Skill, path: Path) -> bool:
        folder = skill.home.folder or self._facts.workspace.start
        if not path.is_relative_to(folder):
            return False
        own = path.relative_to(folder).as_posix()
        return any(
            matches(glob, own) or matches(f"**/{glob}", own) or own.startswith(f"{glob.rstrip('/')}/")
            for glob in skill.paths
        )

    @property
    def all(self) -> tuple[Skill, ...]:
        return tuple(self._by_name.values())

    @property
    def for_model(self) -> tuple[Skill, ...]:
        """Those that the model may invoke by itself."""
        return tuple(skill for skill in self.all if skill.by_model and skill.in_listing)

    @property
    def heard_of(self) -> bool:
        """Whether the model knows of any, and so needs the tool."""
        return any(not skill.paths or skill.name in self._told for skill in self.for_model)

    def find(self, name: str) -> Skill | None:
        """The skill of this name, as it is typed behind the slash; letter case does not matter."""
        return self._by_name.get(name.lower())

    def meant(self, text: str) -> tuple[Skill, str] | None:
        """The skill that a message invokes, and its arguments; None for any other message."""
        if not text.startswith("/"):
            return None
        name, *rest = text[1:].split(maxsplit=1) or [""]
        skill = self.find(name) if text[1:].startswith(name) else None
        return (skill, "".join(rest).strip()) if skill is not None and skill.by_user else None

    def listing(self) -> str:
        """What the model reads of the skills that it may invoke."""
        settings = self._facts.settings
        fraction = settings.skill_listing_budget_fraction
        budget = round((SHARE if fraction is None else fraction) * self._facts.window)
        longest = settings.skill_listing_max_desc_chars
        listed = [skill for skill in self.for_model if not skill.paths]
        return listing(listed, budget, LONGEST if longest is None else longest)

    def returning(self) -> tuple[str, ...]:
        """What comes back behind a summary of the conversation."""
        return returning(self._texts)

    async def by_user(self, text: str, turn: int) -> Invoked | None:
        """What a message of the user's becomes that invokes a skill; None for any other.

        Raises UsageError where it cannot be sent, with the reason; then nothing is in force.
        """
        meant = self.meant(text)
        if meant is None:
            return None
        skill, arguments = meant
        notes = await self._ask_hooks(skill, arguments, text)
        call = Call(self._facts.fresh_id(), "Skill", {"skill": skill.name}, Origin.COMMAND, turn=turn)
        invoked = await self._invoke(skill, arguments, call, by_model=False)
        return replace(invoked, text="\n\n".join((invoked.text, *notes)))

    async def _ask_hooks(self, skill: Skill, arguments: str, text: str) -> tuple[str, ...]:
        """What UserPromptExpansion hooks add; raises UsageError where one objects."""
        fields: JsonObject = {
            "expansion_type": "slash_command",
            "command_name": skill.name,
            "command_args": arguments,
            "command_source": str(skill.path),
            "prompt": text,
        }
        said = await self._facts.expanding(fields, skill.name)
        why = said.blocked if said.blocked is not None else said.stop
        if why is not None:
            raise UsageError(
                f"/{skill.name} was not sent, since a hook objects: {why}. Nothing of it was run."
            )
        return said.notes

    async def by_model(self, name: str, arguments: str, call: Call) -> str:
        """The text of a skill that the model invokes; raises UsageError with what to do instead."""
        skill = self.find(name.strip().removeprefix("/"))
        if skill is None or not skill.by_model:
            known = ", ".join(each.name for each in self.for_model) or "none"
            only = f"The skill {name} is for the user alone" if skill else f"There is no skill {name}"
            raise UsageError(f"{only}. Nothing was done. Skills that you may use: {known}.")
        return (await self._invoke(skill, arguments, call, by_model=True)).text

    def end_turn(self) -> None:
        """What the turn's skills allowed and denied holds no longer."""
        self._rules.end()
        while self._turn_hooks:
            self._turn_hooks.pop()()
        self.turn_model = self.turn_effort = ""

    async def _invoke(self, skill: Skill, arguments: str, call: Call, *, by_model: bool) -> Invoked:
        from mcode.agent.placeholders import Given, Run, Text, filled, parts_of

        dialect = skill.home.dialect
        parts = list(parts_of(skill.body, dialect))
        runs = [part.command for part in parts if isinstance(part, Run)]
        await self._put_into_force(skill, runs, call, by_model=by_model)
        made = filled(parts, Given(arguments, skill.arguments, self._facts_for(skill)), dialect)
        pieces = [
            part.text if isinstance(part, Text) else await self._output(skill, part.command, call)
            for part in made
        ]
        own = "".join(part.text for part in made if isinstance(part, Text))
        text = "".join(pieces).strip()
        if not text:
            raise UsageError(f"/{skill.name} was not sent: {skill.path} holds no text.")
        self.turn_effort = skill.effort or self.turn_effort
        if skill.fork:
            return Invoked(await self._in_sub_agent(skill, text, call), own)
        self.turn_model = skill.model or self.turn_model
        self._facts.append(RECORD, {"name": skill.name, "text": text})
        self._remember(skill.name, text)
        return Invoked(text, own)

    async def _in_sub_agent(self, skill: Skill, text: str, call: Call) -> str:
        """Give the skill to a sub-agent; what it answers. Raises UsageError where none comes."""
        arguments: JsonObject = {"prompt": text, "description": skill.name}
        arguments |= {"subagent_type": skill.agent} if skill.agent else {}
        arguments |= {"model": skill.model} if skill.model else {}
        arguments |= {"run_in_background": True} if skill.background else {}
        parent = call.id if call.origin is not Origin.COMMAND else None
        made = Call(self._facts.fresh_id(), "Agent", arguments, Origin.COMMAND, parent=parent, turn=call.turn)
        outcome = await self._facts.pipeline().run(made)
        if outcome.is_error:
            raise UsageError(
                f"/{skill.name} is the task of a sub-agent, which did not come to its end: {outcome.text}"
            )
        how = "is being" if skill.background else "was"
        return f"The skill {skill.name} {how} carried out by a sub-agent. Its answer:\n{outcome.text}"

    async def _put_into_force(self, skill: Skill, runs: Sequence[str], call: Call, *, by_model: bool) -> None:
        """Let the file's rules count for this turn, as far as the user has agreed."""
        allows = rules_in(skill.allowed_tools)
        hooks = () if self._facts.settings.disable_all_hooks else skill.hooks
        problems = self._rules.add(rules_in(skill.disallowed_tools), Behavior.DENY, call.turn)
        wants_more = skill.home.folder is not None and (allows or runs or hooks)
        if wants_more and not await self._consent.of_file(skill, runs, allows, call):
            if runs:
                raise UsageError(
                    f"/{skill.name} was not sent: {skill.path} would run `{runs[0]}`, and the file is not "
                    "approved. Nothing was run. Approve it when you are asked, or start with --trust."
                )
            what = [*(["its allowed-tools"] if allows else []), *(["its hooks"] if hooks else [])]
            allows, hooks = (), ()
            self._say(f"{skill.path} is not approved, so {' and '.join(what)} do not count.")
        if allows and by_model and not await self._consent.of_model(skill, allows, call):
            allows = ()
        problems += self._rules.add(allows, Behavior.ALLOW, call.turn)
        if hooks:
            self._turn_hooks.append(self._facts.add_hooks(hooks))
        for problem in problems:
            self._say(f"{skill.path}: {problem}")

    async def _output(self, skill: Skill, command: str, call: Call) -> str:
        """What a command of the file prints; raises UsageError where it may not run or fails."""
        if self._facts.settings.disable_skill_shell_execution:
            return SWITCHED_OFF
        parent = call.id if call.origin is not Origin.COMMAND else None
        inner = Call(
            self._facts.fresh_id(),
            "Bash",
            {"command": command},
            Origin.COMMAND,
            parent=parent,
            turn=call.turn,
        )
        outcome = await self._facts.pipeline().run(inner)
        if outcome.is_error or _exit_code(outcome) != 0:
            raise UsageError(
                f"/{skill.name} was not sent, because its command `{command}` did not succeed. {outcome.text}"
            )
        return _printed(outcome)

    def _facts_for(self, skill: Skill) -> dict[str, str]:
        return {
            "SKILL_DIR": str(skill.path.parent),
            "PROJECT_DIR": str(self._facts.workspace.start),
            "SESSION_ID": self._facts.session_id,
        }

    def _remember(self, name: str, text: str) -> None:
        self._texts.pop(name, None)
        self._texts[name] = text

    def _say(self, text: str) -> None:
        self._events.emit(Notice(text, "warning"))


def _exit_code(outcome: Outcome) -> int:
    data = cast("JsonObject", outcome.data) if isinstance(outcome.data, dict) else {}
    code = data.get("exit_code")
    return code if isinstance(code, int) else 0


def _printed(outcome: Outcome) -> str:
    """What a command printed, without what mcode says of it; a hook may have put something else in its place."""
    if not isinstance(outcome.data, dict):
        return outcome.text
    data = cast("JsonObject", outcome.data)
    streams = (str(data.get("stdout", "")), str(data.get("stderr", "")))
    return "\n".join(stream.rstrip("\n") for stream in streams if stream.strip())
