"""The session file: appending, locking, syncing, and its masked records (J-01, J-02, J-05, J-07, J-09)."""

# ruff: noqa: RUF001 -- the marks have angle quotes

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from typing import TYPE_CHECKING

import pytest

from mcode.errors import StorageError
from mcode.masking import Masker
from mcode.session import journal as journal_module
from mcode.session.journal import Journal, SessionLockedError, read_records
from mcode.session.records import Record, encode
from tests.forks import exit_code, files_limited_to, in_child, kill
from tests.session.conftest import reopened, turns, write_session

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp" + "_" + "a8F3kZ9qLm2XwP7rTy4B" * 2


def test_j_01_a_record_is_one_line_with_number_predecessor_times_and_type(path: Path, masker: Masker) -> None:
    journal = Journal.open(path, masker)
    first = journal.append("user", {"text": "one\ntwo\u2028three"})
    second = journal.append("assistant", {"text": "x"})
    journal.close()
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 3
    assert lines[-1] == b""
    one, two = (json.loads(line) for line in lines[:2])
    assert (one["seq"], one["prev"], one["type"]) == (1, 0, "user")
    assert (two["seq"], two["prev"], two["type"]) == (2, 1, "assistant")
    assert one["time"].endswith("Z")
    assert one["clock"] < two["clock"]
    assert one["body"] == {"text": "one\ntwo\u2028three"}
    assert [first, second] == journal.records == Journal.open_read_only(path).records


