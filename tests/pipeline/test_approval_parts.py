"""What a question says of each command of a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.events import ApprovalRequested
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path


async def test_p_13_a_question_tells_the_parts_of_a_line_that_are_allowed_from_those_that_are_not(
    tmp_path: Path,
) -> None:
    script = turns(use("Bash", command="ls && echo hi | tee out && touch b"), "done")
    settings = {"permissions": {"allow": ["Bash(touch *)"]}}
    async with stage(tmp_path, script, settings=settings) as opened:
        opened.answer("deny")
        await opened.say("go")
        parts = opened.of(ApprovalRequested)[0].parts
    assert [(part.text, part.allowed) for part in parts] == [
        ("ls", True),
        ("echo hi", True),
        ("tee out", False),
        ("touch b", True),
    ]
    assert "Bash(touch *)" in parts[3].why
    assert "no rule allows mcode to run `tee out`" in parts[2].why


async def test_p_13_a_line_of_one_command_has_its_reason_alone(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Bash", command="touch b"), "done")) as opened:
        opened.answer("deny")
        await opened.say("go")
        assert opened.of(ApprovalRequested)[0].parts == ()
