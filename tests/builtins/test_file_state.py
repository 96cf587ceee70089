"""What a session remembers of files, and within which bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.builtins import file_state
from mcode.builtins.file_state import FileState
from mcode.builtins.leftovers import temporary_name

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from mcode.jsontext import JsonObject
    from tests.builtins.conftest import Session


def test_hashes_survive_a_session_and_foreign_shapes_are_passed_over(tmp_path: Path) -> None:
    files = FileState()
    files.remember(tmp_path / "a", b"one")
    later = FileState()
    later.restore(files.remembered())
    assert later.is_fresh(tmp_path / "a", b"one")
    assert not later.is_fresh(tmp_path / "a", b"two")
    assert later.drift(tmp_path / "a", b"two") is None
    foreign: list[JsonObject] = [{}, {"files": []}, {"files": {"x": 1}}]
    for each in foreign:
        later.restore(each)
    assert later.knows(tmp_path / "a")
    assert not later.knows(tmp_path / "x")


def test_a_drift_is_a_short_diff(tmp_path: Path) -> None:
    files = FileState()
    old = "".join(f"{number}\n" for number in range(100))
    files.remember(tmp_path / "a", old.encode())
    assert files.drift(tmp_path / "a", old.replace("50\n", "fifty\n").encode()) == (
        "@@ -48,7 +48,7 @@\n 47\n 48\n 49\n-50\n+fifty\n 51\n 52\n 53"
    )
    long = files.drift(tmp_path / "a", b"")
    assert long is not None
    assert long.count("\n") == file_state.DIFF_LINES
    assert long.endswith("(61 more lines differ)")
    invisible = files.drift(tmp_path / "a", old.replace("\n", "\r\n").encode())
    assert invisible is not None
    assert "line endings" in invisible


def test_l_04_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_state, "FILES_LIMIT", 3)
    monkeypatch.setattr(file_state, "CACHE_LIMIT", 25)
    files = FileState()
    for number in range(5):
        files.remember(tmp_path / str(number), b"0123456789")
    assert [files.knows(tmp_path / str(number)) for number in range(5)] == [False, False, True, True, True]
    assert files.drift(tmp_path / "2", b"") is None
    assert files.drift(tmp_path / "3", b"") is not None
    for _ in range(5):
        files.remember(tmp_path / "4", b"0123456789")
    assert files.drift(tmp_path / "3", b"") is not None


async def test_locks_are_given_back(session: Session) -> None:
    session.put("f.txt", "a\n")
    await session.read("f.txt")
    await session.edit("f.txt", "a", "b")
    async with session.files.lock(session.directory / "f.txt"):
        assert len(session.files._locks) == 1
    assert session.files._locks == {}


async def test_e_05_left_over_temporaries_are_removed_at_the_next_start(
    session: Session, tmp_path: Path
) -> None:
    left = session.put(temporary_name("f.txt"), "half")
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "1").write_text(str(left))
    assert await FileState(tmp_path / "records").remove_leftovers() == (left,)
    assert not left.exists()
    assert await FileState().remove_leftovers() == ()
