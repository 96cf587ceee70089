"""Replacing a file: whole or not at all, through kills, full disks and changing links."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from mcode.builtins.handles import SIZE_LIMIT, open_directory, read_regular
from mcode.builtins.leftovers import MARK, announced, remove_leftovers, temporary_name
from mcode.builtins.paths import resolve
from mcode.builtins.refusal import RefusalError
from mcode.builtins.replacement import replace_content
from mcode.builtins.write import Write
from tests.builtins.conftest import names_in

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mcode.builtins.handles import Snapshot
    from mcode.tool import ToolResult
    from tests.builtins.conftest import Session

KILLS = int(os.environ.get("MCODE_TEST_KILLS", "40"))
FLIPPED_WRITES = int(os.environ.get("MCODE_TEST_FLIPPED_WRITES", "200"))
REPOSITORY = Path(__file__).parents[2]


def snapshot(path: Path) -> Snapshot:
    with open_directory(path.parent) as directory:
        found = read_regular(directory, path.name)
    assert found is not None
    return found


def test_e_05_kills_leave_the_old_or_the_new_content_and_the_next_start_removes_temporaries(
    tmp_path: Path,
) -> None:
    directory = (tmp_path / "w").resolve()
    directory.mkdir()
    command = (
        sys.executable,
        "-m",
        "tests.builtins.killed_writer",
        directory,
        tmp_path / "records",
        str(KILLS),
        "5",
    )
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["mixed"] == 0, found
    assert found["not_removed"] == 0, found
    # The kills came at telling moments: in the middle of writes, before and after the replacement.
    assert found["killed"] > KILLS // 3, found
    assert found["left_over"] > 0, found
    assert found["old"] > 0, found


@contextlib.contextmanager
def file_size_limit(size: int) -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_e_05_a_full_disk_leaves_the_file_and_no_temporary(session: Session) -> None:
    path = session.put("f.txt", "small\n")
    await session.read("f.txt")
    with file_size_limit(100_000):
        result = await session.write("f.txt", "x" * 200_000)
        created = await session.write("new/g.txt", "x" * 200_000)
    assert result.failure is not None
    assert "file size limit" in result.text
    assert "Nothing was changed" in result.text
    assert created.failure is not None
    assert path.read_text() == "small\n"
    assert names_in(session.directory) == ["f.txt"]


async def test_e_05_a_full_disk_restores_a_hard_linked_file_that_is_written_in_place(
    session: Session,
) -> None:
    path = session.put("f.txt", "small\n")
    (session.directory / "g.txt").hardlink_to(path)
    await session.read("f.txt")
    with file_size_limit(100_000):
        result = await session.write("f.txt", "x" * 200_000)
    assert "Nothing was changed" in result.text
    assert path.read_text() == "small\n"


def test_e_05_a_temporary_name_is_unlike_any_other_and_never_too_long() -> None:
    names = {temporary_name("ü" * 127) for _ in range(100)}
    assert len(names) == 100
    assert all(MARK in name and len(os.fsencode(name)) <= 255 for name in names)


def test_e_05_only_temporaries_of_dead_writers_are_removed(tmp_path: Path) -> None:
    records = tmp_path / "records"
    living, dead, precious = (
        tmp_path / name for name in (temporary_name("a"), temporary_name("b"), "precious")
    )
    for path in (living, dead, precious):
        path.write_text("x")
    with announced(records, living):
        (records / "1").write_bytes(os.fsencode(dead))
        (records / "2").write_bytes(os.fsencode(precious))
        (records / "3").write_bytes(b"")
        assert remove_leftovers(records) == (dead,)
        assert names_in(tmp_path) == sorted([living.name, precious.name, "records"])
        assert len(names_in(records)) == 1
    assert names_in(records) == []
    assert remove_leftovers(tmp_path / "nowhere") == ()


def test_e_04_a_change_between_look_and_replacement_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("old")
    before = snapshot(path)
    path.write_text("other")
    with pytest.raises(RefusalError, match="file changed on disk"):
        replace_content(path, before, b"new", None)
    path.write_text("old")
    path.rename(tmp_path / "moved")
    path.write_text("old")
    with pytest.raises(RefusalError, match="file changed on disk"):
        replace_content(path, before, b"new", None)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["f.txt", "moved"]


def test_e_03_a_file_that_appears_before_the_write_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("from elsewhere")
    with pytest.raises(RefusalError, match="has appeared"):
        replace_content(path, None, b"new", None)
    assert path.read_text() == "from elsewhere"
    assert names_in(tmp_path) == ["f.txt"]


def test_f_04_a_symlink_on_the_way_is_never_followed(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "d").symlink_to(outside)
    with pytest.raises(RefusalError, match="symbolic link"):
        replace_content(tmp_path / "d" / "f", None, b"x", None)
    with pytest.raises(RefusalError, match="symbolic link"):
        replace_content(tmp_path / "d" / "new" / "f", None, b"x", None)
    assert names_in(outside) == []


class Flipper(threading.Thread):
    """Exchanges a directory and a symlink to another one, as fast as it can."""

    def __init__(self, place: Path, aside: Path, target: Path) -> None:
        super().__init__(daemon=True)
        self.place, self.aside, self.target = place, aside, target
        self.ending = threading.Event()
        self.flips = 0
        self.made = 0

    @override
    def run(self) -> None:
        while not self.ending.is_set():
            self.place.rename(self.aside)
            self.insist(lambda: self.place.symlink_to(self.target))
            self.place.unlink()
            self.insist(lambda: self.aside.rename(self.place))
            self.flips += 1

    def insist(self, put: Callable[[], object]) -> None:
        """Do it, although a write may have made the directory anew in the moment without one."""
        for _ in range(10_000):
            try:
                put()
                return
            except OSError:
                self.made += 1
                with contextlib.suppress(OSError):  # the write has taken it back already
                    self.place.rename(self.place.with_name(f"made-{self.made}"))
        raise AssertionError("no name could be had for the directory")

    def __enter__(self) -> Flipper:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self.is_alive(), "the directory was not flipped to the end"
        self.ending.set()
        self.join()


async def test_f_04_no_file_lands_outside_while_a_directory_flips_to_a_symlink(
    session: Session, outside: Path
) -> None:
    """Each write is judged first, as the permissions do it: it runs only if all its paths lie in the workspace."""
    place = session.put("d/kept", "").parent
    tool = Write(session.files)
    allowed = landed = 0
    with Flipper(place, session.directory / "aside", outside) as flipper:
        for number in range(FLIPPED_WRITES):
            arguments = tool.normalise({"file_path": f"d/f{number}", "content": "x"}, session.workspace)
            paths = tool.access(arguments, session.workspace).writes
            if all(resolve(path).is_relative_to(session.directory) for path in paths):
                allowed += 1
                landed += (await tool.run(arguments, session.services)).failure is None
    assert names_in(outside) == []
    assert flipper.flips > 10
    assert allowed > 0
    written = [path for path in session.directory.rglob("f*") if path.is_file()]
    assert len(written) >= landed
    assert not any(MARK in path.name for path in session.directory.rglob("*"))


async def test_f_04_a_link_changed_between_judgement_and_use_is_refused(
    session: Session, outside: Path
) -> None:
    inside = session.directory / "inside"
    inside.mkdir()
    link = session.directory / "link"
    link.symlink_to(inside)
    tool = Write(session.files)
    arguments = tool.normalise({"file_path": "link/f", "content": "x"}, session.workspace)
    assert tool.access(arguments, session.workspace).writes == (link / "f", inside / "f")
    link.unlink()
    link.symlink_to(outside)
    result = await tool.run(arguments, session.services)
    assert result.failure is not None
    assert "not where it led when this call was judged" in result.text
    assert names_in(outside) == []


async def test_f_04_of_two_calls_judged_for_one_path_neither_follows_a_link_changed_since(
    session: Session, outside: Path
) -> None:
    inside, link = session.directory / "inside", session.directory / "link"
    inside.mkdir()
    link.symlink_to(inside)
    tool, judged, flipped = Write(session.files), asyncio.Barrier(3), asyncio.Event()

    async def write(content: str) -> ToolResult:
        arguments = tool.normalise({"file_path": "link/f", "content": content}, session.workspace)
        tool.access(arguments, session.workspace)
        await judged.wait()
        if content == "second":
            await flipped.wait()
        return await tool.run(arguments, session.services)

    first, second = asyncio.create_task(write("first")), asyncio.create_task(write("second"))
    await judged.wait()
    assert (await first).failure is None
    link.unlink()
    link.symlink_to(outside)
    flipped.set()
    result = await second
    assert result.failure is not None
    assert "not where it led when this call was judged" in result.text
    assert (inside / "f").read_text() == "first"
    assert names_in(outside) == []


async def test_f_04_the_judgement_of_another_call_does_not_count(session: Session, outside: Path) -> None:
    inside, link = session.directory / "inside", session.directory / "link"
    inside.mkdir()
    link.symlink_to(inside)
    tool = Write(session.files)
    arguments = tool.normalise({"file_path": "link/f", "content": "x"}, session.workspace)
    tool.access(arguments, session.workspace)
    link.unlink()
    link.symlink_to(outside)

    async def judge_only() -> None:
        assert tool.access(arguments, session.workspace).writes == (link / "f", outside / "f")

    await asyncio.create_task(judge_only())
    assert (await tool.run(arguments, session.services)).failure is not None
    assert names_in(outside) == []


async def test_f_04_a_call_that_was_judged_and_never_ran_stands_in_no_ones_way(
    session: Session, outside: Path
) -> None:
    inside, link = session.directory / "inside", session.directory / "link"
    inside.mkdir()
    link.symlink_to(outside)
    session.files.targets.judge(link / "f")
    link.unlink()
    link.symlink_to(inside)
    assert (await session.write("link/f", "x")).failure is None
    assert (inside / "f").read_text() == "x"


async def test_f_04_a_link_to_outside_that_was_judged_so_is_followed(session: Session, outside: Path) -> None:
    (session.directory / "link").symlink_to(outside)
    result = await session.write("link/f", "x")
    assert result.failure is None
    assert (outside / "f").read_text() == "x"


async def test_a_cancelled_write_is_complete_or_not_begun(session: Session) -> None:
    import asyncio

    path = session.put("f.txt", "a" * 3_000_000)
    for delay in (0.0, 0.001, 0.003, 0.01, 0.02, 0.03):
        await session.read("f.txt")
        before = path.read_text()[0]
        after = "b" if before == "a" else "a"
        task = asyncio.ensure_future(session.write("f.txt", after * 3_000_000))
        await asyncio.sleep(delay)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        content = path.read_text()
        assert content in {before * 3_000_000, after * 3_000_000}
        assert session.files.is_fresh(path, content.encode())
        assert names_in(session.directory) == ["f.txt"]


async def test_a_file_over_the_limit_is_refused(session: Session) -> None:
    path = session.put("f.txt", "a")
    os.truncate(path, SIZE_LIMIT + 1)
    result = await session.write("f.txt", "x")
    assert result.failure is not None
    assert "33,554,433 bytes" in result.text
