"""One trap at a time, headless; the whole folder and the terminal are in tests/wiring, all of it in tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.hostile_folders import TRAPS, look

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("trap", ["settings", "servers", "programs", "repositories"])
def test_w_01_each_trap_by_itself_starts_and_contacts_nothing(tmp_path: Path, trap: str) -> None:
    assert trap in TRAPS
    assert look(tmp_path, trap, "headless") == []
