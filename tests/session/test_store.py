"""The sessions of a folder: begun, resumed by id, prefix or name, copied, renamed, seen by others (J-05)."""

from __future__ import annotations

import os
import stat
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from mcode.errors import UsageError
from mcode.masking import Masker
from mcode.session import journal as journal_module
from mcode.session.journal import SessionLockedError
from mcode.session.store import SessionStore
from tests.forks import in_child, kill

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.session.store import OpenSession


def begin(store: SessionStore, prompt: str, name: str = "", session_id: str | None = None) -> str:
    session = store.create(session_id)
    session.journal.append("session", {"id": session.id, "cwd": "/project", "version": "0.1.0"})
    session.journal.append("user", {"turn": 1, "text": prompt})
    if name:
        session.journal.append("title", {"name": name})
    session.journal.close()
    return session.id


def close(*sessions: OpenSession) -> None:
    for session in sessions:
        session.journal.close()


def test_a_new_session_has_a_uuid_a_file_and_a_private_directory(store: SessionStore) -> None:
    session = store.create()
    assert str(uuid.UUID(session.id)) == session.id
    assert session.journal.path == store.directory / f"{session.id}.jsonl"
    assert session.directory == store.directory / session.id
    for directory in (store.directory.parent, store.directory, session.directory):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert session.undo.entries() == ()
    close(session)


def test_nothing_is_made_before_the_first_session(store: SessionStore) -> None:
    assert store.list() == ()
    assert store.latest() is None
    assert store.others() == ()
    assert store.prune(30) == ()
    assert not store.directory.exists()


def test_a_session_can_be_given_its_id_once(store: SessionStore) -> None:
    identifier = "AAAAAAAA-2222-4333-8444-555555555555"
    session = store.create(identifier)
    assert session.id == identifier.lower()
    close(session)
    with pytest.raises(UsageError, match="exists already"):
        store.create(identifier)
    for bad in ("x", "../../etc/passwd", "", identifier + "0", "{" + identifier + "}"):
        with pytest.raises(UsageError, match="UUID"):
            store.create(bad)


def test_a_session_is_resumed_by_id_prefix_or_name(store: SessionStore) -> None:
    first = begin(store, "look at the parser", "parser work", "aaaa1111-2222-4333-8444-555555555555")
    second = begin(store, "write tests", "", "bbbb1111-2222-4333-8444-555555555555")
    for reference in (first, first.upper(), "aaaa", "AAAA1111-22", "parser work", " Parser Work "):
        session = store.open(reference)
        assert session.id == first
        assert [record.type for record in session.journal.records] == ["session", "user", "title"]
        close(session)
    assert store.resolve("b") == second


def test_an_ambiguous_or_unknown_reference_says_what_fits(store: SessionStore) -> None:
    begin(store, "one", "same", "aaaa1111-2222-4333-8444-555555555555")
    begin(store, "two", "same", "aaaa2222-2222-4333-8444-555555555555")
    for reference in ("aaaa", "same"):
        with pytest.raises(UsageError, match="fits 2 sessions") as caught:
            store.open(reference)
        assert "aaaa1111" in str(caught.value)
        assert "aaaa2222" in str(caught.value)
    for reference in ("nothing", "../x", "ffff"):
        with pytest.raises(UsageError, match="No session of this folder"):
            store.open(reference)
    with pytest.raises(UsageError, match="is needed"):
        store.open("  ")


def test_a_name_that_looks_like_the_beginning_of_an_id_wins_over_it(store: SessionStore) -> None:
    begin(store, "one", "", "add11111-2222-4333-8444-555555555555")
    named = begin(store, "two", "add", "bbbb1111-2222-4333-8444-555555555555")
    assert store.resolve("add") == named


def test_rename_gives_a_name_that_lasts(store: SessionStore) -> None:
    identifier = begin(store, "hello", "old name")
    store.rename("old name", " new name ")
    assert [info.name for info in store.list()] == ["new name"]
    assert store.resolve("new name") == identifier


