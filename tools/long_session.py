"""Thousands of tool calls in one session with a small window: compacted again and again, killed again and again.

    python -m tools.long_session [--calls N] [--window N] [--kills N] [--seed N]

Twice: once in one piece, with memory as the process's resident size after a collection, and once killed with SIGKILL
at random moments and resumed after each. The model looks at every request: whether the window holds it, whether an
endpoint would take it, and whether what the user said at the beginning still stands in it. The code is 0 where nothing
was wrong, memory grew by at most 12 MB after the first tenth, and the summaries were at least 20.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.agent.conversation import Conversation
from mcode.events import Compacted, ToolFinished
from mcode.masking import Masker
from mcode.session.store import SessionStore
from mcode.wiring.options import Options
from tools.local_session import local_workbench
from tools.long_model import FACTS, LongModel, planted, problems_of
from tools.soak import resident

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.agent import Agent
    from mcode.events import Event
    from mcode.wiring.workbench import Workbench

GROWTH_LIMIT = 12.0
"""Megabytes after the first tenth of the calls."""

LEAST_SUMMARIES = 20

MOST_PROBLEMS = 20
"""Problems after which nothing more is to be learned."""

LONGEST_LIFE = 0.25
"""Seconds of work after which a session is killed at the latest."""


@dataclass(slots=True)
class Findings:
    """What was found."""

    calls: int = 0
    requests: int = 0
    largest: int = 0
    """Tokens of the largest request, the room for its answer included."""
    summaries: int = 0
    dropped: int = 0
    """Times that it was enough to put old results into files."""
    prefixes: int = 0
    """Requests that did not begin with the one before."""
    sizes: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    """Calls so far, and megabytes."""
    kills: int = 0
    interrupted: int = 0
    """Calls that a kill had ended in the middle."""
    problems: list[str] = field(default_factory=list[str])

    @property
    def growth(self) -> float:
        """Megabytes between the first tenth and the end."""
        early = next((size for calls, size in self.sizes if calls >= self.calls / 10), 0.0)
        return self.sizes[-1][1] - early if self.sizes else 0.0


def make_project(directory: Path) -> None:
    """The files that the session reads."""
    project = directory / "project"
    project.mkdir(parents=True)
    for at in range(7):
        (project / f"file-{at}.txt").write_text("".join(f"line {line} of file {at}\n" for line in range(90)))


def workbench(directory: Path, model: LongModel, window: int) -> Workbench:
    """The real wiring around the model."""
    settings = {"mcode": {"maxCallsPerTurn": 0, "window": window, "maxTokens": window // 10}}
    return local_workbench(directory, model, options=Options(skip_permissions=True), settings=settings)


async def one_piece(
    directory: Path, calls: int, window: int, size: Callable[[], float] = resident
) -> Findings:
    """So many calls in one life of the program, and every fact is asked for at the end; `size` in megabytes."""
    make_project(directory)
    found = Findings()
    model = LongModel(window, found.problems.append)
    bench = workbench(directory, model, window)
    agent = await bench.open_agent("startup")

    def count(event: Event) -> None:
        if isinstance(event, ToolFinished):
            found.calls += 1
        elif isinstance(event, Compacted):
            found.summaries += bool(event.summary)
            found.dropped += not event.summary

    agent.events.subscribe(count)
    try:
        await agent.start("startup")
        await _say(agent, planted(), found)
        while found.calls < calls:
            await _say(agent, "go on", found)
            found.sizes.append((found.calls, size()))
        for name, value in FACTS.items():
            answer = await _say(agent, f"What is the {name}?", found)
            if answer != f"It is {value}.":
                found.problems.append(f"asked for the {name}, the model says: {answer}")
    finally:
        await agent.close("other")
        await bench.close()
    found.requests, found.largest, found.prefixes = model.requests, model.largest, model.prefixes
    if found.prefixes > found.summaries + found.dropped:
        found.problems.append(f"{found.prefixes} requests did not begin with the one before")
    return found


async def _say(agent: Agent, text: str, found: Findings) -> str:
    ended = await agent.submit(text)
    if ended.reason != "end":
        found.problems.append(f"after {found.calls} calls a turn ended with {ended.reason}: {ended.text}")
        raise RuntimeError(found.problems[-1])
    return ended.text


async def _live(directory: Path, reference: str | None, window: int, calls: int, pipe: int) -> None:
    """Go on with a session until somebody kills it or it has made so many calls; tell of it on a pipe."""

    def say(said: dict[str, Any]) -> None:
        os.write(pipe, (json.dumps(said) + "\n").encode())

    model = LongModel(window, lambda text: say({"problem": text}))
    bench = workbench(directory, model, window)
    agent = await bench.open_agent("resume" if reference else "startup", reference)
    made = 0

    def count(event: Event) -> None:
        nonlocal made
        if isinstance(event, ToolFinished):
            made += 1
            say({"call": event.outcome.call.id})
        elif isinstance(event, Compacted):
            say({"summary": bool(event.summary)})

    agent.events.subscribe(count)
    await agent.start("resume" if reference else "startup")
    say({"session": agent.session.id})
    begun = agent.turn > 0
    while made < calls:
        ended = await agent.submit("go on" if begun else planted())
        begun = True
        if ended.reason != "end":
            say({"problem": f"a turn ended with {ended.reason}: {ended.text}"})
            break
    say({"finished": True})


def _life(
    directory: Path, reference: str | None, window: int, calls: int, seconds: float | None
) -> list[dict[str, Any]]:
    """One life in a process of its own, killed after `seconds` of work; what it has told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            asyncio.run(_live(directory, reference, window, calls, writing))
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        first = pipe.readline()  # the session is open
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        rest = pipe.read()
        os.waitpid(child, 0)
    whole = (first + rest).rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def with_kills(directory: Path, calls: int, window: int, kills: int, seed: int) -> Findings:
    """About so many calls of one session that is killed so many times, and resumed after each."""
    make_project(directory)
    chance = random.Random(seed)
    found = Findings()
    session = ""
    while (found.kills < kills or found.calls < calls) and len(found.problems) < MOST_PROBLEMS:
        last = found.kills >= kills
        life = None if last else chance.uniform(0.0, LONGEST_LIFE)
        told = _life(directory, session or None, window, calls - found.calls if last else sys.maxsize, life)
        found.kills += not last
        session = session or next((said["session"] for said in told if "session" in said), "")
        found.problems += [f"life {found.kills}: {said['problem']}" for said in told if "problem" in said]
        found.calls += sum("call" in said for said in told)
        found.summaries += sum(said.get("summary") is True for said in told)
        found.dropped += sum(said.get("summary") is False for said in told)
        if last and {"finished": True} not in told:
            found.problems.append("the last life did not come to its end")
        if session:
            _examine(directory, session, {said["call"] for said in told if "call" in said}, found)
    return found


