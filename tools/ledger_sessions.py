"""Random sessions with a scripted model whose own counter says how large each request was: the ledger against it.

    python -m tools.ledger_sessions [--sessions N] [--first SEED]

Definitions, system, messages and results of each request must add up to the provider's input tokens exactly, and the
estimate made before a request goes out must be within 5 % of them from the third request on. One line of result; the
code is 0 where both hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.commands.ledger_reading import ledger_of
from mcode.events import Ledger
from mcode.model.script import PromptCache
from mcode.model.script.values import reply, script_of, use
from mcode.model.scripted import ScriptedClient
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.model.script.values import Script

PARTS = ("definitions", "system", "messages", "results")

LOADING = ("call", "append", "reference")
"""Ways in which tools that were found come into the requests, one session each in turn."""

SESSIONS = 500

FURTHEST = 0.05
"""Share by which an estimate may be off after two responses."""


@dataclass(frozen=True, slots=True)
class Played:
    """One session that is over."""

    ledger: JsonObject
    shown: list[Ledger]
    """The meter's events, two for each request: before it went, and after the answer."""
    counted: list[int]
    """Input tokens of each request, by the stand-in."""

    @property
    def wrong(self) -> int:
        """Requests whose parts do not add up to what was counted."""
        requests = self.ledger["requests"]
        sums = [sum(each[part] for part in PARTS) for each in requests]
        missing = abs(len(requests) - len(self.counted))
        return missing + sum(one != other for one, other in zip(sums, self.counted, strict=False))

    @property
    def furthest(self) -> float:
        """How far, as a share, the estimate of any request from the third on was from what came back."""
        pairs = list(zip(self.shown[::2], self.shown[1::2], strict=False))[2:]
        return max((abs(total(before) / after.input_tokens - 1) for before, after in pairs), default=0.0)


def total(shown: Ledger) -> int:
    """All parts together."""
    return shown.definitions + shown.system + shown.messages + shown.results


PROGRAM = """\
// count lines
const found = await tools.Grep({pattern: %s, path: "text.md", output_mode: "content"});
return found.ok ? found.text.slice(0, %d) : "nothing";
"""


def random_script(seed: int) -> tuple[Script, int]:
    """Some turns of words, thoughts and calls, and how many messages of the user they take."""
    dice = random.Random(seed)
    replies: list[Any] = []
    messages = dice.randint(1, 4)
    for _ in range(messages):
        for _ in range(dice.randint(0, 3)):
            calls = dice.sample(random_calls(dice), dice.randint(1, 3))
            thought = {"type": "thinking", "thinking": "I wonder. " * dice.randint(1, 60)}
            said = [*([thought] if dice.random() < 0.3 else []), "I look. " * dice.randint(1, 40)]
            replies.append(reply(*said, *calls))
        replies.append(reply("word " * dice.randint(1, 300)))
    return script_of(*replies), messages


def random_calls(dice: random.Random) -> list[Any]:
    """One call of each kind, some of which fail."""
    pattern = "".join(dice.choices("abcdefgh (){}*=", k=dice.randint(1, 30)))
    words = dice.sample(("fetch a web page", "notebook", "select:WebFetch", "jobs", "memory", "xylophone"), 2)
    return [
        use("Grep", {"pattern": pattern, "path": "."}),
        use("Glob", {"pattern": f"*{dice.randint(0, 9)}*"}),
        use("Read", {"file_path": "text.md"}),
        use("tool_search", {"queries": words, "k": dice.randint(1, 5)}),
        use("run_code", {"code": PROGRAM % (json.dumps(dice.choice("aeiou")), dice.randint(10, 4000))}),
    ]


async def play(directory: Path, seed: int) -> Played:
    """One random session in an empty directory."""
    script, messages = random_script(seed)
    (directory / "project").mkdir(parents=True)
    (directory / "project" / "text.md").write_text("A line of text, and 12 figures.\n" * (seed % 90 + 1))
    client = ScriptedClient(script)
    loading = LOADING[seed % len(LOADING)]
    settings = {"mcode": {"toolSearch": {"mode": "true", "loading": loading}}}
    bench = local_workbench(directory, client, settings=settings)
    agent = await bench.open_agent("startup")
    shown: list[Ledger] = []

    def receive(event: Event) -> None:
        if isinstance(event, Ledger):
            shown.append(event)

    agent.events.subscribe(receive)
    try:
        await agent.start("startup")
        for number in range(messages):
            await asyncio.wait_for(agent.submit(f"message {number}: " + "please " * (seed * 7 % 50 + 1)), 60)
        counted = [PromptCache().count(body) for body in client.requests]
        return Played(ledger_of(agent), shown, counted)
    finally:
        await agent.close("other")
        await bench.close()


@dataclass(frozen=True, slots=True)
class Tally:
    """What many sessions came to."""

    sessions: int
    requests: int
    wrong: int
    """Requests whose parts do not add up to the provider's count."""
    furthest: float
    """The estimate that was off the most, as a share."""

    @property
    def holds(self) -> bool:
        return self.requests > 0 and self.wrong == 0 and self.furthest <= FURTHEST


async def play_all(sessions: int, first: int = 0) -> Tally:
    """So many random sessions, one after the other."""
    requests, wrong, furthest = 0, 0, 0.0
    for seed in range(first, first + sessions):
        with tempfile.TemporaryDirectory(prefix="mcode-ledger-") as directory:
            played = await play(Path(directory), seed)
        requests += len(played.counted)
        wrong += played.wrong
        furthest = max(furthest, played.furthest)
    return Tally(sessions, requests, wrong, furthest)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    given = parser.parse_args()
    tally = asyncio.run(play_all(given.sessions, given.first))
    print(
        f"ledger: {tally.sessions} random sessions of {tally.requests} requests, {tally.wrong} whose parts do not "
        f"add up to the provider's input tokens, estimates after two responses at most {tally.furthest:.2%} off (limit "
        f"{FURTHEST:.0%})"
    )
    return 0 if tally.holds else 1


if __name__ == "__main__":
    sys.exit(main())
