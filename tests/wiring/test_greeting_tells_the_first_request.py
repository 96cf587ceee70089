"""What the first screen says of tools is what the first request carries, skills and agents of files included."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.commands.tools import resident_summary
from mcode.events import Notice
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)


@pytest.mark.parametrize("own", [False, True])
async def test_the_tools_of_the_first_screen_are_those_of_the_first_request(
    tmp_path: Path, own: bool
) -> None:
    if own:
        write(tmp_path / "home/.claude/skills/look/SKILL.md", "---\ndescription: Looks.\n---\nLook.")
        write(
            tmp_path / "home/.claude/agents/scout.md", "---\nname: scout\ndescription: Scouts.\n---\nScout."
        )
    async with stage(tmp_path, turns("Hello."), start=False) as here:
        context = CommandContext(here.agent, here.bench.surroundings(), standard_registry())
        said = resident_summary(context)
        await here.agent.start("startup")
        await here.say("hi")
        (prefix,) = (each.body for each in here.agent.session.journal.records if each.type == "prefix")
        counts = re.match(r"(\d+) tools in every request: .* (\d+) deferred", said)
        assert counts is not None, said
        names = {tool["name"] for tool in prefix["tools"]}
        assert (int(counts[1]), int(counts[2])) == (len(names), prefix["deferred"]["tools"])
        assert ({"Agent", "Skill"} <= names) is own


async def test_what_is_wrong_with_an_agents_file_is_said_when_somebody_listens(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/agents/broken.md", "---\nname: [\n---\nScout.")
    async with stage(tmp_path, turns("Hello.")) as here:
        assert any("broken.md" in event.text for event in here.of(Notice))
