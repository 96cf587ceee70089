"""Putting files back: only what mcode left is touched, and every rewind can be undone and repeated (U-02)."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

import pytest

from mcode.builtins.put_back import UserFiles
from mcode.errors import StorageError
from mcode.session.rewind import Fate, FileChange, Rewinder, changes_from, first_entry_since
from mcode.session.undo import ABSENT, UndoStore

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.session.rewind import FileResult, Present


class Folder:
    """Files changed as mcode's tools change them: kept first, then written, then noted."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "project"
        self.directory.mkdir()
        self.undo = UndoStore(directory / "undo")
        self.rewinder = Rewinder(self.undo, UserFiles(directory / "pending"), directory / "copies")
        self.turns: dict[str, int] = {}

    async def write(self, name: str, content: bytes, call: str, turn: int = 1) -> None:
        path = self.directory / name
        self.turns[call] = turn
        old = path.read_bytes() if path.exists() else None
        await self.undo.keep(path, old, 0o644 if old is not None else None, call)
        path.write_bytes(content)
        await self.undo.note_left(path, content, call)

    async def back_to(self, turn: int, call: str = "rewind_1") -> tuple[FileResult, ...]:
        return await self.rewinder.restore(self.changes(turn), call)

    def changes(self, turn: int) -> tuple[FileChange, ...]:
        entries = self.undo.entries()
        first = first_entry_since(entries, turn, self.turns)
        return () if first is None else changes_from(entries, first)

    def content(self, name: str) -> bytes | None:
        path = self.directory / name
        return path.read_bytes() if path.exists() else None


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


async def test_u_02_a_file_is_put_back_and_one_that_mcode_made_is_removed(folder: Folder) -> None:
    (folder.directory / "a.py").write_bytes(b"one\n")
    await folder.write("a.py", b"two\n", "c1")
    await folder.write("a.py", b"three\n", "c2", turn=2)
    await folder.write("new.py", b"made\n", "c3", turn=2)
    results = await folder.back_to(2)
    assert [result.fate for result in results] == [Fate.RESTORED, Fate.REMOVED]
    assert folder.content("a.py") == b"two\n"
    assert folder.content("new.py") is None
    await folder.back_to(1, "rewind_2")
    assert folder.content("a.py") == b"one\n"


async def test_u_02_what_the_user_changed_since_is_kept_and_the_old_version_offered(folder: Folder) -> None:
    (folder.directory / "a.py").write_bytes(b"one\n")
    await folder.write("a.py", b"two\n", "c1")
    await folder.write("b.py", b"made\n", "c2")
    (folder.directory / "a.py").write_bytes(b"the user's\n")
    (folder.directory / "b.py").write_bytes(b"also the user's\n")
    changed, made = await folder.back_to(1)
    assert (changed.fate, made.fate) == (Fate.KEPT, Fate.KEPT)
    assert folder.content("a.py") == b"the user's\n"
    assert folder.content("b.py") == b"also the user's\n"
    assert changed.copy is not None
    assert changed.copy.read_bytes() == b"one\n"
    assert "somebody else" in changed.reason


async def test_u_02_a_file_that_the_user_removed_stays_removed(folder: Folder) -> None:
    (folder.directory / "a.py").write_bytes(b"one\n")
    await folder.write("a.py", b"two\n", "c1")
    (folder.directory / "a.py").unlink()
    (result,) = await folder.back_to(1)
    assert result.fate is Fate.KEPT
    assert folder.content("a.py") is None


async def test_u_02_a_rewind_is_itself_undone(folder: Folder) -> None:
    (folder.directory / "a.py").write_bytes(b"one\n")
    await folder.write("a.py", b"two\n", "c1")
    await folder.write("b.py", b"made\n", "c2")
    await folder.back_to(1)
    rewind = [entry for entry in folder.undo.entries() if entry.call_id == "rewind_1"]
    results = await folder.rewinder.restore(changes_from(rewind, rewind[0].sequence), "rewind_2")
    assert {result.fate for result in results} == {Fate.RESTORED}
    assert folder.content("a.py") == b"two\n"
    assert folder.content("b.py") == b"made\n"


