"""What crashes, disks and other programs leave in a session file, and what is still read of it (J-03)."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.masking import Masker
from mcode.session.journal import Journal, read_records
from mcode.session.records import read
from tests.forks import in_child, kill
from tests.session.conftest import reopened, turns, write_session

if TYPE_CHECKING:
    from pathlib import Path


def no_side_file(name: str) -> None:
    raise AssertionError(f"no record refers to {name}")


def do_not_wait(descriptor: int) -> None:
    del descriptor


def test_j_03_an_empty_file_is_a_new_session(path: Path) -> None:
    path.touch()
    journal = Journal.open(path, Masker())
    assert journal.records == []
    assert journal.notices == ()
    assert journal.append("user", {"turn": 1}).sequence == 1
    journal.close()


def test_j_03_a_session_cut_at_every_byte_of_its_last_two_records_keeps_all_earlier_ones(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No power fails here, and waiting for the disk a thousand times would take most of the time.
    monkeypatch.setattr(os, "fsync", do_not_wait)
    monkeypatch.setattr(os, "fdatasync", do_not_wait, raising=False)
    lines = write_session(path, 5)
    whole = b"".join(lines)
    start = len(b"".join(lines[:3]))
    for cut in range(start, len(whole) + 1):
        for leftover in path.parent.glob("*.torn-*"):
            leftover.unlink()
        path.write_bytes(whole[:cut])
        complete = whole[:cut].count(b"\n")
        torn = whole[:cut][whole[:cut].rfind(b"\n") + 1 :]
        journal = Journal.open(path, Masker(), durable=False)
        assert turns(journal) == list(range(1, complete + 1)), cut
        assert len(journal.notices) == (1 if torn else 0), cut
        kept = list(path.parent.glob("*.torn-*"))
        assert [file.read_bytes() for file in kept] == ([torn] if torn else []), cut
        appended = journal.append("user", {"turn": 99})
        assert appended.sequence == complete + 1, cut
        journal.close()
        assert reopened(path) == ([*range(1, complete + 1), 99], ()), cut


def test_j_03_torn_records_of_several_crashes_are_all_kept(path: Path) -> None:
    write_session(path, 1)
    for number in (1, 2):
        with path.open("ab") as file:
            file.write(b'{"mcode":1,"se%d' % number)
        journal = Journal.open(path, Masker())
        assert f"{path.name}.torn-{number}" in journal.notices[0]
        journal.close()
    assert sorted(file.read_bytes() for file in path.parent.glob("*.torn-*")) == [
        b'{"mcode":1,"se1',
        b'{"mcode":1,"se2',
    ]


@pytest.mark.parametrize("cut", [1, 5, 30, 80, 100])
def test_j_03_a_glued_line_yields_the_complete_second_record(path: Path, cut: int) -> None:
    lines = write_session(path, 4)
    glued = lines[1][:cut] + lines[2]
    path.write_bytes(lines[0] + glued + lines[3])
    kept, notices = reopened(path)
    assert kept == [1, 3, 4]
    assert any("number 2" in notice and "1 record could be recovered" in notice for notice in notices)
    assert glued in path.read_bytes(), "the line stays in the file as it is"


def test_j_03_two_whole_records_on_one_line_are_both_read(path: Path) -> None:
    lines = write_session(path, 3)
    path.write_bytes(lines[0].rstrip() + lines[1].rstrip() + lines[2])
    kept, notices = reopened(path)
    assert kept == [1, 2, 3]
    assert len(notices) == 1


def test_j_03_a_record_that_speaks_of_records_is_not_taken_apart(path: Path) -> None:
    lines = write_session(path, 1)
    text = lines[0].decode()
    journal = Journal.open(path, Masker())
    journal.append("user", {"turn": 2, "text": text, "mcode": {"mcode": 1, "seq": 7}})
    journal.close()
    data = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(data[0] + b"garbage" + data[1])
    assert reopened(path)[0] == [1, 2]


@pytest.mark.parametrize(
    ("name", "garbage"),
    [
        ("zeros", b"\x00" * 4096),
        ("zeros before a record", b"\x00" * 300 + b"%s"),
        ("zeros behind a record", b"%s" + b"\x00" * 300),
        ("foreign bytes", bytes(range(128, 256)) * 3),
        ("foreign bytes before a record", b"\xff\xfe\xc3" + b"%s"),
        ("foreign bytes behind a record", b"%s" + b"\xff\xfe\xc3"),
        ("another program's JSON", b'{"level":"info","message":"hello"}'),
        ("a number", b"17"),
        ("an array", b"[1,2]"),
        ("a record without a body", b'{"mcode":1,"seq":2,"prev":1,"type":"user"}'),
        ("a record with a wrong number", b'{"mcode":1,"seq":-2,"prev":1,"type":"user","body":{}}'),
        ("a record with true for a number", b'{"mcode":1,"seq":true,"prev":1,"type":"user","body":{}}'),
        ("deep nesting", b"[" * 100_000),
        ("deep objects", b'{"mcode":' * 50_000),
        ("a shell's output", b"Segmentation fault (core dumped)"),
    ],
)
def test_j_03_damage_is_skipped_counted_named_and_kept(path: Path, name: str, garbage: bytes) -> None:
    lines = write_session(path, 4)
    holds_record = b"%s" in garbage
    damaged = garbage.replace(b"%s", lines[1].rstrip()) + b"\n"
    path.write_bytes(lines[0] + damaged + b"".join(lines[2:] if holds_record else lines[1:]))
    kept, notices = reopened(path)
    assert kept == [1, 2, 3, 4], name
    assert len(notices) == 1
    assert "number 2" in notices[0]
    assert damaged in path.read_bytes()
    journal = Journal.open(path, Masker())
    assert journal.append("user", {"turn": 5}).sequence == 5
    journal.close()
    assert reopened(path)[0] == [1, 2, 3, 4, 5]


def test_j_03_a_lost_record_is_named_by_its_number(path: Path) -> None:
    lines = write_session(path, 5)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    kept, notices = reopened(path)
    assert kept == [1, 2, 4, 5]
    assert len(notices) == 1
    assert "lacks records" in notices[0]
    assert "number 3" in notices[0]


def test_j_03_repeated_and_misplaced_records_are_read_in_order_and_told(path: Path) -> None:
    lines = write_session(path, 4)
    path.write_bytes(lines[0] + lines[2] + lines[1] + lines[1] + lines[3])
    kept, notices = reopened(path)
    assert kept == [1, 2, 2, 3, 4]
    assert len(notices) == 1
    assert "out of order" in notices[0]


def test_j_03_records_of_newer_versions_are_kept_and_passed_over(path: Path) -> None:
    lines = write_session(path, 2)
    newer = b'{"mcode":2,"seq":3,"prev":2,"type":"user","new":"shape","body":{"other":1}}\n'
    path.write_bytes(b"".join(lines) + newer)
    journal = Journal.open(path, Masker())
    assert turns(journal) == [1, 2]
    assert "1 record of a newer mcode" in journal.notices[0]
    assert journal.append("user", {"turn": 4}).sequence == 4, "its number is not given twice"
    journal.close()
    assert newer in path.read_bytes()
    assert reopened(path)[0] == [1, 2, 4]


def test_j_03_unknown_record_types_are_kept(path: Path) -> None:
    journal = Journal.open(path, Masker())
    journal.append("from_the_future", {"turn": 1, "anything": [1]})
    journal.close()
    assert reopened(path) == ([1], ())


def test_j_03_line_ends_of_another_system_do_no_harm(path: Path) -> None:
    lines = write_session(path, 3)
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(line.replace(b"\n", b"\r\n") for line in lines) + b"\n\n")
    assert reopened(path)[0] == [1, 2, 3]


def test_j_03_a_file_that_is_no_session_at_all_is_kept_and_usable(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04 this is an archive without any line end")
    journal = Journal.open(path, Masker())
    assert journal.records == []
    assert len(journal.notices) == 1
    journal.append("user", {"turn": 1})
    journal.close()
    assert reopened(path) == ([1], ())
    assert path.with_name(f"{path.name}.torn-1").read_bytes().startswith(b"PK")


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_j_03_whatever_happens_to_a_file_the_records_it_spares_are_read(data: st.DataObject) -> None:
    lines = [
        b'{"mcode":1,"seq":%d,"prev":%d,"type":"user","time":"","clock":%d,"body":{"turn":%d}}\n'
        % (n, n - 1, n, n)
        for n in range(1, 7)
    ]
    spared = data.draw(st.sets(st.integers(1, 6)))
    damaged = b"".join(
        line if number in spared else data.draw(st.binary(max_size=40)).replace(b"\n", b"") + b"\n"
        for number, line in enumerate(lines, 1)
    )
    reading = read(damaged, no_side_file)
    assert [record.sequence for record in reading.records] == sorted(spared)


def test_a_hostile_line_is_searched_in_bounded_time() -> None:
    line = b'{"mcode":1,"seq":1,' * 100_000 + b"\n"
    began = time.process_time()
    reading = read(line, no_side_file)
    assert reading.damaged == [1]
    assert time.process_time() - began < 20


def test_j_02_sixty_kills_at_random_moments_lose_no_acknowledged_record(path: Path) -> None:
    """A process appends and acknowledges each record on a pipe; after each kill the next one goes on.

    The moment counts from the first acknowledged record of each process, so that every one of them has proved
    something, however busy the machine is.
    """
    chance = random.Random(60)
    acknowledged = 0

    def append_for_ever(report: int) -> None:
        journal = Journal.open(path, Masker())
        turn = len(journal.records)
        while True:
            turn += 1
            size = (turn * 7919) % 3000
            journal.append("user", {"turn": turn, "text": "x" * size})
            os.write(report, turn.to_bytes(4))

    for _ in range(60):
        reader, writer = os.pipe()

        def work(report: int = writer) -> None:
            append_for_ever(report)

        child = in_child(work)
        os.close(writer)
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            first = pipe.read(4)
            time.sleep(chance.uniform(0.0, 0.002))
            kill(child)
            told = first + pipe.readall()
        assert len(told) >= 4, "the process acknowledged a record before it was killed"
        assert int.from_bytes(told[:4]) > acknowledged, "and went on behind all that had been acknowledged"
        whole = len(told) // 4 * 4
        acknowledged = int.from_bytes(told[whole - 4 : whole])
        found = [record.body["turn"] for record in read_records(path).records]
        assert found == list(range(1, len(found) + 1))
        assert acknowledged <= len(found)
    assert acknowledged >= 60
    kept, notices = reopened(path)
    assert len(kept) >= acknowledged
    assert notices == (), "one write a record: nothing was ever torn"
