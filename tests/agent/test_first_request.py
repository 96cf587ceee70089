"""What every conversation pays before it begins: the definitions and the system prompt."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.model.usage import count_request
from tests.stage import stage, turns

if TYPE_CHECKING:
    import pytest

BUDGET = 4_000
"""Tokens of the whole first request without memory files."""

ROOT = Path(__file__).parents[2]


async def test_the_first_request_is_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with stage(tmp_path, turns("Hello.")) as here:
        await here.say("hello")
        size = count_request(here.client.requests[0])
        names = [tool["name"] for tool in here.client.requests[0]["tools"]]
    with capsys.disabled():
        print(f"\nfirst request: {size.total} tokens: definitions {size.definitions}, system {size.system}")
    assert size.total <= BUDGET
    core = {"AskUserQuestion", "Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write", "run_code"}
    assert core <= set(names)
    assert names == sorted(names)


async def test_the_system_prompt_holds_no_date_and_no_path(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("Hello.")) as here:
        await here.say("hello")
        (block,) = here.client.requests[0]["system"]
        first = here.client.requests[0]["messages"][0]["content"][0]["text"]
    assert str(tmp_path) not in block["text"]
    assert "20" not in block["text"]
    assert str(here.project) in first
    assert "Date: " in first


async def test_the_same_start_gives_the_same_bytes(tmp_path: Path) -> None:
    bodies: list[object] = []
    for _ in range(2):
        async with stage(tmp_path, turns("Hello.")) as here:
            await here.say("hello")
            bodies.append(here.client.requests[0])
    assert bodies[0] == bodies[1]


async def test_instruction_files_follow_the_prompt_and_nested_ones_come_when_needed(tmp_path: Path) -> None:
    from tests.stage import use

    project = tmp_path / "project"
    (project / "lib").mkdir(parents=True)
    (project / "AGENTS.md").write_text("Use tabs.")
    (project / "lib/AGENTS.md").write_text("Here use blanks.")
    (project / "lib/a.txt").write_text("x")
    async with stage(tmp_path, turns(use("Read", file_path="lib/a.txt"), "So it is.")) as here:
        await here.say("look")
        system = here.client.requests[0]["system"][0]["text"]
        second = here.client.requests[1]
    assert "Use tabs." in system
    assert "Here use blanks." not in system
    assert second["system"][0]["text"] == system
    assert "Here use blanks." in second["messages"][-1]["content"][-1]["text"]


def test_nothing_of_long_work_is_imported_before_it_is_used(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.stage import stage, turns

async def main():
    async with stage(Path({str(tmp_path)!r}), turns("hello")) as opened:
        await opened.say("hi")
        print(*sys.modules)

asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "mcode.agent.turn" in loaded
    own = {
        "mcode.agent.compaction", "mcode.agent.placeholders", "mcode.config.front_matter", "mcode.config.skill_files",
        "mcode.builtins.skill_tool", "mcode.wiring.subagent", "mcode.agent.subagent_record", "mcode.ui.acp", "PIL",
    }  # fmt: skip
    for name in own:
        assert importlib.util.find_spec(name) is not None or name == "PIL", name
    assert not loaded & {*own, "acp", "pydantic", "tomllib", "yaml"}
