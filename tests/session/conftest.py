"""A session file, written and read by the real parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.masking import Masker
from mcode.session.journal import Journal
from mcode.session.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def masker() -> Masker:
    return Masker()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


@pytest.fixture
def store(tmp_path: Path, masker: Masker) -> SessionStore:
    return SessionStore(tmp_path / "projects" / "-work", masker)


def write_session(path: Path, count: int = 5) -> list[bytes]:
    """Write a session of `count` user records and return its lines."""
    journal = Journal.open(path, Masker())
    for number in range(1, count + 1):
        journal.append("user", {"turn": number, "text": f'{{"ü{number}'})
    journal.close()
    return path.read_bytes().splitlines(keepends=True)


def turns(journal: Journal) -> list[int]:
    """The turns of all records that could be read."""
    return [record.body["turn"] for record in journal.records]


def reopened(path: Path) -> tuple[list[int], tuple[str, ...]]:
    """Open a session as the next process would: its turns, and what it says about the file."""
    journal = Journal.open(path, Masker())
    journal.close()
    return turns(journal), journal.notices