def _examine(directory: Path, session: str, acknowledged: set[str], found: Findings) -> None:
    """Open the session as a resume would: it must hold what was told, and make a request that can be sent."""
    projects = directory / "home" / ".mcode" / "projects"
    opened = SessionStore(next(projects.iterdir()), Masker({})).open(session)
    try:
        conversation = Conversation(opened.journal)
        lost = acknowledged - conversation.history.used_ids
        if lost:
            found.problems.append(f"kill {found.kills}: lost {', '.join(sorted(lost))}")
        messages = conversation.history.messages
        found.problems += [f"kill {found.kills}: {text}" for text in problems_of({"messages": messages})]
        found.interrupted += len(conversation.left_unfinished)
    finally:
        opened.journal.close()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--window", type=int, default=60_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--trace", action="store_true", help="show the size after each turn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcode-long-") as name:
        killed = with_kills(
            Path(name).resolve() / "killed", given.calls, given.window, given.kills, given.seed
        )
        whole = asyncio.run(one_piece(Path(name).resolve() / "whole", given.calls, given.window))
    for calls, size in whole.sizes if given.trace else ():
        sys.stdout.write(f"  {calls:6} {size:8.1f} MB\n")
    for problem in (*whole.problems, *killed.problems)[:20]:
        sys.stdout.write(f"  WRONG: {problem}\n")
    sys.stdout.write(
        f"in one piece: {whole.calls} calls, {whole.requests} requests, the largest {whole.largest} of {given.window} "
        f"tokens, {whole.summaries} summaries, {whole.dropped} times results alone went to files, "
        f"{whole.growth:+.1f} MB after the first tenth, {len(whole.problems)} problems\n"
        f"killed: {killed.kills} kills (seed {given.seed}), {killed.calls} calls, {killed.interrupted} interrupted, "
        f"{killed.summaries} summaries, {len(killed.problems)} problems\n"
    )
    fine = not whole.problems and not killed.problems and whole.growth <= GROWTH_LIMIT
    return 0 if fine and whole.summaries >= LEAST_SUMMARIES else 1


if __name__ == "__main__":
    raise SystemExit(main())
