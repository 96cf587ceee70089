"""Fixtures of the tests of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.run_code.workplace import Workplace, workplace

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Workplace]:
    """A workplace whose processes are all gone when the test is over."""
    async with workplace(tmp_path) as opened:
        yield opened
