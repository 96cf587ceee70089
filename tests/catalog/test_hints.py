"""What users add to tools of servers: `.mcode/tools.json` and `~/.mcode/tools.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcode.builtins.all import file_tools, session_tools
from mcode.builtins.file_state import FileState
from mcode.catalog.definitions import Definitions
from mcode.catalog.hints import Hint, read_hints
from mcode.events import Notice
from mcode.pipeline.validate import SchemaValidator
from tests.catalog.stand_ins import TITLE, ServerTool, jira, join
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

CREATE = "mcp__jira__create_issue"
HINT = {
    "hint": "kaputt meldung",
    "description": "Files a bug.",
    "placement": "deferred",
    "examples": [{"project": "APP", "title": "Login fails"}],
}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_first_file_counts_part_by_part(tmp_path: Path) -> None:
    strong = write(tmp_path / "a.json", {CREATE: {"hint": "bug"}})
    weak = write(tmp_path / "b.json", {CREATE: HINT, "mcp__jira__x": {"placement": "hidden"}})
    read = read_hints((strong, weak, tmp_path / "none.json"))
    assert read.tools[CREATE].hint == "bug"
    assert read.tools[CREATE].description == "Files a bug."
    assert read.pins == {CREATE: "deferred", "mcp__jira__x": "hidden"}
    assert not read.problems


def test_what_cannot_be_used_is_named_and_the_rest_counts(tmp_path: Path) -> None:
    broken = write(tmp_path / "a.json", "{nonsense")
    odd = write(
        tmp_path / "b.json",
        {CREATE: {"hint": 7, "examples": [1, {"a": 1}], "placement": "x", "colour": "red"}, "other": 3},
    )
    read = read_hints((broken, odd))
    assert read.tools[CREATE] == Hint(examples=({"a": 1},))
    assert len(read.problems) == 6
    assert str(broken) in read.problems[0]


def test_examples_travel_natively_or_as_text() -> None:
    tool = ServerTool(
        "jira", "create_issue", "Creates.", TITLE, input_examples=({"project": "A", "title": "b"},)
    )
    native, text = Definitions(native_examples=True).of(tool), Definitions().of(tool)
    assert native["input_examples"] == [{"project": "A", "title": "b"}]
    assert "input_examples" not in text
    assert text["description"] == 'Creates.\nExample: {"project":"A","title":"b"}'


def test_an_output_schema_is_the_return_type() -> None:
    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    tool = ServerTool("jira", "create_issue", "Creates.", TITLE, output_schema=schema)
    assert Definitions().loaded(tool)["description"] == "Creates.\nReturns: {key: string}"
    assert "Returns" not in Definitions().of(tool)["description"]


async def test_hints_reach_the_search_and_the_definition(tmp_path: Path) -> None:
    write(tmp_path / "project/.mcode/tools.json", {CREATE: HINT})
    write(tmp_path / "home/.mcode/tools.json", {CREATE: {"description": "Files a report."}, "bad": 1})
    script = turns(use("tool_search", queries=["kaputt meldung"]), "Found.")
    async with stage(tmp_path, script) as here:
        join(here, jira())
        await here.say("go")
        text = here.result().text
        assert "Files a report." in text
        assert 'Example: {\\"project\\":\\"APP\\"' in text
        assert 'call_tool with {"name": "mcp__jira__create_issue", "arguments": {"project":"APP"' in text
        assert [notice for notice in here.of(Notice) if "bad takes an object" in notice.text]


def test_examples_of_our_own_tools_fit_their_schemas(tmp_path: Path) -> None:
    from mcode.builtins.all import job_tools
    from mcode.builtins.jobs import Jobs

    validator = SchemaValidator()
    tools = (
        *file_tools(FileState(tmp_path), lambda _: False),
        *session_tools(),
        *job_tools(Jobs(lambda _: None, lambda _: None, [])),
    )
    for tool in tools:
        for example in tool.input_examples:
            assert not validator.problems(tool, example), (tool.name, example)