async def test_u_02_permission_bits_come_back(folder: Folder) -> None:
    script = folder.directory / "run.sh"
    script.write_bytes(b"old\n")
    script.chmod(0o755)
    await folder.undo.keep(script, b"old\n", 0o755, "c1")
    script.write_bytes(b"new\n")
    script.chmod(0o644)
    await folder.undo.note_left(script, b"new\n", "c1")
    folder.turns["c1"] = 1
    await folder.back_to(1)
    assert script.read_bytes() == b"old\n"
    assert script.stat().st_mode & 0o777 == 0o755


class KilledError(Exception):
    """Stands for the end of the process."""


class KilledAfter:
    """File access that ends the process before, or right after, the n-th change."""

    def __init__(self, inner: UserFiles, changes: int, *, after: bool) -> None:
        self._inner = inner
        self._left = changes
        self._after = after

    def look_at(self, path: Path) -> Present | None:
        return self._inner.look_at(path)

    def put(self, path: Path, content: bytes, mode: int | None) -> None:
        self._maybe_die(after=False)
        self._inner.put(path, content, mode)
        self._maybe_die(after=True)

    def remove(self, path: Path, content: bytes) -> None:
        self._maybe_die(after=False)
        self._inner.remove(path, content)
        self._maybe_die(after=True)

    def _maybe_die(self, *, after: bool) -> None:
        if after is self._after:
            self._left -= 1
            if self._left == 0:
                raise KilledError


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("change", [1, 2, 3])
async def test_u_02_a_rewind_that_was_killed_leaves_each_file_old_or_new_and_can_be_repeated(
    tmp_path: Path, change: int, *, after: bool
) -> None:
    folder = Folder(tmp_path)
    for name in ("a", "b"):
        (folder.directory / name).write_bytes(b"old " + name.encode())
        await folder.write(name, b"new " + name.encode(), f"c{name}")
    await folder.write("c", b"new c", "cc")
    killed = Rewinder(
        folder.undo, KilledAfter(UserFiles(tmp_path / "pending"), change, after=after), tmp_path
    )
    with pytest.raises(KilledError):
        await killed.restore(folder.changes(1), "rewind_1")
    for name in ("a", "b"):
        assert folder.content(name) in {b"old " + name.encode(), b"new " + name.encode()}
    await folder.back_to(1, "rewind_2")
    assert [folder.content(name) for name in ("a", "b", "c")] == [b"old a", b"old b", None]


async def test_u_02_an_old_content_that_is_no_longer_kept_stops_that_file_only(folder: Folder) -> None:
    for name in ("a", "b"):
        (folder.directory / name).write_bytes(name.encode())
        await folder.write(name, b"new", f"c{name}")
    lost = hashlib.sha256(b"a").hexdigest()
    (folder.undo.directory / "objects" / lost[:2] / lost).unlink()
    first, second = await folder.back_to(1)
    assert first.fate is Fate.KEPT
    assert "no longer kept" in first.reason
    assert second.fate is Fate.RESTORED
    with pytest.raises(StorageError):
        folder.undo.read(lost)


async def test_u_02_two_hundred_random_steps_agree_with_a_model(folder: Folder) -> None:
    chance = random.Random(20261130)
    names = ("a", "b", "c")
    now: dict[str, bytes | None] = dict.fromkeys(names)
    before_turn: dict[int, dict[str, bytes | None]] = {}
    for step in range(1, 201):
        before_turn[step] = dict(now)
        if step % 10 == 0:
            turn = chance.choice([turn for turn in range(max(1, step - 30), step) if turn % 10])
            folder.turns[f"rewind_{step}"] = step - 1
            await folder.back_to(turn, f"rewind_{step}")
            now = dict(before_turn[turn])
        else:
            name, content = chance.choice(names), f"{chance.randrange(5)}".encode()
            await folder.write(name, content, f"c{step}", turn=step)
            now[name] = content
        assert {name: folder.content(name) for name in names} == now, f"after step {step}"


def test_a_change_that_nobody_noted_counts_as_not_made() -> None:
    change = FileChange("/x", ABSENT, None, ABSENT)
    assert change.old == change.left
