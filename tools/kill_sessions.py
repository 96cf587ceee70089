"""Kill sessions with SIGKILL at random moments, and look for anything acknowledged that is lost.

    python -m tools.kill_sessions [--kills N] [--seed N]

A session writes, edits and reads files over and over. Whatever its front end was told is acknowledged on a pipe.
After each kill the session must open, hold everything acknowledged, have a valid history, and every file must be
whole, with the start of its call in the journal. Then the same session goes on, and is killed again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.agent.conversation import Conversation
from mcode.events import AssistantMessage, ToolFinished, TurnStarted
from mcode.masking import Masker
from mcode.model.script import Reply, Script, Turn
from mcode.model.scripted import ScriptedClient
from mcode.session.store import SessionStore
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.events import Event
    from mcode.model.script import RequestView
    from mcode.session.journal import Record

KILLS_A_SESSION = 25
"""Kills after which a fresh session begins."""

LONGEST_LIFE = 0.6
"""Seconds until a session is killed at the latest; by then it has made some dozens of calls."""

LINES = 2_000
"""Lines of each file that is written."""


@dataclass(slots=True)
class Findings:
    """What went wrong, in words; all empty when nothing did."""

    kills: int = 0
    acknowledged: int = 0
    """Records that were acknowledged and looked for."""
    interrupted_calls: int = 0
    """Calls that a kill had ended in the middle."""
    problems: list[str] = field(default_factory=list[str])


def content(number: int) -> str:
    """What file `number` holds once it is written."""
    return "".join(f"file {number}, line {line}\n" for line in range(LINES))


def _work(view: RequestView) -> Reply:
    """The scripted model: write the next file, edit it, read it, for ever."""
    step = len(view.all_results)
    number, phase = divmod(step, 3)
    path = f"f{number}.txt"
    arguments: dict[str, Any] = {"file_path": path}
    if phase == 0:
        name = "Write"
        arguments["content"] = content(number)
    elif phase == 1:
        name = "Edit"
        arguments |= {"old_string": f"file {number}, line 7\n", "new_string": "edited\n"}
    else:
        name = "Read"
        arguments["limit"] = 5
    block = {"type": "tool_use", "id": f"toolu_{view.number}_{os.getpid()}", "name": name, "input": arguments}
    return Reply(({"type": "text", "text": f"step {step}"}, block), stop_reason="tool_use")


async def _live(directory: Path, reference: str | None, acknowledge: int) -> None:
    """Run a session until somebody kills it."""
    client = ScriptedClient(Script((Turn(_work, limit=sys.maxsize),)), record=False)
    settings = {"permissions": {"defaultMode": "acceptEdits"}}
    bench = local_workbench(directory, client, settings=settings)
    agent = await bench.open_agent("resume" if reference else "startup", reference)

    def receive(event: Event) -> None:
        match event:
            case TurnStarted(turn=turn):
                said: dict[str, Any] = {"user": turn}
            case AssistantMessage(message=message):
                said = {"assistant": message["id"]}
            case ToolFinished(outcome=outcome):
                said = {"call": outcome.call.id, "text": outcome.text}
            case _:
                return
        os.write(acknowledge, (json.dumps(said) + "\n").encode())

    agent.events.subscribe(receive)
    await agent.start("startup")
    os.write(acknowledge, (json.dumps({"session": agent.session.id}) + "\n").encode())
    await agent.submit("work")


def _kill_once(directory: Path, reference: str | None, life: float) -> list[dict[str, Any]]:
    """Start a session, kill it after `life` seconds, return what it had acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            asyncio.run(_live(directory, reference, writing))
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        first = pipe.readline()  # the session is open
        time.sleep(life)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        rest = pipe.read()
    whole = (first + rest).rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def _examine(directory: Path, session: str, acknowledged: list[dict[str, Any]], findings: Findings) -> None:
    """Open the session as a resume would, and compare."""
    store = SessionStore(_session_directory(directory), Masker({}))
    opened = store.open(session)
    try:
        _compare(opened.journal.records, acknowledged, findings)
        conversation = Conversation(opened.journal)
        findings.interrupted_calls += len(conversation.left_unfinished)
        for index, message in enumerate(conversation.history.messages):
            if message["role"] != ("user" if index % 2 == 0 else "assistant") or not message["content"]:
                findings.problems.append(f"{session}: message {index} is not valid")
        _check_files(directory / "project", opened.journal.records, findings)
    finally:
        opened.journal.close()


def _compare(records: Sequence[Record], acknowledged: list[dict[str, Any]], findings: Findings) -> None:
    users = {record.body["turn"] for record in records if record.type == "user"}
    messages = {record.body["message"].get("id") for record in records if record.type == "assistant"}
    calls = {record.body["id"]: record.body["text"] for record in records if record.type == "call_finished"}
    for said in acknowledged:
        findings.acknowledged += 1
        lost = (
            ("user" in said and said["user"] not in users)
            or ("assistant" in said and said["assistant"] not in messages)
            or ("call" in said and calls.get(said["call"]) != said["text"])
        )
        if lost:
            findings.problems.append(f"acknowledged, but not in the journal: {said}")


def _check_files(project: Path, records: Sequence[Record], findings: Findings) -> None:
    started = {
        Path(record.body["arguments"]["file_path"]).name
        for record in records
        if record.type == "call_started"
    }
    for path in project.iterdir():
        if ".mcode-tmp" in path.name:
            continue  # removed at the next start
        number = int(path.stem.removeprefix("f"))
        whole = content(number)
        edited = whole.replace(f"file {number}, line 7\n", "edited\n")
        if path.read_text() not in (whole, edited):
            findings.problems.append(f"{path.name} is neither old nor new")
        if path.name not in started:
            findings.problems.append(f"{path.name} was written, but the start of its call is not recorded")


def _session_directory(directory: Path) -> Path:
    return next((directory / "home" / ".mcode" / "projects").iterdir())


def kill_sessions(kills: int, seed: int, directory: Path) -> Findings:
    """Kill sessions below `directory` so many times; the same seed gives the same lives."""
    chance = random.Random(seed)
    findings = Findings()
    scratch, session, age = directory, "", 0
    while findings.kills < kills:
        if age % KILLS_A_SESSION == 0:
            scratch, session = directory / f"from-{findings.kills}", ""
            scratch.mkdir()
        acknowledged = _kill_once(scratch, session or None, chance.uniform(0.0, LONGEST_LIFE))
        age += 1
        findings.kills += 1
        named = [said["session"] for said in acknowledged if "session" in said]
        session = session or (named[0] if named else "")
        if session:
            _examine(scratch, session, acknowledged, findings)
        else:
            age = 0
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=20261129)
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="mcode-kills-"))
    try:
        findings = kill_sessions(options.kills, options.seed, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    for problem in findings.problems[:20]:
        print(f"  LOST: {problem}")
    print(
        f"{findings.kills} kills (seed {options.seed}): {findings.acknowledged} acknowledged records, "
        f"{findings.interrupted_calls} calls interrupted, {len(findings.problems)} problems"
    )
    return 1 if findings.problems else 0


if __name__ == "__main__":
    sys.exit(main())
