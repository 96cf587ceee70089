"""Old contents, kept before a change: byte for byte, private, bounded (U-01, U-05)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import stat
import time
from pathlib import Path

import pytest

from mcode.errors import StorageError
from mcode.session.undo import ABSENT, UndoStore
from tests.forks import files_limited_to, in_child, kill


@pytest.fixture
def undo(tmp_path: Path) -> UndoStore:
    return UndoStore(tmp_path / "session" / "undo")


async def test_u_01_the_old_bytes_are_kept_with_all_that_restoring_needs(
    undo: UndoStore, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    old = b"\x00\xff\r\nbinary \xe9"
    kept = await undo.keep(path, old, 0o755, "call 1")
    left = await undo.note_left(path, b"new", "call 1")
    created = await undo.keep(tmp_path / "b.txt", None, None, "call 2")
    assert kept == hashlib.sha256(old).hexdigest()
    assert created == ABSENT
    first, second = undo.entries()
    assert (first.sequence, first.call_id, first.path) == (1, "call 1", str(path))
    assert (first.old, first.mode, first.new) == (kept, 0o755, left)
    assert left == hashlib.sha256(b"new").hexdigest()
    assert (second.sequence, second.old, second.mode, second.new) == (2, ABSENT, None, None)
    assert first.time.endswith("Z")
    assert undo.read(kept) == old


async def test_u_01_a_deletion_and_an_empty_file_are_told_apart(undo: UndoStore, tmp_path: Path) -> None:
    kept = await undo.keep(tmp_path / "a", b"", 0o644, "c1")
    await undo.note_left(tmp_path / "a", None, "c1")
    (entry,) = undo.entries()
    assert entry.new == ABSENT
    assert kept != ABSENT
    assert undo.read(kept) == b""


async def test_u_01_the_store_is_private(undo: UndoStore, tmp_path: Path) -> None:
    await undo.keep(tmp_path / "a", b"x", 0o644, "c1")
    for path in [undo.directory, *undo.directory.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


async def test_u_01_equal_contents_are_kept_once(undo: UndoStore, tmp_path: Path) -> None:
    names = [tmp_path / name for name in "abc"]
    hashes = await asyncio.gather(*(undo.keep(name, b"same", 0o644, str(name)) for name in names))
    assert len(set(hashes)) == 1
    assert undo.size() == 4
    assert sorted(entry.sequence for entry in undo.entries()) == [1, 2, 3]


async def test_u_01_names_that_are_no_text_are_kept(undo: UndoStore) -> None:
    name = Path(os.fsdecode(b"/project/caf\xe9\n.txt"))
    await undo.keep(name, b"x", 0o644, "c1")
    (entry,) = undo.entries()
    assert os.fsencode(entry.path) == b"/project/caf\xe9\n.txt"


async def test_u_01_the_next_process_goes_on_counting(undo: UndoStore, tmp_path: Path) -> None:
    await undo.keep(tmp_path / "a", b"1", 0o644, "c1")
    await undo.keep(tmp_path / "a", b"2", 0o644, "c2")
    again = UndoStore(undo.directory)
    await again.keep(tmp_path / "a", b"3", 0o644, "c3")
    assert [(entry.sequence, entry.call_id) for entry in again.entries()] == [(1, "c1"), (2, "c2"), (3, "c3")]


async def test_u_01_a_torn_index_loses_the_torn_line_only(undo: UndoStore, tmp_path: Path) -> None:
    await undo.keep(tmp_path / "a", b"1", 0o644, "c1")
    with (undo.directory / "index.jsonl").open("ab") as file:
        file.write(b'{"seq": 2, "call": "c2", "pa')
    again = UndoStore(undo.directory)
    await again.keep(tmp_path / "a", b"3", 0o644, "c3")
    assert [(entry.sequence, entry.call_id) for entry in again.entries()] == [(1, "c1"), (2, "c3")]


async def test_u_04_a_content_that_cannot_be_kept_is_an_error_with_its_reason(
    undo: UndoStore, tmp_path: Path
) -> None:
    await undo.keep(tmp_path / "a", b"1", 0o644, "c1")
    with files_limited_to(1000), pytest.raises(StorageError, match="could not be written"):
        await undo.keep(tmp_path / "a", b"x" * 5000, 0o644, "c2")
    assert [entry.call_id for entry in undo.entries()] == ["c1"]
    await undo.keep(tmp_path / "a", b"x" * 5000, 0o644, "c3")


async def test_u_01_a_damaged_content_is_never_handed_out(undo: UndoStore, tmp_path: Path) -> None:
    kept = await undo.keep(tmp_path / "a", b"good", 0o644, "c1")
    (undo.directory / "objects" / kept[:2] / kept).write_bytes(b"evil")
    with pytest.raises(StorageError, match="damaged"):
        undo.read(kept)


async def test_u_05_the_oldest_contents_make_room_and_a_lost_one_is_named(tmp_path: Path) -> None:
    undo = UndoStore(tmp_path / "undo", limit=1000)
    hashes: list[str] = []
    for number in range(5):
        hashes.append(await undo.keep(tmp_path / "a", bytes([number]) * 300, 0o644, f"c{number}"))
        path = undo.directory / "objects" / hashes[-1][:2] / hashes[-1]
        os.utime(path, (1000 + number, 1000 + number))
    assert undo.size() <= 1000
    assert undo.read(hashes[4]) == bytes([4]) * 300
    with pytest.raises(StorageError, match="no longer kept"):
        undo.read(hashes[0])
    assert len(undo.entries()) == 5


async def test_u_05_a_content_larger_than_the_store_is_refused(tmp_path: Path) -> None:
    undo = UndoStore(tmp_path / "undo", limit=1000)
    kept = await undo.keep(tmp_path / "a", b"x" * 500, 0o644, "c1")
    with pytest.raises(StorageError, match="1001 bytes"):
        await undo.keep(tmp_path / "a", b"x" * 1001, 0o644, "c2")
    assert undo.read(kept) == b"x" * 500, "nothing was dropped for it"


def test_u_01_a_kill_while_keeping_leaves_every_named_content_whole(tmp_path: Path) -> None:
    directory = tmp_path / "undo"
    chance = random.Random(1)

    def keep_for_ever() -> None:
        undo = UndoStore(directory)
        number = 0
        while True:
            number += 1
            asyncio.run(undo.keep(tmp_path / "a", chance.randbytes(50_000), 0o644, f"c{number}"))

    for _ in range(10):
        child = in_child(keep_for_ever)
        time.sleep(chance.uniform(0.0, 0.05))
        kill(child)
        undo = UndoStore(directory)
        for entry in undo.entries():
            assert len(undo.read(entry.old)) == 50_000
