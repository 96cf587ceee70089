"""A session that is compacted and killed again and again, in small; tools.long_session has the full size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.long_model import FACTS, facts_in, planted, problems_of
from tools.long_session import one_piece, with_kills

if TYPE_CHECKING:
    from pathlib import Path

WINDOW = 16_000


async def test_s_10_a_long_session_overflows_nothing_forgets_nothing_and_stays_level(tmp_path: Path) -> None:
    found = await one_piece(tmp_path.resolve() / "whole", 120, WINDOW)
    assert found.problems == []
    assert found.calls >= 120
    assert found.summaries >= 3
    assert found.dropped >= 3
    assert found.largest <= WINDOW
    assert found.growth < 5


def test_j_04_a_long_session_is_resumed_after_every_kill(tmp_path: Path) -> None:
    found = with_kills(tmp_path.resolve() / "killed", 45, WINDOW, kills=4, seed=7)
    assert found.problems == []
    assert found.kills == 4
    assert found.calls >= 45


def test_what_looks_at_the_requests_sees_what_is_wrong() -> None:
    text = {"type": "text", "text": planted()}
    assert facts_in({"messages": [{"role": "user", "content": [text]}]}) == FACTS
    use: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "b", "content": "x"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [text]},
        {"role": "assistant", "content": [use, use]},
        {"role": "assistant", "content": [result]},
        {"role": "user", "content": []},
        {"role": "assistant", "content": [use]},
    ]
    assert len(list(problems_of({"messages": messages}))) >= 6