def test_j_01_the_file_is_for_the_user_alone(path: Path, masker: Masker) -> None:
    Journal.open(path, masker).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    Journal.open(path, masker).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_j_01_each_record_is_one_write(path: Path, masker: Masker, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much of a write somebody else may read before it is done is the file system's affair."""
    journal = Journal.open(path, masker)
    written: list[bytes] = []
    write = os.write

    def counted(descriptor: int, data: bytes) -> int:
        written.append(bytes(data))
        return write(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", counted)
        for size in (1, 20_000, 1_000_000):
            journal.append("user", {"turn": 1, "text": "x" * size})
    journal.close()
    assert len(written) == 3
    assert written == path.read_bytes().splitlines(keepends=True)


def test_j_01_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path, path: Path, masker: Masker) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    path.symlink_to(target)
    with pytest.raises(StorageError, match="could not be opened"):
        Journal.open(path, masker)
    assert target.read_text() == "mine"
    path.unlink()
    Journal.open(path, masker).close()


def test_j_01_a_value_over_8_megabytes_goes_to_a_side_file_named_by_its_hash(
    path: Path, masker: Masker
) -> None:
    journal = Journal.open(path, masker)
    text = "0123456789abcdef" * (600 * 1024)
    large = journal.append("call_finished", {"id": "c1", "text": text})
    journal.append("user", {"turn": 2})
    journal.close()
    assert large.body["text"] == text
    assert path.stat().st_size < 2000
    (side,) = (path.with_suffix("") / "values").iterdir()
    assert len(side.stem) == 64
    assert stat.S_IMODE(side.stat().st_mode) == 0o600
    assert stat.S_IMODE(side.parent.stat().st_mode) == 0o700
    again = Journal.open(path, masker)
    assert again.records == journal.records
    assert again.notices == ()
    again.close()


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_j_03_a_lost_side_file_costs_its_record_only_and_is_named(
    path: Path, masker: Masker, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(journal_module, "LINE_LIMIT", 2000)
    journal = Journal.open(path, masker)
    for turn, text in enumerate(["short", "x" * 5000, "short"], 1):
        journal.append("user", {"turn": turn, "text": text})
    journal.close()
    (side,) = (path.with_suffix("") / "values").iterdir()
    if damage == "missing":
        side.unlink()
    else:
        side.write_bytes(b'{"text": "forged"}')
    again = Journal.open(path, masker)
    assert turns(again) == [1, 3]
    assert len(again.notices) == 1
    assert side.stem[:16] in again.notices[0]
    assert again.append("user", {"turn": 4}).sequence == 4
    again.close()


def test_j_02_what_was_appended_is_there_for_the_next_process_without_close_or_sync(path: Path) -> None:
    def write_and_die() -> None:
        journal = Journal.open(path, Masker())
        for turn in range(1, 4):
            journal.append("user", {"turn": turn})
        os.kill(os.getpid(), 9)

    assert exit_code(in_child(write_and_die)) == -9
    assert reopened(path) == ([1, 2, 3], ())


async def test_j_02_syncs_that_come_together_share_their_flushes(
    path: Path, masker: Masker, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushes: list[int] = []
    real = journal_module.flush

    def counting(descriptor: int) -> None:
        flushes.append(descriptor)
        time.sleep(0.02)
        real(descriptor)

    monkeypatch.setattr(journal_module, "flush", counting)
    journal = Journal.open(path, masker)

    async def append_and_sync(turn: int) -> None:
        journal.append("user", {"turn": turn})
        await journal.sync()

    await asyncio.gather(*(append_and_sync(turn) for turn in range(20)))
    assert 1 <= len(flushes) <= 2
    await journal.sync()
    assert len(flushes) <= 2, "nothing new, nothing to flush"
    journal.append("user", {"turn": 21})
    await journal.sync()
    assert len(flushes) <= 3
    journal.close()


async def test_j_02_one_cancelled_waiter_does_not_take_the_flush_from_the_others(
    path: Path, masker: Masker
) -> None:
    journal = Journal.open(path, masker)
    journal.append("user", {"turn": 1})
    waiters = [asyncio.create_task(journal.sync()) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [None, None]
    journal.close()


async def test_j_02_a_relaxed_session_does_not_wait_for_the_disk(
    path: Path, masker: Masker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(descriptor: int) -> None:
        raise AssertionError(descriptor)

    journal = Journal.open(path, masker, durable=False)
    monkeypatch.setattr(journal_module, "flush", never)
    journal.append("user", {"turn": 1})
    await journal.sync()
    journal.close()
    monkeypatch.undo()
    assert reopened(path) == ([1], ())


async def test_j_07_a_disk_that_refuses_a_flush_is_an_error_for_everybody_who_waits(
    path: Path, masker: Masker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(5, "Input/output error", str(descriptor))

    journal = Journal.open(path, masker)
    journal.append("user", {"turn": 1})
    monkeypatch.setattr(journal_module, "flush", refuse)
    results = await asyncio.gather(journal.sync(), journal.sync(), return_exceptions=True)
    assert [type(result) for result in results] == [StorageError, StorageError]
    assert str(path) in str(results[0])
    with pytest.raises(StorageError, match="could not be brought to the disk"):
        journal.close()
    monkeypatch.undo()
    assert reopened(path) == ([1], ()), "the file was closed and its lock let go all the same"


def test_j_07_a_full_disk_is_named_and_the_session_goes_on_when_there_is_room(
    path: Path, masker: Masker
) -> None:
    journal = Journal.open(path, masker)
    journal.append("user", {"turn": 1})
    before = path.read_bytes()
    with files_limited_to(len(before) + 100), pytest.raises(StorageError) as caught:
        journal.append("user", {"turn": 2, "text": "x" * 1000})
    assert path.read_bytes() == before, "not one byte of the unfinished record stays"
    message = str(caught.value)
    assert str(path) in message
    assert "step that needed the record was not taken" in message
    assert journal.append("user", {"turn": 3}).sequence == 2
    journal.close()
    assert reopened(path) == ([1, 3], ())


def test_j_05_a_second_writer_is_refused_told_who_writes_and_what_it_can_do(
    path: Path, masker: Masker
) -> None:
    ready, tell = os.pipe()

    def hold() -> None:
        journal = Journal.open(path, Masker())
        journal.append("user", {"turn": 1})
        os.write(tell, b"!")
        time.sleep(60)

    child = in_child(hold)
    os.read(ready, 1)
    with pytest.raises(SessionLockedError) as caught:
        Journal.open(path, masker)
    assert caught.value.session == path.stem
    assert caught.value.holder.process == child
    message = str(caught.value)
    assert f"process {child}" in message
    assert "--fork-session" in message
    looking = Journal.open_read_only(path)
    assert turns(looking) == [1]
    with pytest.raises(StorageError, match="read only"):
        looking.append("user", {"turn": 2})
    kill(child)
    assert reopened(path) == ([1], ()), "the lock vanished with its process"
    os.close(ready)
    os.close(tell)


def test_j_05_a_closed_session_takes_no_record_and_frees_its_lock(path: Path, masker: Masker) -> None:
    journal = Journal.open(path, masker)
    journal.close()
    journal.close()
    with pytest.raises(StorageError, match="closed"):
        journal.append("user", {})
    Journal.open(path, masker).close()


def test_a_reader_beside_a_writer_leaves_an_unfinished_record_alone(path: Path) -> None:
    write_session(path, 2)
    with path.open("ab") as file:
        file.write(b'{"mcode":1,"seq":3,"pre')
    before = path.read_bytes()
    reading = read_records(path)
    assert [record.body["turn"] for record in reading.records] == [1, 2]
    assert path.read_bytes() == before


def test_j_09_a_clock_that_was_set_back_changes_no_order(path: Path, masker: Masker) -> None:
    """A session whose last record was written an hour from now, as the clock says after it was set back."""
    ahead = time.time_ns() // 1000 + 3600 * 1_000_000
    path.write_bytes(encode(Record(1, "user", {}, "later", 0, ahead), '{"turn":1}'))
    journal = Journal.open(path, masker)
    journal.append("user", {"turn": 2})
    journal.append("user", {"turn": 3})
    journal.close()
    clocks = [record.clock for record in journal.records]
    assert clocks == sorted(clocks)
    assert len(set(clocks)) == 3
    assert [record.sequence for record in journal.records] == [1, 2, 3]
    assert reopened(path) == ([1, 2, 3], ())


def test_k_01_what_is_written_is_masked_and_the_live_record_is_what_a_resume_reads(
    path: Path, masker: Masker
) -> None:
    journal = Journal.open(path, masker)
    body = {
        "text": f"use {SECRET}",
        "arguments": {"password": "correct" + "horse", "number": 1.0},
        "tuple": (1, 2),
    }
    live = journal.append("call_started", body)
    journal.close()
    assert SECRET.encode() not in path.read_bytes()
    assert "‹secret:github:" in live.body["text"]
    assert live.body["arguments"]["password"].startswith("‹secret:")
    assert live.body["tuple"] == [1, 2]
    assert Journal.open_read_only(path).records == [live]
    assert body["text"] == f"use {SECRET}", "the caller's own value stays as it is"


def test_a_record_cannot_be_changed_by_the_value_it_was_made_of(path: Path, masker: Masker) -> None:
    journal = Journal.open(path, masker)
    body = {"content": [{"type": "text", "text": "as written"}]}
    record = journal.append("user", body)
    body["content"][0]["text"] = "changed later"
    assert record.body["content"][0]["text"] == "as written"
    journal.close()


@pytest.mark.parametrize(
    "body",
    [
        {"text": "\ud800 alone"},
        {"text": "\ud83d" + "\ude00"},
        {"\udcff": 1},
        {"number": float("nan"), "list": [float("inf"), 1e308, -0.0, 2**70, 0.1]},
        {"text": "\x00\x1b\u2028\U0001f600"},
    ],
)
def test_odd_values_are_read_again_as_they_are_in_the_live_record(
    path: Path, masker: Masker, body: dict[str, object]
) -> None:
    journal = Journal.open(path, masker)
    live = journal.append("user", body)
    journal.close()
    (again,) = Journal.open_read_only(path).records
    assert again == live
    assert json.dumps(again.body) == json.dumps(live.body)


def test_a_value_that_no_reader_could_follow_is_refused_and_nothing_is_written(
    path: Path, masker: Masker
) -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"a": deep}
    journal = Journal.open(path, masker)
    for body in (deep, {"arguments": deep}, {"type": "thinking", "x": deep}):
        with pytest.raises(StorageError, match="nested deeper"):
            journal.append("user", body)
    assert path.read_bytes() == b""
    assert journal.append("user", {"turn": 1}).sequence == 1
    journal.close()


def test_small_records_are_appended_quickly(path: Path, masker: Masker) -> None:
    journal = Journal.open(path, masker)
    body = {"turn": 1, "content": [{"type": "text", "text": "please have a look at the parser"}]}
    journal.append("user", body)
    began = time.process_time()
    for _ in range(500):
        journal.append("user", body)
    # About 0.08 ms each here; the bound only catches a mistake in kind.
    assert (time.process_time() - began) / 500 < 0.005
    journal.close()


def test_l_04_a_long_session_is_not_kept_in_memory_and_is_read_from_its_file(
    path: Path, masker: Masker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "REMEMBERED", 2_000)
    journal = Journal.open(path, masker)
    live = [journal.append("user", {"turn": turn, "text": "x" * 100}) for turn in range(30)]
    assert not any(record is live[0] for record in journal.records), "they come from the file"
    assert list(journal.records) == live
    assert live[-1].sequence == 30
    journal.close()
    again = Journal.open(path, masker)
    assert again.append("user", {"turn": 31}).sequence == 31
    assert [record.sequence for record in again.records] == list(range(1, 32))
    again.close()
