"""Write: new files, whole replacements, and what is said about encodings and line endings."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from mcode.builtins.write import Write
from mcode.call import FailureKind
from tests.builtins.conftest import names_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.builtins.conftest import Session


@pytest.mark.parametrize("content", ["", "a", "a\n", "a\r\nb\n", "\ufeffmarked\n", "tab\tnull\x00\n"])
async def test_e_02_write_writes_exactly_what_it_was_given(session: Session, content: str) -> None:
    assert (await session.write("new.txt", content)).failure is None
    assert (session.directory / "new.txt").read_bytes() == content.encode()
    assert (await session.write("new.txt", content + "more")).failure is None
    assert (session.directory / "new.txt").read_bytes() == (content + "more").encode()


async def test_e_03_an_existing_file_never_read_is_refused_with_advice(session: Session) -> None:
    path = session.put("f.txt", "precious\n")
    result = await session.write("f.txt", "x")
    assert result.failure is FailureKind.TOOL_ERROR
    assert "Read it first" in result.text
    assert path.read_text() == "precious\n"


async def test_e_03_a_part_read_is_enough_to_replace_the_whole(session: Session) -> None:
    session.put("f.txt", "a\nb\n")
    await session.read("f.txt", offset=2, limit=1)
    assert (await session.write("f.txt", "x\n")).failure is None


async def test_e_03_a_changed_file_is_refused_with_what_changed(session: Session) -> None:
    path = session.put("f.txt", "a\nb\n")
    await session.read("f.txt")
    path.write_text("a\nc\n")
    result = await session.write("f.txt", "x\n")
    assert result.failure is FailureKind.TOOL_ERROR
    assert "file changed on disk since it was read" in result.text
    assert "-b\n+c" in result.text
    assert path.read_text() == "a\nc\n"


async def test_missing_directories_are_made_and_taken_back_where_the_write_fails(session: Session) -> None:
    assert (await session.write("a/b/c.txt", "x")).failure is None
    assert (session.directory / "a/b/c.txt").read_text() == "x"
    assert (await session.write("n/m/" + "x" * 300, "x")).failure is FailureKind.TOOL_ERROR
    assert names_in(session.directory) == ["a"]


async def test_a_path_through_a_file_is_refused(session: Session) -> None:
    session.put("f.txt", "a")
    result = await session.write("f.txt/g.txt", "x")
    assert result.failure is FailureKind.TOOL_ERROR
    assert "f.txt is not a directory" in result.text


async def test_a_new_file_gets_the_usual_mode_and_counts_its_lines(session: Session) -> None:
    result = await session.write("new.txt", "a\nb")
    path = session.directory / "new.txt"
    other = session.put("other.txt", "")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)
    assert result.data == {"path": str(path), "added": 2, "removed": 0}
    assert result.text == "new.txt created (+2 -0 lines)."
    assert result.diff is not None
    assert result.diff.startswith("--- /dev/null\n+++ new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline")


async def test_the_encoding_stays_and_a_change_of_it_is_named(session: Session) -> None:
    path = session.put("u16.txt", b"\xff\xfe" + "alt\n".encode("utf-16-le"))
    await session.read("u16.txt")
    result = await session.write("u16.txt", "neu €\n")
    assert path.read_bytes() == b"\xff\xfe" + "neu €\n".encode("utf-16-le")
    assert any("UTF-16" in note for note in result.notes)

    path = session.put("latin.txt", b"caf\xe9\n")
    await session.read("latin.txt")
    await session.write("latin.txt", "th\xe9\n")
    assert path.read_bytes() == b"th\xe9\n"
    result = await session.write("latin.txt", "5 €\n")
    assert path.read_text(encoding="utf-8") == "5 €\n"
    assert any("UTF-8 now" in note for note in result.notes)


async def test_a_change_of_line_endings_is_named(session: Session) -> None:
    session.put("f.txt", "a\r\nb\r\n")
    await session.read("f.txt")
    result = await session.write("f.txt", "a\nb\n")
    assert any("CRLF" in note for note in result.notes)


async def test_half_a_surrogate_pair_is_refused(session: Session) -> None:
    result = await session.write("new.txt", "a\ud800")
    assert result.failure is FailureKind.TOOL_ERROR
    assert "U+D800" in result.text
    assert names_in(session.directory) == []


async def test_the_preview_shows_the_whole_content_and_the_diff(session: Session, outside: Path) -> None:
    session.put("f.txt", "a\nb\n")
    tool = Write(session.files)
    arguments = tool.normalise({"file_path": "f.txt", "content": "a\nc\n"}, session.workspace)
    preview = await tool.preview(arguments, session.workspace)
    assert preview.title == "f.txt"
    assert preview.body.endswith(":\na\nc\n")
    assert preview.diff == "--- f.txt\n+++ f.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    elsewhere = {"file_path": str(outside / "n.txt"), "content": "x"}
    preview = await tool.preview(elsewhere, session.workspace)
    assert preview.title == str(outside / "n.txt")
    assert preview.diff is not None
