"""The skills of a session: read when it starts, approved by the user, and a tool where the model may use some."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.agent.skills import SkillFacts, Skills
from mcode.agent.turn_rules import TurnRules
from mcode.config.trust import COMMAND_FILE, Item
from mcode.errors import StorageError
from mcode.events import Notice
from mcode.tool import Choice, Question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.agent.conversation import Conversation
    from mcode.agent.room import RoomMaker
    from mcode.call import Call
    from mcode.catalog.catalog import Catalog
    from mcode.config.skill_files import Skill
    from mcode.events import EventBus
    from mcode.permissions.decide import Policy
    from mcode.pipeline.ask import Desk
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.run import Pipeline
    from mcode.session.store import OpenSession
    from mcode.tool import Workspace
    from mcode.wiring.workbench import Workbench

_NOT_NOW, _APPROVE, _NEVER = "Not now", "Approve this file", "Never"
_NO, _YES = "No, go on asking", "Yes, for this turn"


@dataclass(slots=True)
class SkillConsent:
    """Asks the user, and keeps what was said of files until they change."""

    bench: Workbench
    desk: Desk
    events: EventBus
    _of_model: dict[str, bool] = field(default_factory=dict[str, bool], init=False)
    """Answers of this session about skills that the model has invoked, by digest."""

    async def of_file(self, skill: Skill, runs: Sequence[str], allows: Sequence[str], call: Call) -> bool:
        item = _item(skill, runs, allows)
        trust = self.bench.trust
        if await asyncio.to_thread(trust.is_approved, item):
            return True
        if await asyncio.to_thread(trust.is_refused, item):
            return False
        changes = await asyncio.to_thread(trust.difference, item)
        lines = [f"{skill.path} is a file of this project. For /{skill.name} it wants more than to be read:"]
        lines += [f"  {label}: {text}" for label, text in item.facts.items() if label != "file"]
        if changes:
            lines += [
                "It is not as it was when you answered the last time:",
                *(f"  {line}" for line in changes),
            ]
        choices = (
            Choice(_NOT_NOW, "it may not, this time"),
            Choice(_APPROVE, "it may, until the file changes"),
            Choice(_NEVER, "it may not, until the file changes"),
        )
        answer = await self._ask(call, "\n".join(lines), choices)
        keep = {_APPROVE: trust.approve, _NEVER: trust.refuse}.get(answer)
        if keep is not None:
            try:
                note = await asyncio.to_thread(keep, item)
            except StorageError as error:
                note = str(error)
            if note:
                self.events.emit(Notice(note))
        return answer == _APPROVE

    async def of_model(self, skill: Skill, allows: Sequence[str], call: Call) -> bool:
        if skill.digest not in self._of_model:
            text = (
                f"The model uses the skill {skill.name} ({skill.path}). Shall what that file allows run without a "
                f"question until this turn ends?\n  {', '.join(allows)}"
            )
            choices = (Choice(_NO, "each such call is asked about as ever"), Choice(_YES, "remembered here"))
            self._of_model[skill.digest] = await self._ask(call, text, choices) == _YES
        return self._of_model[skill.digest]

    async def _ask(self, call: Call, text: str, choices: tuple[Choice, ...]) -> str:
        """The label that was chosen; empty where nobody answered."""
        answers = await self.desk.question(call, [Question(text, "Command file", choices)])
        return "".join(answers[0]) if answers else ""


@dataclass(frozen=True, slots=True)
class SessionSkills:
    """Reads the files and takes the tool into the catalogue."""

    bench: Workbench
    skills: Skills
    catalog: Catalog
    events: EventBus
    _looked: set[Path] = field(default_factory=set["Path"], init=False)
    """Directories below the start whose skills were looked for."""

    @classmethod
    def of(
        cls,
        bench: Workbench,
        session: OpenSession,
        conversation: Conversation,
        workspace: Workspace,
        policy: Policy,
        catalog: Catalog,
        events: EventBus,
        desk: Desk,
        pipeline: Pipeline,
        hooks: HookRunner,
    ) -> SessionSkills:
        facts = SkillFacts(
            session_id=session.id,
            workspace=workspace,
            settings=bench.settings,
            window=bench.endpoint.window,
            pipeline=lambda: pipeline,
            used_ids=lambda: conversation.history.used_ids,
            append=conversation.append,
            expanding=lambda fields, name: hooks.other("UserPromptExpansion", fields, name),
        )
        consent = SkillConsent(bench, desk, events)
        skills = Skills(facts, TurnRules(policy), consent, events, session.journal.records)
        return cls(bench, skills, catalog, events)

    def return_after_summary(self, room: RoomMaker) -> None:
        """Put what was invoked behind every summary of the conversation."""
        before = room.more
        room.more = lambda: (*before(), *self.skills.returning())

    async def read(self) -> None:
        """Read the files in a thread; nothing is loaded for it where there is no directory of such files."""
        from mcode.config.skill_places import any_skills, load_skills

        bench = self.bench
        if not await asyncio.to_thread(any_skills, bench.places, bench.start):
            return
        found, problems = await asyncio.to_thread(
            load_skills, bench.places, bench.start, bench.options.setting_sources
        )
        self.skills.put(found)
        for problem in problems:
            self.events.emit(Notice(problem))
        self._offer(late=False)

    def touched(self, paths: Sequence[Path]) -> None:
        """These files were read: find the skills of their directories below the start, each directory once."""
        start = self.bench.start
        new = {
            directory
            for path in paths
            for directory in path.parents
            if start in directory.parents and directory not in self._looked
        }
        self._looked.update(new)
        nested: list[Skill] = []
        if new and "project" in self.bench.options.setting_sources:
            from mcode.config.skill_places import nested_skills

            for directory in sorted(new):
                known = [skill.name for skill in (*self.skills.all, *nested)]
                nested += nested_skills(directory, start, known)
        if nested or any(skill.paths for skill in self.skills.all):
            self.skills.touched(paths, nested)
            self._offer(late=True)

    def _offer(self, *, late: bool) -> None:
        """Give the model the tool where there is something that it may use."""
        if not self.skills.heard_of or self.catalog.find("Skill") or not self.bench.options.has_tool("Skill"):
            return
        from mcode.builtins.skill_tool import SkillTool

        self.catalog.add(
            SkillTool(self.skills, seldom=late or all(skill.paths for skill in self.skills.for_model))
        )


def _item(skill: Skill, runs: Sequence[str], allows: Sequence[str]) -> Item:
    folder = skill.home.folder or skill.path.parent
    file = str(skill.path.relative_to(folder)) if skill.path.is_relative_to(folder) else str(skill.path)
    facts = {"file": file}
    if runs:
        facts["runs"] = "; ".join(runs)
    if allows:
        facts["allows in its turn"] = ", ".join(allows)
    return Item(COMMAND_FILE, file, skill.digest, folder, facts)
