"""Small floods through a whole session; `python -m tools.floods` sends a hundred megabytes each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tools.floods import GROWTH_LIMIT, TEXT_LIMIT, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
async def test_b_07_l_03_floods_leave_memory_loop_and_result_within_bounds(tmp_path: Path) -> None:
    for flood in await run(tmp_path.resolve(), 2):
        assert flood.growth <= GROWTH_LIMIT, flood
        assert flood.characters <= TEXT_LIMIT, flood
        assert flood.worked < 0.5, flood
