"""TodoWrite and AskUserQuestion, and what all definitions cost together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcode import jsontext
from mcode.builtins.all import file_tools, session_tools
from mcode.builtins.ask_user_question import AskUserQuestion
from mcode.builtins.file_state import FileState
from mcode.builtins.todo_write import TodoWrite
from mcode.call import FailureKind
from mcode.pipeline.validate import SchemaValidator
from mcode.tool import Placement, Tool

if TYPE_CHECKING:
    from tests.builtins.conftest import Session

QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL"}],
}


def every_tool() -> tuple[Tool, ...]:
    return (*file_tools(FileState()), *session_tools())


async def test_the_todo_list_is_the_result(session: Session) -> None:
    todos = [
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "in_progress", "activeForm": "writing"},
        {"content": "test", "status": "pending"},
    ]
    result = await session.call(TodoWrite(), todos=todos)
    assert result.data == {"todos": todos}
    assert result.summary == "1 of 3 completed, 1 in progress"
    preview = await TodoWrite().preview({"todos": todos}, session.workspace)
    assert preview.body == "[x] read\n[>] write\n[ ] test"
    assert (await session.call(TodoWrite(), todos=[])).summary == "no todos"


async def test_answers_come_back_with_their_questions(session: Session) -> None:
    session.services.answers = (("SQLite",), ("a", "b"))
    questions = [QUESTION, {**QUESTION, "question": "Which letters?", "multiSelect": True}]
    result = await session.call(AskUserQuestion(), questions=questions)
    assert result.data == {
        "answers": [
            {"question": "Which database?", "answer": ["SQLite"]},
            {"question": "Which letters?", "answer": ["a", "b"]},
        ]
    }
    assert result.text == "Which database?\n→ SQLite\nWhich letters?\n→ a, b"
    preview = await AskUserQuestion().preview({"questions": questions}, session.workspace)
    assert preview.title == "Database, Database"
    assert "  - SQLite: one file\n  - PostgreSQL" in preview.body


async def test_where_nobody_can_be_asked_the_model_is_told_to_decide(session: Session) -> None:
    result = await session.call(AskUserQuestion(), questions=[QUESTION])
    assert result.failure is FailureKind.TOOL_ERROR
    assert "Decide yourself" in result.text


def test_tools_that_speak_to_the_user_are_for_the_model_alone() -> None:
    for tool in session_tools():
        assert tool.placement is Placement.TOP_LEVEL_ONLY
        assert tool.read_only
    assert {tool.name for tool in file_tools(FileState()) if tool.read_only} == {"Read", "Glob", "Grep"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": "a", "offset": 1, "limit": 5}),
        ("Edit", {"file_path": "a", "old_string": "", "new_string": "b", "replace_all": True}),
        ("Write", {"file_path": "a", "content": ""}),
        ("Glob", {"pattern": "*", "path": "a"}),
        (
            "Grep",
            {"pattern": "a", "path": ".", "glob": "*", "output_mode": "count", "-i": True, "multiline": True},
        ),
        ("Grep", {"pattern": "a", "-n": True, "-A": 1, "-B": 1, "-C": 1, "head_limit": 5}),
        ("TodoWrite", {"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]}),
        ("AskUserQuestion", {"questions": [{**QUESTION, "multiSelect": False}]}),
    ],
)
def test_the_schemas_take_the_known_arguments_and_no_others(name: str, arguments: dict[str, Any]) -> None:
    tool = next(tool for tool in every_tool() if tool.name == name)
    validator = SchemaValidator()
    assert validator.problems(tool, arguments) == ()
    assert "unknown" in validator.problems(tool, {**arguments, "surplus": 1})[0]
    assert "missing" in validator.problems(tool, {})[0]


def test_all_definitions_together_are_small() -> None:
    """About four characters make a token; the whole first request has 2,500 tokens."""
    definitions = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in every_tool()
        if tool.placement is not Placement.DEFERRED
    ]
    assert len(jsontext.dump(definitions)) <= 4_000
    assert all(10 < len(tool.description) < 500 for tool in every_tool())
