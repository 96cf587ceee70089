"""Who makes the call that the user is asked about: told in every front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.events import ApprovalRequested
from mcode.ui.line.approval import approval_lines
from mcode.ui.look import Look
from mcode.ui.tui.approval_rows import approval_rows
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

TOUCH = {"command": "touch made"}


@pytest.mark.parametrize(
    ("call", "made_by"),
    [
        (use("Bash", "toolu_b", **TOUCH), ("the sub-agent general-purpose", "the sub-agent general-purpose")),
        (
            use("run_code", "toolu_b", code="await tools.Bash({command: 'touch made'})"),
            ("run_code of the sub-agent general-purpose, call 1", "of the sub-agent general-purpose, call 1"),
        ),
    ],
    ids=["directly", "by a program"],
)
async def test_a_question_names_the_sub_agent_that_asks_directly_or_by_a_program(
    call: dict[str, object], made_by: tuple[str, str], tmp_path: Path
) -> None:
    started = use("call_tool", "toolu_a", name="Agent", arguments={"prompt": "w", "description": "d"})
    settings = {"permissions": {"allow": ["run_code"]}}
    async with stage(tmp_path, turns(started, call, "ok", "End."), settings=settings, new_prefixes=2) as here:
        here.answer("deny")
        await here.say("go")
        (asked,) = here.of(ApprovalRequested)
    assert asked.agent == "general-purpose"  # which is what an editor is told
    on_screen = "\n".join(row.text for row in approval_rows(asked, 200, start="/"))
    in_lines = "\n".join(approval_lines(asked, "1 of 1", Look(color=False), 200, start="/"))
    for shown, maker in zip((on_screen, in_lines), made_by, strict=True):
        (line,) = [line for line in shown.splitlines() if "asked by" in line]
        assert maker in line
