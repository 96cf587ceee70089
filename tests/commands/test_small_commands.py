"""The commands that people have in their fingers: /init, /branch, /copy, /add-dir, /cost, /output-style."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.builtins.structured_output import StructuredOutput
from mcode.call import Status
from mcode.command_line import parse
from mcode.commands.registry import CopyText, OpenSession
from mcode.errors import UsageError
from mcode.ui.headless import HeadlessFrontEnd
from mcode.wiring.options import Options
from tests.agent.test_skills import write
from tests.commands.typing import typed
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PRICES = {"mcode": {"prices": {"scripted-1": {"input": 1000, "output": 1000}}}}


async def test_init_asks_for_a_new_file_or_for_a_better_one(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A.", "B.")) as here:
        assert "write AGENTS.md" in (await typed(here, "/init mention tox")).text
        await here.say("x")
        assert "The user adds: mention tox" in str(here.client.requests[0]["messages"])
        write(here.project / "AGENTS.md", "Old.")
        assert "improve AGENTS.md" in (await typed(here, "/init")).text


async def test_branch_opens_a_copy_and_copy_takes_an_answer(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("First.", "Second.")) as here:
        await here.say("one")
        await here.say("two")
        assert (await typed(here, "/branch")).action == OpenSession("fork", here.agent.session.id)
        assert (await typed(here, "/copy")).action == CopyText("Second.")
        assert (await typed(here, "/copy 2")).text == "First."
        assert (await typed(here, "/copy 3")).failed
        assert (await typed(here, "/branch of mine")).action == OpenSession(
            "fork", here.agent.session.id, "of mine"
        )
        written = await typed(here, "/copy file 2")
        assert Path(written.data["path"]).read_text() == "First.\n"
        assert (await typed(here, "/copy file 2 3")).failed
        assert (await typed(here, "/copy x")).failed


async def test_an_added_directory_is_read_without_a_question(tmp_path: Path) -> None:
    other = tmp_path / "other"
    path = str(write(other / "a.txt", "text"))
    script = turns(use("Read", "toolu_1", file_path=path), "A.", use("Read", "toolu_2", file_path=path), "B.")
    async with stage(tmp_path, script) as here:
        await here.say("one")
        assert (await typed(here, "/add-dir nowhere")).failed
        assert (await typed(here, "/add-dir ../other")).data == {"added": str(other.resolve())}
        await here.say("two")
        assert [outcome.status for outcome in here.outcomes] == [Status.DENIED, Status.OK]
    script = turns(use("Read", "toolu_1", file_path=path), "A.")
    options = parse(["-p", "x", "--add-dir", str(other)])
    async with stage(tmp_path, script, options=replace(Options(), add_dirs=options.add_dirs)) as here:
        await here.say("one")
        assert here.result().status is Status.OK


async def test_cost_adds_up(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("A."), settings=PRICES) as here:
        assert (await typed(here, "/cost")).data["cost"] is None
        await here.say("one")
        result = await typed(here, "/usage")
        assert result.data["round_trips"] == 1
        assert result.data["cost"] > 0
        assert "$" in result.text


async def test_a_style_stands_for_the_instructions_and_can_be_switched(tmp_path: Path) -> None:
    write(tmp_path / "home/.claude/output-styles/pirate.md", "---\ndescription: arr\n---\nTalk like one.")
    more = "---\nname: Teach\nkeep-coding-instructions: true\n---\nExplain."
    write(tmp_path / "project/.claude/output-styles/t.md", more)
    settings = {"outputStyle": "pirate"}
    async with stage(tmp_path, turns("A.", "B."), settings=settings, new_prefixes=1) as here:
        await here.say("one")
        listed = await typed(here, "/output-style")
        assert [row["name"] for row in listed.data if row["current"]] == ["pirate"]
        assert (await typed(here, "/output-style nothing")).failed
        await typed(here, "/output-style teach")
        await here.say("two")
        first, second = (body["system"][0]["text"] for body in here.client.requests)
    assert first == "Talk like one."
    assert second.startswith("You are mcode")
    assert second.endswith("Explain.")


async def test_the_run_ends_at_its_budget(tmp_path: Path) -> None:
    script = turns(use("Glob", "toolu_1", pattern="*"), use("Glob", "toolu_2", pattern="*"), "End.")
    async with stage(tmp_path, script, settings=PRICES, options=Options(max_budget=0.001)) as here:
        finished = await here.say("one")
        assert finished.reason == "budget"
        assert len(here.client.requests) == 1


async def test_only_the_named_tools_are_there(tmp_path: Path) -> None:
    options = replace(Options(), tools=parse(["-p", "x", "--tools", "Read,Glob"]).tools)
    async with stage(tmp_path, turns("A."), options=options) as here:
        await here.say("one")
        assert [tool["name"] for tool in here.client.requests[0]["tools"]] == ["Glob", "Read"]


class _Said:
    def __init__(self) -> None:
        self.text = ""

    def answer(self, text: str) -> None:
        self.text += text

    def remark(self, text: str) -> None:
        """Not looked at."""


async def _one() -> AsyncIterator[str]:
    yield "how many"


@pytest.mark.parametrize(
    "schema", ['{"type": "object", "properties": {"n": {"type": "integer"}}}', '{"type": "integer"}']
)
async def test_an_answer_in_a_shape(tmp_path: Path, schema: str) -> None:
    whole = '"object"' in schema
    given = {"n": 3} if whole else {"value": 3}
    script = turns("Three.", use("StructuredOutput", **given), "Done.")
    async with stage(tmp_path, script, options=Options(json_schema=schema)) as here:
        said = _Said()
        tool = here.agent.catalog.find("StructuredOutput")
        assert isinstance(tool, StructuredOutput)
        front = HeadlessFrontEnd(here.agent, said, output_format="json", structured=lambda: tool.answers)
        assert await front.run(_one()) == 0
        result = json.loads(said.text)
    assert result["structured_output"] == ({"n": 3} if whole else 3)
    assert "counts only through StructuredOutput" in str(here.client.requests[1]["messages"])


async def test_no_answer_in_the_shape_is_an_error_of_its_own(tmp_path: Path) -> None:
    async with stage(
        tmp_path, turns("a", "b", "c", "d"), options=Options(json_schema='{"type":"object"}')
    ) as here:
        said = _Said()
        front = HeadlessFrontEnd(here.agent, said, output_format="json", structured=list)
        assert await front.run(_one()) == 1
        assert json.loads(said.text)["subtype"] == "error_max_structured_output_retries"


def test_bad_options_start_nothing() -> None:
    with pytest.raises(UsageError, match="--add-dir"):
        parse(["-p", "x", "--add-dir", "/nowhere/at/all"])


def test_nobody_and_a_tool_cannot_both_be_asked() -> None:
    assert parse(["--permission-prompts", "none"]).ask_nobody
    with pytest.raises(UsageError, match="give one of them"):
        parse(["-p", "x", "--permission-prompts", "none", "--permission-prompt-tool", "mcp__a__b"])
