"""MemoryNote: notes reach the file that later sessions read, and nothing else in it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from mcode.builtins.all import file_tools, job_tools, memory_tools, session_tools, web_tools
from mcode.builtins.bash import Bash
from mcode.builtins.file_state import FileState
from mcode.builtins.jobs import Jobs
from mcode.builtins.memory_note import MemoryNote
from mcode.config.memory import load_memory
from mcode.config.places import Places
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.tool import Tool, ToolResult
    from tests.builtins.conftest import Session


async def note(session: Session, text: str, **more: Any) -> ToolResult:
    user = session.directory.parent / "user"
    user.mkdir(exist_ok=True)
    return await session.call(MemoryNote(session.files, user), note=text, **more)


async def test_a_note_makes_the_file_that_later_sessions_read(session: Session, tmp_path: Path) -> None:
    await note(session, "Use tabs.")
    await note(session, "Two\nlines.")
    assert (session.directory / "AGENTS.md").read_text() == "# Notes\n\n- Use tabs.\n- Two\n  lines.\n"
    await note(session, "Answer in German.", scope="user")
    user = tmp_path / "user"
    assert (user / "AGENTS.md").read_text() == "# Notes\n\n- Answer in German.\n"
    places = Places(
        home=tmp_path, state=user, claude=tmp_path / ".claude", managed=(tmp_path / "no", tmp_path / "nor")
    )
    texts = [file.text for file in load_memory(places, session.directory).files]
    assert any("Use tabs." in text for text in texts)
    assert any("Answer in German." in text for text in texts)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("CLAUDE.md", "# Rules\n\nText", "# Rules\n\nText\n\n- new\n"),
        ("AGENTS.md", "- one\n", "- one\n- new\n"),
        ("AGENTS.override.md", "# A\r\n\r\ntext\r\n", "# A\r\n\r\ntext\r\n\r\n- new\r\n"),
        ("CLAUDE.md", "\ufeffx\n", "\ufeffx\n\n- new\n"),
    ],
)
async def test_a_note_is_appended_and_every_other_byte_stays(
    session: Session, name: str, before: str, after: str
) -> None:
    place = session.put(name, before)
    if name == "AGENTS.override.md":
        session.put("AGENTS.md", "not read")
    result = await note(session, "new")
    assert result.failure is None
    assert place.read_bytes().decode() == after
    assert session.services.kept[0][1] == before.encode()


async def test_hidden_characters_never_become_instructions(session: Session) -> None:
    await note(session, "plain\u202e\U000e0041 text\x1b[31m")
    assert (session.directory / "AGENTS.md").read_text().endswith("- plain text\n")
    assert (await note(session, "\u200b")).failure is not None


async def test_a_note_is_asked_about_like_an_edit_and_edit_rules_hold_for_it(tmp_path: Path) -> None:
    script = turns(use("MemoryNote", note="remember"), "ok")
    async with stage(tmp_path / "a", script) as here:
        here.answer("once")
        await here.say("go")
        assert here.result().text.startswith("AGENTS.md created with the note")
        assert here.result().diff is not None
    denied = {"permissions": {"deny": ["Edit(AGENTS.md)"]}}
    async with stage(tmp_path / "b", script, settings=denied) as here:
        here.answer("once")
        await here.say("go")
        assert here.result().text.startswith("Denied")
        assert not (here.project / "AGENTS.md").exists()


def every_tool(directory: Path) -> tuple[Tool, ...]:
    files = FileState()
    return (
        *file_tools(files),
        *session_tools(),
        *job_tools(Jobs()),
        *web_tools(lambda _: False, lambda _, __: False),
        *memory_tools(files, directory),
        Bash(lambda _: {}),
    )


def test_examples_fit_their_schema_and_stand_where_arguments_are_many(tmp_path: Path) -> None:
    for tool in every_tool(tmp_path):
        schema = tool.input_schema
        jsonschema.Draft202012Validator.check_schema(schema)
        for example in tool.input_examples:
            jsonschema.validate(example, schema)
        optional = len(schema["properties"]) - len(schema["required"])
        assert optional < 3 or 1 <= len(tool.input_examples) <= 3, tool.name
