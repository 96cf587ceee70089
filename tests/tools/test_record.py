"""A session's file as a script: the recorded session and its replay agree, and no secret is in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcode.model.script import load_script
from tests.stage import stage, turns, use
from tools.record import main

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED = {"permissions": {"allow": ["Write"]}}


async def test_a_recorded_session_plays_again_with_the_same_results(tmp_path: Path) -> None:
    script = turns(
        [{"type": "text", "text": "First."}, use("Write", "w1", file_path="a.txt", content="one\n")],
        use("Read", "r1", file_path="a.txt"),
        "Done.",
    )
    async with stage(tmp_path / "first", script, settings=ALLOWED) as session:
        await session.say("write and read")
        before = [(outcome.call.tool, outcome.status) for outcome in session.outcomes]
        path = session.agent.session.journal.path
    recorded, messages = tmp_path / "script.json", tmp_path / "messages.jsonl"
    assert main([str(path), "--output", str(recorded), "--messages", str(messages)]) == 0
    load_script(recorded)
    said = [json.loads(line)["message"]["content"] for line in messages.read_text().splitlines()]
    assert said == ["write and read"]
    async with stage(tmp_path / "again", json.loads(recorded.read_text()), settings=ALLOWED) as session:
        for text in said:
            await session.say(text)
        assert [(outcome.call.tool, outcome.status) for outcome in session.outcomes] == before
        assert (session.project / "a.txt").read_text() == "one\n"


async def test_no_secret_of_the_session_is_in_the_script(tmp_path: Path) -> None:
    secret = "sk-" + "ant-" + "Rw83" * 8
    async with stage(tmp_path, turns(f"The key is {secret}.")) as session:
        await session.say("what is the key?")
        path = session.agent.session.journal.path
    recorded = tmp_path / "script.json"
    main([str(path), "--output", str(recorded)])
    assert secret not in recorded.read_text()
    assert "The key is" in recorded.read_text()


def test_a_file_that_is_no_session_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert main([str(tmp_path / "missing.jsonl")]) == 1