def test_a_fork_is_a_copy_under_a_new_id_that_names_its_parent(store: SessionStore) -> None:
    parent = begin(store, "hello", "the work")
    fork = store.fork("the work")
    fork.journal.append("user", {"turn": 2, "text": "another way"})
    close(fork)
    assert fork.id != parent
    types = [record.type for record in fork.journal.records]
    assert types == ["session", "user", "title", "session", "user"]
    assert fork.journal.records[3].body == {
        "id": fork.id,
        "cwd": "/project",
        "version": "0.1.0",
        "parent": parent,
    }
    assert [record.sequence for record in fork.journal.records] == [1, 2, 3, 4, 5]
    original = store.open(parent)
    assert len(original.journal.records) == 3
    close(original)


async def test_a_fork_has_the_large_values_and_the_old_contents_of_its_parent(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(journal_module, "LINE_LIMIT", 2000)
    parent = store.create()
    parent.journal.append("user", {"turn": 1, "text": "x" * 5000})
    kept = await parent.undo.keep(tmp_path / "a.txt", b"old", 0o644, "c1")
    fork = store.fork(parent.id)
    close(parent)
    assert fork.journal.records[0].body["text"] == "x" * 5000
    assert fork.undo.read(kept) == b"old"
    await fork.undo.keep(tmp_path / "b.txt", None, None, "c2")
    assert [entry.call_id for entry in fork.undo.entries()] == ["c1", "c2"]
    assert [entry.call_id for entry in parent.undo.entries()] == ["c1"]
    close(fork)


def test_j_05_a_session_that_another_process_writes_can_be_forked_and_looked_at(store: SessionStore) -> None:
    identifier = begin(store, "hello")
    ready, tell = os.pipe()

    def hold() -> None:
        session = store.open(identifier)
        session.journal.append("user", {"turn": 2, "text": "and more"})
        os.write(tell, b"!")
        time.sleep(60)

    child = in_child(hold)
    os.read(ready, 1)
    with pytest.raises(SessionLockedError, match=f"process {child}"):
        store.open(identifier)
    with pytest.raises(SessionLockedError):
        store.rename(identifier, "mine")
    fork = store.fork(identifier)
    assert [record.type for record in fork.journal.records] == ["session", "user", "user", "session"]
    looking = store.open_read_only(identifier)
    assert len(looking.journal.records) == 3
    assert store.others(fork.id) == ((identifier, store.others(fork.id)[0][1]),)
    assert store.others(fork.id)[0][1].process == child
    close(fork, looking)
    kill(child)
    assert store.others() == ()
    os.close(ready)
    os.close(tell)


def test_j_05_a_fork_of_a_session_in_the_middle_of_a_record_has_whole_records_only(
    store: SessionStore,
) -> None:
    identifier = begin(store, "hello")
    with (store.directory / f"{identifier}.jsonl").open("ab") as file:
        file.write(b'{"mcode":1,"seq":3,')
    fork = store.fork(identifier)
    assert [record.type for record in fork.journal.records] == ["session", "user", "session"]
    assert fork.journal.notices == ()
    close(fork)


def test_j_05_two_sessions_of_one_folder_work_side_by_side_and_know_of_each_other(
    store: SessionStore,
) -> None:
    first, second = store.create(), store.create()
    for turn in range(1, 4):
        first.journal.append("user", {"turn": turn, "text": f"first {turn}"})
        second.journal.append("user", {"turn": turn, "text": f"second {turn}"})
    assert [identifier for identifier, _ in store.others(first.id)] == [second.id]
    assert [identifier for identifier, _ in store.others(second.id)] == [first.id]
    close(first, second)
    assert {info.first_prompt for info in store.list()} == {"first 1", "second 1"}
    shared = {
        path.name for path in store.directory.iterdir() if not path.name.startswith((first.id, second.id))
    }
    assert shared <= {"index.json"}


def test_k_01_names_and_prompts_are_masked_like_everything_else(tmp_path: Path) -> None:
    secret = "ghp" + "_" + "a8F3kZ9qLm2XwP7rTy4B" * 2
    store = SessionStore(tmp_path / "p" / "-w", Masker())
    begin(store, f"use {secret}", f"deploy with {secret}")
    (info,) = store.list()
    assert secret not in info.first_prompt
    assert secret not in info.name
    assert all(
        secret.encode() not in path.read_bytes() for path in store.directory.rglob("*") if path.is_file()
    )
