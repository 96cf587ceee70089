"""The skills of a session: read at its start, approved by the user, and offered to the model as a tool."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.agent.skills import SkillFacts, Skills
from mcode.agent.turn_rules import TurnRules
from mcode.tool import Choice, Question
from mcode.wiring.file_consent import HEADER, FileConsent, file_item, hook_facts
from mcode.wiring.trust_page import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.builtins.skill_tool import SkillTool
    from mcode.call import Call
    from mcode.catalog.catalog import Catalog
    from mcode.config.skill_files import Skill
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.run import Pipeline
    from mcode.wiring.core import SessionCore
    from mcode.wiring.workbench import Workbench

_NO, _YES = "No, go on asking", "Yes, for this turn"


@dataclass(slots=True)
class SkillConsent:
    """Asks the user about skills."""

    files: FileConsent
    mask: Callable[[str], str]
    """Takes secrets out of what is shown and kept of a file."""
    _of_model: dict[str, bool] = field(default_factory=dict[str, bool], init=False)
    """Answers of this session about skills that the model has invoked, by digest."""

    async def of_file(self, skill: Skill, runs: Sequence[str], allows: Sequence[str], call: Call) -> bool:
        facts = {"runs": "; ".join(runs), "allows in its turn": ", ".join(allows), **hook_facts(skill.hooks)}
        shown = {label: text for label, text in facts.items() if text}
        item = file_item(skill.path, skill.home.folder or skill.path.parent, skill.digest, shown)
        wish = f"{skill.path} is a file of this project. For /{skill.name} it wants more than to be read:"
        return await self.files.given(masked(item, self.mask), wish, call)

    async def of_model(self, skill: Skill, allows: Sequence[str], call: Call) -> bool:
        if skill.digest not in self._of_model:
            text = (
                f"The model uses the skill {skill.name} ({skill.path}). Shall what that file allows run without a "
                f"question until this turn ends?\n  {', '.join(allows)}"
            )
            choices = (Choice(_NO, "each such call is asked about as ever"), Choice(_YES, "remembered here"))
            answers = await self.files.desk.question(call, [Question(text, HEADER, choices)])
            self._of_model[skill.digest] = answers == ((_YES,),)
        return self._of_model[skill.digest]


@dataclass(frozen=True, slots=True)
class SessionSkills:
    """Reads the files and takes the tool into the catalogue."""

    bench: Workbench
    skills: Skills
    catalog: Catalog
    _looked: set[Path] = field(default_factory=set["Path"], init=False)
    """Directories below the start whose skills were looked for."""

    @classmethod
    def of(cls, core: SessionCore, catalog: Catalog, pipeline: Pipeline, hooks: HookRunner) -> SessionSkills:
        bench, conversation, events = core.bench, core.conversation, core.events
        facts = SkillFacts(
            session_id=core.session.id,
            workspace=core.workspace,
            settings=bench.settings,
            window=bench.endpoint.window,
            pipeline=lambda: pipeline,
            fresh_id=lambda: conversation.history.fresh_id("command"),
            append=conversation.append,
            expanding=lambda fields, name: hooks.other("UserPromptExpansion", fields, name),
            add_hooks=hooks.add,
        )
        consent = SkillConsent(FileConsent(bench.trust, core.desk, events), bench.masker.mask)
        skills = Skills(facts, TurnRules(core.policy), consent, events, core.session.journal.records)
        return cls(bench, skills, catalog)

    async def read(self) -> Sequence[str]:
        """Read the files in a thread; what is wrong with them.

        Nothing is loaded for it where there is no directory of such files.
        """
        from mcode.config.skill_places import any_skills, load_skills

        bench = self.bench
        if not await asyncio.to_thread(any_skills, bench.places, bench.start):
            return ()
        found, problems = await asyncio.to_thread(
            load_skills, bench.places, bench.start, bench.options.setting_sources
        )
        self.skills.put(found)
        self._offer(late=False)
        return problems

    def touched(self, paths: Sequence[Path]) -> None:
        """The model has read these files: it hears of skills that are for them, and of those that lie near them."""
        self._look_near(paths)
        if any(skill.paths or skill.home.folder in self._looked for skill in self.skills.all):
            self.skills.touched(paths)
            self._offer(late=True)

    def word_for_sub_agent(self, paths: Sequence[Path], told: set[str]) -> JsonObject | None:
        """What a sub-agent is told that has read these files; see `Skills.word_of`."""
        self._look_near(paths)
        return self.skills.word_of(paths, told)

    def tool_for_sub_agent(self) -> SkillTool:
        """The tool, for one that has heard of a skill in the middle of its work."""
        from mcode.builtins.skill_tool import SkillTool

        return SkillTool(self.skills, seldom=True)

    def _look_near(self, paths: Sequence[Path]) -> None:
        """Find the skills of the files' directories below the start, each directory once."""
        start = self.bench.start
        new = {
            directory
            for path in paths
            for directory in path.parents
            if start in directory.parents and directory not in self._looked
        }
        self._looked.update(new)
        if not new or "project" not in self.bench.options.setting_sources:
            return
        from mcode.config.skill_places import nested_skills

        for directory in sorted(new):
            known = [skill.name for skill in self.skills.all]
            self.skills.take_in(nested_skills(directory, start, known))

    def _offer(self, *, late: bool) -> None:
        """Give the model the tool where there is something that it may use."""
        if not self.skills.heard_of or self.catalog.find("Skill") or not self.bench.options.has_tool("Skill"):
            return
        from mcode.builtins.skill_tool import SkillTool

        self.catalog.add(
            SkillTool(self.skills, seldom=late or all(skill.paths for skill in self.skills.for_model))
        )
