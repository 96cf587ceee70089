"""A terminal for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ui.line.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """The line front end, its first screen drawn."""
    with Terminal(tmp_path) as running:
        running.wait_for("F1: keys")
        yield running
