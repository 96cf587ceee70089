"""Read: kinds, limits, and what the model and a program see."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from mcode.builtins import file_part
from mcode.builtins.handles import SIZE_LIMIT
from mcode.builtins.read import DATA_LIMIT, Read
from mcode.call import FailureKind

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.tool import ToolResult
    from tests.builtins.conftest import Session


def assert_failed(result: ToolResult, *parts: str) -> None:
    assert result.failure is FailureKind.TOOL_ERROR, result.text
    for part in parts:
        assert part in result.text


async def test_lines_are_numbered_and_a_program_gets_the_text_itself(session: Session) -> None:
    session.put("f.txt", "one\n\tthree words here\nlast")
    result = await session.read("f.txt")
    assert result.text == "1\tone\n2\t\tthree words here\n3\tlast"
    assert result.data == {
        "text": "one\n\tthree words here\nlast",
        "lines": 3,
        "total_lines": 3,
        "truncated": False,
    }
    assert result.summary == "3 lines"
    assert result.notes == ()


async def test_offset_and_limit_choose_lines(session: Session) -> None:
    session.put("f.txt", "".join(f"line {number}\r\n" for number in range(1, 11)))
    result = await session.read("f.txt", offset=4, limit=2)
    assert result.text == "4\tline 4\n5\tline 5"
    assert result.data == {"text": "line 4\nline 5\n", "lines": 2, "total_lines": 10, "truncated": False}
    assert result.notes == ("The file has 10 lines.",)
    assert_failed(await session.read("f.txt", offset=11), "has 10 lines", "smaller offset")


async def test_an_empty_file_is_said_to_be_empty(session: Session) -> None:
    session.put("f.txt", "")
    result = await session.read("f.txt")
    assert result.text == "(the file is empty)"
    assert result.data == {"text": "", "lines": 0, "total_lines": 0, "truncated": False}


async def test_only_line_feeds_end_lines(session: Session) -> None:
    session.put("f.txt", "a\x0cb\u2028c\x85d\ne\n")
    result = await session.read("f.txt")
    assert result.data["total_lines"] == 2


async def test_e_09_a_fifo_is_refused_at_once(session: Session) -> None:
    os.mkfifo(session.directory / "f")
    assert_failed(await session.read("f"), "a FIFO")  # nobody writes: opened, it would never end


async def test_e_09_directories_devices_and_sockets_are_named(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    (session.directory / "d").mkdir()
    assert_failed(await session.read("d"), "is a directory", "Glob")
    assert_failed(await session.read("/dev/zero"), "a character device")
    listener = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(session.directory)  # a socket's path must be short
    listener.bind("s")
    try:
        assert_failed(await session.read("s"), "a socket")
    finally:
        listener.close()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux'")
async def test_e_09_a_file_that_the_kernel_makes_is_named(session: Session) -> None:
    assert_failed(await session.read("/proc/cpuinfo"), "made by the kernel", "Bash")
    assert_failed(await session.read("/sys/kernel/mm/transparent_hugepage/enabled"), "made by the kernel")


async def test_e_09_a_missing_file_is_named_with_similar_ones(session: Session, outside: Path) -> None:
    session.put("src/settings.py", "")
    assert_failed(await session.read("src/setting.py"), "does not exist", "settings.py")
    assert_failed(await session.read("nowhere/f.py"), "does not exist", "Glob")
    (outside / "secret.py").write_text("")
    assert "secret.py" not in (await session.read(str(outside / "secrets.py"))).text.replace("secrets.py", "")


async def test_e_09_a_link_in_a_circle_is_an_error(session: Session) -> None:
    (session.directory / "a").symlink_to("b")
    (session.directory / "b").symlink_to("a")
    assert (await session.read("a")).failure is FailureKind.TOOL_ERROR


async def test_e_10_the_first_2000_lines_come_with_the_total_and_how_to_read_on(session: Session) -> None:
    text = "".join(f"{number}\n" for number in range(1, 5_001))
    session.put("f.txt", text)
    result = await session.read("f.txt")
    assert result.text.endswith("\n2000\t2000")
    assert result.notes == (
        f"Shown are lines 1-2,000 of 5,000 ({len(text):,} bytes). Read on with offset 2001.",
    )
    assert result.data == {"text": text, "lines": 5_000, "total_lines": 5_000, "truncated": False}
    following = await session.read("f.txt", offset=2_001)
    assert following.text.startswith("2001\t2001\n")


async def test_e_10_at_most_256_kilobytes_are_shown(session: Session) -> None:
    session.put("f.txt", ("é" * 700 + "\n") * 1_000)
    result = await session.read("f.txt")
    assert 250_000 < len(result.text.encode()) <= 256 * 1024
    assert "Read on with offset" in result.notes[0]
    assert len(result.text) < Read.output_limit


async def test_e_10_a_long_line_is_shown_cut_with_its_length(session: Session) -> None:
    session.put("f.txt", "short\n" + "x" * 15_234 + "\n")
    result = await session.read("f.txt")
    second = result.text.split("\n")[1]
    assert second == f"2\t{'x' * 2_000}\u2039cut: the first 2,000 of 15,234 characters\u203a"
    assert any("cut" in note for note in result.notes)
    assert len(result.data["text"]) == 15_234 + 7


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image of 108 bytes"),
        (b"text\n" + bytes(3), "a binary file of 8 bytes"),
        (b"x" * 8_000 + b"\0", "a binary file of 8,001 bytes"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\xff\xfe\x00", "damaged UTF-16"),
    ],
)
async def test_e_10_a_binary_file_is_named_with_its_size(session: Session, raw: bytes, kind: str) -> None:
    session.put("f", raw)
    assert_failed(await session.read("f"), kind)


async def test_e_10_a_nul_after_the_first_8_kilobytes_is_shown_as_an_escape(session: Session) -> None:
    session.put("f", b"x\n" * 5_000 + b"\0\n")
    result = await session.read("f", offset=5_000)
    assert "\0" not in result.text
    assert "0000" in result.text


async def test_e_10_a_program_gets_up_to_16_megabytes(session: Session) -> None:
    session.put("f.txt", "0123456789abcde\n" * (DATA_LIMIT // 16 + 1_000))
    result = await session.read("f.txt")
    assert len(result.data["text"]) == DATA_LIMIT
    assert result.data["truncated"] is True
    assert result.data["lines"] == DATA_LIMIT // 16
    assert result.data["total_lines"] == DATA_LIMIT // 16 + 1_000


async def test_e_10_a_file_too_large_to_be_taken_whole_is_read_in_parts(session: Session) -> None:
    line = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n"
    path = session.put("f.txt", line * (SIZE_LIMIT // len(line)) + b"the end\nlast")
    total = SIZE_LIMIT // len(line) + 2
    result = await session.read("f.txt", offset=total - 2)
    assert result.text == f"{total - 2}\t{line.decode().strip()}\n{total - 1}\tthe end\n{total}\tlast"
    assert result.data["total_lines"] == total
    assert result.data["truncated"] is False
    assert result.data["text"].endswith("the end\nlast")
    middle = await session.read("f.txt", offset=20_000, limit=3)
    assert middle.data["text"] == line.decode() * 3
    assert any(f"of {total:,}" in note or f"has {total:,} lines" in note for note in middle.notes)
    assert_failed(await session.edit("f.txt", "the end", "x"), "33,554,444 bytes", "Nothing was changed")
    assert path.stat().st_size == SIZE_LIMIT + 12


@pytest.mark.parametrize(
    ("first", "limit", "expected"),
    [(1, None, "a\nbb\n\ncc"), (2, 2, "bb\n\n"), (4, 9, "cc"), (3, 1, "\n"), (1, 1, "a\n"), (5, None, "")],
)
def test_parts_are_the_same_from_memory_and_from_disk_whatever_the_size_of_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, limit: int | None, expected: str
) -> None:
    path = tmp_path / "f"
    path.write_text("a\nbb\n\ncc")
    assert file_part.cut_part(path.read_bytes(), first, limit).text == expected
    for chunk in range(1, 10):
        monkeypatch.setattr(file_part, "_CHUNK", chunk)
        descriptor = os.open(path, os.O_RDONLY)
        part = file_part.read_large(descriptor, path, first, limit, 1_000)
        os.close(descriptor)
        assert part.text == expected
        assert part.total == 4
        assert not part.truncated


async def test_t_06_control_characters_are_shown_as_escapes_with_a_notice(session: Session) -> None:
    session.put("f.txt", b"a\x1b[31mred\x07\xe2\x80\xaeback\x9b\n".replace(b"\x9b", "\x9b".encode()))
    result = await session.read("f.txt")
    assert all(ord(character) >= 32 or character in "\n\t" for character in result.text)
    assert "\x9b" not in result.text
    assert "\u202e" not in result.text
    assert any("shown as" in note for note in result.notes)
    assert "\x1b[31m" in result.data["text"]


async def test_the_title_names_the_file_and_the_lines(session: Session, outside: Path) -> None:
    tool = Read(session.files)

    async def title(**arguments: object) -> str:
        return (
            await tool.preview(tool.normalise(dict(arguments), session.workspace), session.workspace)
        ).title

    assert await title(file_path="src/./a.py") == "src/a.py"
    assert await title(file_path="src/../a.py", offset=5) == "a.py:5-"
    assert await title(file_path="a.py", offset=5, limit=10) == "a.py:5-14"
    assert await title(file_path=str(outside / "a.py")) == str(outside / "a.py")


async def test_the_paths_to_be_judged_are_the_link_and_its_target(session: Session, outside: Path) -> None:
    (session.directory / "link").symlink_to(outside)
    tool = Read(session.files)
    arguments = tool.normalise({"file_path": "link/f"}, session.workspace)
    assert tool.access(arguments, session.workspace).reads == (session.directory / "link/f", outside / "f")
