"""What ends a headless run is said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.headless import HeadlessFrontEnd
from tests.stage import stage, turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Output:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.remarks: list[str] = []

    def answer(self, text: str) -> None:
        self.answers.append(text)

    def remark(self, text: str) -> None:
        self.remarks.append(text)


async def prompts() -> AsyncIterator[str]:
    yield "hi"


async def test_j_07_a_session_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    output = Output()
    async with stage(tmp_path, turns("hello")) as opened:
        front_end = HeadlessFrontEnd(opened.agent, output)
        opened.agent.session.journal.close()
        assert await front_end.run(prompts()) == 1
    assert output.answers == []
    (said,) = [text for text in output.remarks if "Nothing can be written to" in text]
    assert "the session is closed" in said
    assert opened.client.requests == []
