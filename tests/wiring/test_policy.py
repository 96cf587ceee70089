"""What a session says of its permission mode when it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.events import Notice
from mcode.wiring.options import Options
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("options", "warned"),
    [(Options(skip_permissions=True), 1), (Options(mode="acceptEdits"), 0), (Options(), 0)],
)
async def test_bypass_permissions_warns_once_at_the_start(
    tmp_path: Path, options: Options, warned: int
) -> None:
    async with stage(tmp_path, turns("hi", "again"), options=options) as opened:
        await opened.say("hello")
        await opened.say("hello again")
        told = [notice for notice in opened.of(Notice) if "bypassPermissions" in notice.text]
        assert [notice.severity for notice in told] == ["warning"] * warned
        if warned:
            assert "run without a question" in told[0].text
            assert "critical and protected paths" in told[0].text
            assert "/mode default ends it" in told[0].text
