"""Fixtures of the tests that drive the real binary's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.binary import Machine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.fresh(tmp_path)
