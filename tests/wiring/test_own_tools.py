"""`--tools`: which of mcode's own tools a session has, and what is said of a name that none of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.command_line import parse
from mcode.events import Notice
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("Bash,Reed", ["--tools: mcode has no tool called reed; is Read meant?"]),
        ("Bash,Quux", ["--tools: mcode has no tool called quux; `mcode tools list` shows all."]),
        ("Bash,read,Task,Skill,run_code,mcp__files__write,Web*", []),
    ],
)
async def test_a_name_that_no_tool_has_is_warned_of_with_the_nearest(
    tmp_path: Path, given: str, told: list[str]
) -> None:
    async with stage(tmp_path, turns("hi"), options=parse(["--tools", given])) as opened:
        await opened.say("hello")
        warned = [notice for notice in opened.of(Notice) if notice.text.startswith("--tools")]
        assert [(notice.text, notice.severity) for notice in warned] == [(text, "warning") for text in told]
        assert "Bash" in {tool.name for tool in opened.agent.catalog}


async def test_the_older_name_task_means_the_tool_that_starts_agents(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("hi"), options=parse(["--tools", "Task"])) as opened:
        assert {tool.name for tool in opened.agent.catalog} >= {"Agent"}
