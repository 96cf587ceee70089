"""What a session says of its permission mode when it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.events import ApprovalRequested, Notice
from mcode.wiring.options import Options
from tests.stage import stage, turns, use

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


async def test_with_permission_prompts_none_what_would_ask_is_denied_with_the_reason(tmp_path: Path) -> None:
    script = turns(use("Bash", command="make install"), "It was denied.")
    async with stage(tmp_path, script, options=Options(ask_nobody=True)) as opened:
        opened.agent.desk.attach()
        await opened.say("install it")
        assert opened.of(ApprovalRequested) == []
        (outcome,) = opened.outcomes
        assert outcome.is_error
        assert "--permission-prompts none" in outcome.text
