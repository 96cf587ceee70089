"""What is thrown away, and what never is (J-10, U-05)."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from mcode.masking import Masker
from mcode.session.store import SessionStore
from mcode.session.upkeep import bound_undo
from tests.session.test_store import begin, close

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86400


def age(path: Path, days: float) -> None:
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def test_j_10_old_sessions_go_with_everything_of_theirs_and_younger_ones_stay(store: SessionStore) -> None:
    old, young = begin(store, "old"), begin(store, "young")
    (store.directory / old / "output-1.txt").write_text("x")
    (store.directory / f"{old}.jsonl.torn-1").write_text("x")
    age(store.directory / f"{old}.jsonl", 31)
    age(store.directory / f"{young}.jsonl", 29)
    assert store.prune(30) == (old,)
    assert not list(store.directory.glob(f"{old}*"))
    assert [info.id for info in store.list()] == [young]


def test_j_10_an_open_session_is_never_removed(store: SessionStore) -> None:
    identifier = begin(store, "old and open")
    session = store.open(identifier)
    age(session.journal.path, 400)
    assert store.prune(30) == ()
    session.journal.append("user", {"turn": 2})
    close(session)
    age(session.journal.path, 400)
    assert store.prune(30) == (identifier,)


def test_j_10_nothing_is_removed_where_no_period_is_set(store: SessionStore) -> None:
    identifier = begin(store, "old")
    age(store.directory / f"{identifier}.jsonl", 4000)
    assert store.prune(0) == ()
    assert store.prune(-1) == ()
    assert len(store.list()) == 1


def test_sessions_without_any_record_go_after_a_day(store: SessionStore) -> None:
    empty, fresh = store.create(), store.create()
    close(empty, fresh)
    age(empty.journal.path, 2)
    assert store.prune(30) == (empty.id,)
    assert fresh.journal.path.exists()


def test_side_files_without_a_session_go_and_foreign_files_stay(store: SessionStore) -> None:
    begin(store, "stays")
    orphan = store.directory / "99999999-2222-4333-8444-555555555555"
    orphan.mkdir()
    age(orphan, 2)
    foreign = store.directory / "notes-of-the-user-in-here"
    foreign.mkdir()
    age(foreign, 400)
    store.prune(30)
    assert not orphan.exists()
    assert foreign.exists()
    assert len(store.list()) == 1


async def test_u_05_the_old_contents_of_the_oldest_finished_sessions_go_first(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    stores = [SessionStore(projects / name, Masker(), undo_limit=2500) for name in ("-one", "-two")]
    sessions = [store.create() for store in stores for _ in range(2)]
    for number, session in enumerate(sessions):
        session.journal.append("user", {"turn": 1, "text": str(number)})
        await session.undo.keep(tmp_path / "file", bytes([number]) * 1000, 0o644, "c1")
    oldest_but_open, *finished = sessions
    close(*finished)
    for number, session in enumerate(sessions):
        age(session.journal.path, 20 - number)
    assert bound_undo(projects, 2500) == 2000
    assert [session.undo.size() for session in sessions] == [1000, 0, 0, 1000]
    assert all(len(session.undo.entries()) == 1 for session in sessions), "what was done stays known"
    close(oldest_but_open)
    stores[0].prune(30)
    assert sum(session.undo.size() for session in sessions) == 2000, "within the bound nothing goes"
