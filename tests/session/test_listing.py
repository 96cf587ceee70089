"""Listing sessions: newest first, cheap, from an index that is never the only place of anything (J-09, J-10)."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.session.test_store import begin

if TYPE_CHECKING:
    from mcode.session.store import SessionStore


def test_a_listing_shows_name_first_prompt_time_messages_and_size(store: SessionStore) -> None:
    identifier = begin(store, "  please fix\nthe parser  ", "first name")
    session = store.open(identifier)
    session.journal.append("assistant", {"message": {"content": []}})
    session.journal.append("user", {"turn": 2, "text": "second prompt"})
    session.journal.append("call_started", {"id": "c1"})
    session.journal.append("title", {"name": "last name"})
    session.journal.close()
    (info,) = store.list()
    assert info.id == identifier
    assert info.name == "last name"
    assert info.first_prompt == "please fix\nthe parser"
    assert info.messages == 3
    assert info.size == session.journal.path.stat().st_size
    assert abs(info.modified - time.time()) < 60


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"content": "as text"}, "as text"),
        (
            {
                "content": [
                    {"type": "text", "text": "in"},
                    {"type": "image"},
                    {"type": "text", "text": "blocks"},
                ]
            },
            "in\nblocks",
        ),
        ({"text": "own words", "content": [{"type": "text", "text": "with notes"}]}, "own words"),
        ({"content": None}, ""),
        ({"text": "x" * 1000}, "x" * 400),
    ],
)
def test_the_first_prompt_is_found_in_every_shape_of_content(
    store: SessionStore, body: dict[str, object], expected: str
) -> None:
    session = store.create()
    session.journal.append("user", body)
    session.journal.close()
    assert [info.first_prompt for info in store.list()] == [expected]


def test_sessions_without_a_message_or_a_name_are_not_listed(store: SessionStore) -> None:
    empty = store.create()
    empty.journal.append("session", {"id": empty.id})
    empty.journal.close()
    named = store.create()
    named.journal.append("title", {"name": "kept"})
    named.journal.close()
    assert [info.id for info in store.list()] == [named.id]
    assert store.resolve(empty.id) == empty.id


def begun_apart(store: SessionStore, prompt: str) -> str:
    """Begin a session, and wait until what is written next has another time: file systems count in milliseconds."""
    identifier = begin(store, prompt)
    probe = store.directory / "probe"
    probe.touch()
    written = probe.stat().st_mtime_ns
    while probe.stat().st_mtime_ns == written:
        probe.write_text("")
    return identifier


def test_the_session_written_last_comes_first(store: SessionStore) -> None:
    ids = [begun_apart(store, f"prompt {number}") for number in range(3)]
    store.rename(ids[0], "touched again")
    assert [info.id for info in store.list()] == [ids[0], ids[2], ids[1]]
    latest = store.latest()
    assert latest is not None
    assert latest.id == ids[0]


def test_j_09_a_clock_set_back_an_hour_leaves_the_newest_session_first(store: SessionStore) -> None:
    """As after the clock was set back: a session was last written an hour from now."""
    earlier = begin(store, "before the clock was set back")
    ahead = time.time() + 3600
    os.utime(store.directory / f"{earlier}.jsonl", (ahead, ahead))
    second = begun_apart(store, "after it")
    third = begun_apart(store, "after that")
    assert [info.id for info in store.list()] == [third, second, earlier]
    store.rename(second, "on with it")
    assert [info.id for info in store.list()] == [second, third, earlier]


def test_j_09_a_clock_that_was_years_ahead_is_not_followed(store: SessionStore) -> None:
    wrong = begin(store, "in the far future")
    ahead = time.time() + 9 * 365 * 86400
    os.utime(store.directory / f"{wrong}.jsonl", (ahead, ahead))
    now = begin(store, "now")
    (info,) = [info for info in store.list() if info.id == now]
    assert abs(info.modified - time.time()) < 3600


def test_a_listing_reads_only_what_was_added_since_the_last(store: SessionStore) -> None:
    identifier = begin(store, "first prompt", "name")
    assert [info.messages for info in store.list()] == [1]
    session = store.open(identifier)
    session.journal.append("user", {"turn": 2, "text": "more"})
    session.journal.close()
    path = session.journal.path
    written = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"#" * 50)  # were the beginning read again, its records would be gone
    assert path.stat().st_size == written
    (info,) = store.list()
    assert (info.first_prompt, info.name, info.messages) == ("first prompt", "name", 2)


@pytest.mark.parametrize(
    "content", [None, b"", b"not JSON", b'{"version":2,"sessions":{"x":[]}}', b'{"version":99}', b"[]"]
)
def test_j_10_the_index_is_rebuilt_from_the_files(store: SessionStore, content: bytes | None) -> None:
    begin(store, "one", "name")
    before = store.list()
    index = store.directory / "index.json"
    if content is None:
        index.unlink()
    else:
        index.write_bytes(content)
    assert store.list() == before
    assert json.loads(index.read_bytes())["version"] == 2


def test_a_file_replaced_by_another_is_read_from_its_beginning(store: SessionStore) -> None:
    identifier = begin(store, "old content")
    store.list()
    path = store.directory / f"{identifier}.jsonl"
    other = begin(store, "new content, and longer than the old one")
    os.replace(store.directory / f"{other}.jsonl", path)
    assert [info.first_prompt for info in store.list()] == ["new content, and longer than the old one"]


def test_damaged_and_foreign_files_do_no_harm_to_a_listing(store: SessionStore) -> None:
    identifier = begin(store, "good")
    path = store.directory / f"{identifier}.jsonl"
    path.write_bytes(
        b"\x00\xff garbage\n" + path.read_bytes() + b'{"mcode":1,"seq":9,"prev":8,"type":"title","bo'
    )
    (store.directory / "notes.jsonl").write_text("not a session\n")
    (store.directory / "12345678-2222-4333-8444-555555555555.jsonl").mkdir()
    assert [info.first_prompt for info in store.list()] == ["good"]


def test_a_folder_that_cannot_be_written_is_listed_all_the_same(store: SessionStore) -> None:
    begin(store, "one")
    (store.directory / "index.json").mkdir()
    assert [info.first_prompt for info in store.list()] == ["one"]
