"""Edit: bytes, matching, staleness, attributes. Numbers are those of the requirements."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from mcode.call import FailureKind

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.tool import ToolResult
    from tests.builtins.conftest import Session


def assert_failed(result: ToolResult, *parts: str) -> None:
    assert result.failure is FailureKind.TOOL_ERROR, result.text
    for part in parts:
        assert part in result.text


async def edited(session: Session, raw: bytes, old: str, new: str, *, replace_all: bool = False) -> bytes:
    """The bytes of a file after one successful edit."""
    path = session.put("f.txt", raw)
    await session.read("f.txt")
    result = await session.edit("f.txt", old, new, replace_all=replace_all)
    assert result.failure is None, result.text
    return path.read_bytes()


@pytest.mark.parametrize(
    ("raw", "old", "new", "expected"),
    [
        (b"a\r\nb\r\nc\n", "b", "B", b"a\r\nB\r\nc\n"),
        (b"a\r\nb\nc\r\nd\r\n", "c", "C", b"a\r\nb\nC\r\nd\r\n"),
        (b"a\r\nb\nc\r\nd\r\n", "a\nb\nc\nd", "a\nb\nc\nD", b"a\r\nb\nc\r\nD\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nc", "A\nB\nC", b"A\r\nB\nC\r\n"),
        (b"a\r\nb\r\nc\n", "b", "b1\nb2", b"a\r\nb1\r\nb2\r\nc\n"),
        (b"a\r\nb\r\nc\n", "c", "c\nd", b"a\r\nb\r\nc\nd\n"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\r\nb\r\nc\n", "a\nb\n", "", b"c\n"),
        (b"a\rb\r\nc\rd\n", "d", "D", b"a\rb\r\nc\rD\n"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
    ],
)
async def test_e_01_only_the_replaced_span_changes_whatever_the_line_endings(
    session: Session, raw: bytes, old: str, new: str, expected: bytes
) -> None:
    assert await edited(session, raw, old, new) == expected


@pytest.mark.parametrize(
    ("codec", "mark"),
    [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")],
)
async def test_e_01_a_byte_order_mark_and_its_encoding_stay(
    session: Session, codec: str, mark: bytes
) -> None:
    raw = mark + "one wörd 😀\r\ntwo\n".encode(codec)
    after = await edited(session, raw, "two", "three")
    assert after == mark + "one wörd 😀\r\nthree\n".encode(codec)


async def test_e_01_a_latin_1_byte_outside_the_edit_is_kept_and_the_encoding_is_named(
    session: Session,
) -> None:
    path = session.put("f.txt", b"caf\xe9\nword\n")
    read = await session.read("f.txt")
    assert "café" in read.text
    assert any("Latin-1" in note for note in read.notes)
    result = await session.edit("f.txt", "word", "näme")
    assert any("Latin-1" in note for note in result.notes)
    assert path.read_bytes() == b"caf\xe9\nn\xe4me\n"


async def test_e_01_a_character_that_latin_1_lacks_is_refused_and_the_file_is_unchanged(
    session: Session,
) -> None:
    path = session.put("f.txt", b"caf\xe9\nword\n")
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "word", "5 €"), "U+20AC", "Latin-1", "Nothing was changed")
    assert path.read_bytes() == b"caf\xe9\nword\n"


async def test_e_01_half_a_surrogate_pair_is_refused(session: Session) -> None:
    path = session.put("f.txt", "word\n")
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "word", "\ud83d"), "U+D83D")
    assert path.read_bytes() == b"word\n"


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
async def test_e_02_the_last_line_keeps_its_end(session: Session, ending: bytes) -> None:
    assert await edited(session, b"first\nlast" + ending, "first", "1st") == b"1st\nlast" + ending


async def test_e_03_an_append_from_outside_since_the_read_refuses_the_edit_and_is_kept(
    session: Session,
) -> None:
    path = session.put("f.txt", "one\ntwo\n")
    await session.read("f.txt")
    with path.open("a") as file:
        file.write("three\n")
    result = await session.edit("f.txt", "one", "1")
    assert_failed(result, "file changed on disk since it was read", "+three", "Nothing was changed")
    assert path.read_text() == "one\ntwo\nthree\n"


async def test_e_03_a_time_stamp_put_back_does_not_hide_a_change(session: Session) -> None:
    path = session.put("f.txt", "one\ntwo\n")
    await session.read("f.txt")
    before = path.stat()
    path.write_text("one\nTWO\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert_failed(await session.edit("f.txt", "one", "1"), "file changed on disk since it was read")
    assert path.read_text() == "one\nTWO\n"


async def test_e_03_edits_in_a_row_need_one_read_only(session: Session) -> None:
    path = session.put("f.txt", "a\nb\nc\n")
    await session.read("f.txt", limit=1)
    for letter in "abc":
        result = await session.edit("f.txt", letter, letter.upper())
        assert result.failure is None
    assert path.read_text() == "A\nB\nC\n"


async def test_e_03_a_file_never_read_is_refused(session: Session) -> None:
    path = session.put("f.txt", "a\n")
    assert_failed(await session.edit("f.txt", "a", "b"), "has not been read in this session", "Read it first")
    assert path.read_text() == "a\n"


async def test_e_03_a_formatter_hook_refreshes_the_state_and_the_model_is_told(session: Session) -> None:
    path = session.put("f.py", "x=1\ny=2\n")
    kept: list[bytes] = []

    async def left(target: Path, new: bytes) -> None:
        kept.append(new)

    await session.read("f.py")
    await session.edit("f.py", "x=1", "x=3")
    path.write_text("x = 3\ny = 2\n")
    told = await session.files.refresh(path, left)
    assert told is not None
    assert "changed by a hook" in told
    assert "+x = 3" in told
    assert (await session.edit("f.py", "x = 3", "x = 4")).failure is None
    assert path.read_text() == "x = 4\ny = 2\n"
    assert await session.files.refresh(path, left) is None
    assert kept == [b"x = 3\ny = 2\n"]


async def test_e_03_a_resumed_session_still_sees_that_the_file_changed_and_shows_the_place(
    session: Session,
) -> None:
    path = session.put("f.txt", "".join(f"line {number}\n" for number in range(50)))
    await session.read("f.txt")
    remembered = session.files.remembered()
    path.write_text(path.read_text().replace("line 41\n", "line 41 is new\n"))

    session.files = type(session.files)()
    session.files.restore(remembered)
    result = await session.edit("f.txt", "line 40", "line forty")
    assert_failed(result, "file changed on disk since it was read", "line 41 is new")
    await session.read("f.txt")
    assert (await session.edit("f.txt", "line 40", "line forty")).failure is None


async def test_e_04_two_edits_of_one_file_at_once_both_land(session: Session) -> None:
    path = session.put("f.txt", "a\nb\n")
    await session.read("f.txt")
    results = await asyncio.gather(session.edit("f.txt", "a", "A"), session.edit("f.txt", "b", "B"))
    assert [result.failure for result in results] == [None, None]
    assert path.read_text() == "A\nB\n"


async def test_e_04_twenty_edits_through_two_names_of_one_file_all_land(session: Session) -> None:
    path = session.put("real/f.txt", "".join(f"<{number}>\n" for number in range(20)))
    (session.directory / "link.txt").symlink_to("real/f.txt")
    await session.read("link.txt")
    names = ("link.txt", "real/f.txt")
    results = await asyncio.gather(
        *(session.edit(names[number % 2], f"<{number}>", f"[{number}]") for number in range(20))
    )
    assert all(result.failure is None for result in results)
    assert path.read_text() == "".join(f"[{number}]\n" for number in range(20))


async def test_e_06_mode_and_executable_bit_stay(session: Session) -> None:
    path = session.put("run.sh", "#!/bin/sh\necho a\n")
    path.chmod(0o755)
    await session.read("run.sh")
    await session.edit("run.sh", "echo a", "echo b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    path.chmod(0o604)
    await session.edit("run.sh", "echo b", "echo c")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.skipif(sys.platform != "linux", reason="Python sets extended attributes on Linux only")
async def test_e_06_extended_attributes_stay(session: Session) -> None:
    path = session.put("f.txt", "a\n")
    try:
        os.setxattr(path, "user.mcode.test", b"value")
    except OSError:
        pytest.skip("this file system has no extended attributes for users")
    await session.read("f.txt")
    await session.edit("f.txt", "a", "b")
    assert os.getxattr(path, "user.mcode.test") == b"value"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_e_06_the_owner_stays(session: Session) -> None:
    path = session.put("f.txt", "a\n")
    os.chown(path, 1234, 2345)
    await session.read("f.txt")
    await session.edit("f.txt", "a", "b")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


async def test_e_06_a_symlink_is_followed_and_stays_a_link(session: Session) -> None:
    path = session.put("real/file", "a\n")
    link = session.directory / "link"
    link.symlink_to("real/file")
    await session.read("link")
    assert (await session.edit("link", "a", "b")).failure is None
    assert link.is_symlink()
    assert path.read_text() == "b\n"


async def test_e_06_both_names_of_a_hard_linked_file_see_the_edit_and_the_old_bytes_are_kept(
    session: Session,
) -> None:
    one = session.put("one", "a long content\n")
    two = session.directory / "two"
    two.hardlink_to(one)
    await session.read("one")
    result = await session.edit("one", "long content", "b")
    assert result.failure is None
    assert any("2 names" in note for note in result.notes)
    assert one.read_text() == two.read_text() == "a b\n"
    assert one.samefile(two)
    assert session.services.kept == [(one, b"a long content\n", stat.S_IMODE(one.stat().st_mode))]


async def test_e_07_a_file_without_write_bit_is_refused_and_keeps_its_mode(session: Session) -> None:
    path = session.put("f.txt", "a\n")
    path.chmod(0o444)
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "a", "b"), "read-only (mode 0444)", "Nothing was changed")
    assert path.read_text() == "a\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


async def test_e_07_a_directory_without_write_bit_is_refused(session: Session) -> None:
    path = session.put("d/f.txt", "a\n")
    path.parent.chmod(0o555)
    try:
        await session.read("d/f.txt")
        assert_failed(await session.edit("d/f.txt", "a", "b"), "directory", "read-only (mode 0555)")
        assert_failed(await session.write("d/new.txt", "a"), "directory", "read-only (mode 0555)")
    finally:
        path.parent.chmod(0o755)
    assert path.read_text() == "a\n"


async def test_e_08_no_match_names_the_count_and_near_lines(session: Session) -> None:
    session.put("f.py", "def f():\n    return 1\n\ndef g():\n\treturn 2\n")
    await session.read("f.py")
    result = await session.edit("f.py", "def g():\n    return 2", "x")
    assert_failed(result, "0 matches", "Near line: 4", "letters, blanks and indentation", "def g():")


async def test_e_08_up_to_five_near_lines_are_named(session: Session) -> None:
    session.put("f.txt", "".join(f"  call( {number} )\nother\n" for number in "1111111"))
    await session.read("f.txt")
    result = await session.edit("f.txt", "call( 1 )\nmore", "x")
    assert_failed(result, "Near lines: 1, 3, 5, 7, 9.")


async def test_e_08_a_slightly_wrong_line_is_found_by_likeness(session: Session) -> None:
    session.put("f.txt", "alpha\nthe quick brown fox jumps\nomega\n")
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "the quick brown fix jumps", "x"), "Near line: 2")


async def test_e_08_nothing_near_is_said_so(session: Session) -> None:
    session.put("f.txt", "alpha\n")
    await session.read("f.txt")
    assert_failed(
        await session.edit("f.txt", "zzzzzzzzzzzzzzz", "x"), "0 matches", "No line of the file comes near"
    )


async def test_e_08_several_matches_name_the_count_and_their_lines(session: Session) -> None:
    path = session.put("f.txt", "x\n" * 7)
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "x", "y"), "7 times", "lines 1, 2, 3, 4, 5, ...", "replace_all")
    assert path.read_text() == "x\n" * 7


async def test_e_08_overlapping_places_count_as_several(session: Session) -> None:
    session.put("f.txt", "aaa\n")
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "aa", "b"), "2 times")


async def test_e_08_replace_all_replaces_every_place(session: Session) -> None:
    assert await edited(session, b"x\r\nax x\n", "x", "yy", replace_all=True) == b"yy\r\nayy yy\n"


async def test_e_08_an_empty_old_string_only_creates(session: Session) -> None:
    result = await session.edit("new.txt", "", "hello\r\n")
    assert result.failure is None
    assert (session.directory / "new.txt").read_bytes() == b"hello\r\n"
    assert_failed(await session.edit("new.txt", "", "again"), "exists already")
    assert_failed(await session.edit("missing.txt", "a", "b"), "does not exist")
    assert not (session.directory / "missing.txt").exists()


async def test_e_08_equal_texts_are_refused(session: Session) -> None:
    session.put("f.txt", "a\n")
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", "a", "a"), "are the same")


async def test_e_09_a_directory_and_a_vanished_file_are_named(session: Session) -> None:
    (session.directory / "d").mkdir()
    assert_failed(await session.edit("d", "a", "b"), "is a directory")
    path = session.put("f.txt", "a\n")
    await session.read("f.txt")
    path.unlink()
    assert_failed(await session.edit("f.txt", "a", "b"), "does not exist")
    path.mkdir()
    assert_failed(await session.edit("f.txt", "a", "b"), "is a directory")


async def test_e_10_the_mark_of_a_cut_line_is_not_taken_for_text(session: Session) -> None:
    session.put("f.txt", "x" * 5_000 + "\n")
    shown = (await session.read("f.txt")).text.split("\t")[1]
    assert "5,000 characters" in shown
    assert_failed(await session.edit("f.txt", shown, "y"), "mark of a line that Read showed cut")


@pytest.mark.parametrize(
    ("there", "given", "cause"),
    [
        ("caf\u00e9 au lait", "cafe\u0301 au lait", "Unicode normalisation"),
        ("cafe\u0301 au lait", "caf\u00e9 au lait", "Unicode normalisation"),
        ("10\u00a0km", "10 km", "U+00A0 (no-break space)"),
        ("say \u201chi\u201d", 'say "hi"', "U+201C (left double quotation mark)"),
        ("it\u2019s", "it's", "U+2019 (right single quotation mark)"),
        ("Hello World", "hello world", "letter case"),
    ],
)
async def test_e_11_a_mismatch_of_look_alikes_is_named_and_nothing_is_replaced(
    session: Session, there: str, given: str, cause: str
) -> None:
    path = session.put("f.txt", f"first\n{there}\n")
    await session.read("f.txt")
    assert_failed(await session.edit("f.txt", given, "x"), "0 matches", cause, "Near line: 2")
    assert path.read_text() == f"first\n{there}\n"


async def test_e_11_line_numbers_taken_from_read_are_named(session: Session) -> None:
    session.put("f.txt", "alpha\nbeta\n")
    shown = (await session.read("f.txt")).text
    assert_failed(await session.edit("f.txt", shown, "x"), "line numbers that Read shows", "Near line: 1")


@pytest.mark.parametrize(
    ("path", "reason"),
    [("a\0b", "NUL"), ("a\nb", "newline"), ("a/" * 3_000, "a path may have"), ("", "empty"), ("~/x", "`~`")],
)
async def test_e_12_a_path_that_cannot_be_meant_is_refused_with_the_reason(
    session: Session, path: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        await session.edit(path, "a", "b")


async def test_e_12_a_directory_really_called_tilde_can_be_used(session: Session) -> None:
    path = session.put("~/x", "a\n")
    await session.read("~/x")
    assert (await session.edit("~/x", "a", "b")).failure is None
    assert path.read_text() == "b\n"


async def test_t_06_edit_works_on_the_real_bytes_and_names_an_escape_taken_from_read(
    session: Session,
) -> None:
    path = session.put("f.txt", b"red \x1b[31m text\n")
    read = await session.read("f.txt")
    assert "\x1b" not in read.text
    assert any("shown as" in note for note in read.notes)
    shown = read.text.split("\t")[1]
    assert_failed(await session.edit("f.txt", shown, "x"), "control characters", "Near line: 1")
    assert (await session.edit("f.txt", "\x1b[31m ", "")).failure is None
    assert path.read_bytes() == b"red text\n"


async def test_u_01_the_old_bytes_are_kept_before_the_change(session: Session) -> None:
    path = session.put("f.txt", b"\xff\x00old\n")
    path.chmod(0o640)
    session.files.remember(path, path.read_bytes())
    await session.edit("f.txt", "old", "new")
    await session.write("sub/new.txt", "x")
    assert session.services.kept == [
        (path, b"\xff\x00old\n", 0o640),
        (session.directory / "sub/new.txt", None, None),
    ]


async def test_u_04_a_change_whose_old_bytes_cannot_be_kept_is_not_made(session: Session) -> None:
    path = session.put("f.txt", "a\n")
    await session.read("f.txt")
    session.services.store_fails = True
    assert_failed(await session.edit("f.txt", "a", "b"), "was not changed", "undo", "no space left")
    assert_failed(await session.write("d/new.txt", "a"), "undo")
    assert path.read_text() == "a\n"
    assert not (session.directory / "d").exists()


async def test_the_result_counts_lines_and_holds_a_diff(session: Session) -> None:
    session.put("src/f.txt", "a\nb\nc\n")
    await session.read("src/f.txt")
    result = await session.edit("src/f.txt", "b\n", "x\ny\n")
    assert result.data == {"path": str(session.directory / "src/f.txt"), "added": 2, "removed": 1}
    assert result.summary == "+2 -1"
    assert result.text == "src/f.txt edited at line 2 (+2 -1 lines)."
    assert result.diff == "--- src/f.txt\n+++ src/f.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n"


async def test_the_preview_shows_the_diff_and_changes_nothing(session: Session, outside: Path) -> None:
    from mcode.builtins.edit import Edit

    path = session.put("f.txt", "a\nb\n")
    tool = Edit(session.files)
    arguments = tool.normalise(
        {"file_path": "f.txt", "old_string": "a", "new_string": "A"}, session.workspace
    )
    preview = await tool.preview(arguments, session.workspace)
    assert preview.title == "f.txt"
    assert "\na\nwith:\nA" in preview.body
    assert preview.diff is not None
    assert "-a\n+A\n" in preview.diff
    assert path.read_text() == "a\nb\n"
    for bad in ({"file_path": str(outside)}, {"file_path": "none"}, {"old_string": "zzz"}):
        assert (await tool.preview({**arguments, **bad}, session.workspace)).diff is None
