"""A whole mcode in this process: the real rooms put together by the real wiring, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mcode.events import ApprovalRequested, ToolFinished
from mcode.model.script import Script, parse_script
from mcode.model.scripted import ScriptedClient
from tests.prefixes import check_prefixes, check_reach
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from mcode.agent.agent import Agent
    from mcode.call import Outcome
    from mcode.events import Event, TurnFinished
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench

E = TypeVar("E")


def use(tool: str, identifier: str = "", /, **arguments: Any) -> dict[str, Any]:
    """A tool_use block of a script."""
    return {"type": "tool_use", "id": identifier or f"toolu_{tool}", "name": tool, "input": arguments}


def turns(*replies: Any) -> dict[str, Any]:
    """A script: for each turn a text, one block, a list of blocks, or a whole reply."""
    return {"turns": [{"reply": _reply(given)} for given in replies]}


def _reply(given: Any) -> Any:
    if isinstance(given, str) or ("type" not in given and not isinstance(given, list)):
        return given
    blocks = cast("list[Any]", given if isinstance(given, list) else [given])
    calls = any(block["type"] == "tool_use" for block in blocks if not isinstance(block, str))
    return {"blocks": blocks, "stop_reason": "tool_use" if calls else "end_turn"}


@dataclass(slots=True)
class Stage:
    """One open session and everything that happened in it."""

    agent: Agent
    bench: Workbench
    client: ScriptedClient
    project: Path
    events: list[Event] = field(default_factory=list["Event"])

    async def say(self, text: str) -> TurnFinished:
        """Send a message and wait for the end of its turn."""
        return await asyncio.wait_for(self.agent.submit(text), 60)

    def of(self, kind: type[E]) -> list[E]:
        """All events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def outcomes(self) -> list[Outcome]:
        """What came of each call, in the order in which they ended."""
        return [event.outcome for event in self.of(ToolFinished)]

    def result(self, index: int = -1) -> Outcome:
        return self.outcomes[index]

    @property
    def journal(self) -> list[dict[str, Any]]:
        """The records as they stand in the file."""
        path = self.agent.session.journal.path
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    async def until(self, kind: type[Event]) -> None:
        """Wait until an event of a kind has come; TimeoutError after a minute."""
        async with asyncio.timeout(60):
            while not self.of(kind):
                await asyncio.sleep(0.005)

    def answer(self, choice: str, comment: str = "") -> None:
        """Attach as a front end that answers every approval in the same way."""
        self.agent.desk.attach()

        def receive(event: Event) -> None:
            if isinstance(event, ApprovalRequested):
                loop = asyncio.get_running_loop()
                loop.call_soon(self.agent.desk.decide, event.approval_id, choice, comment)

        self.agent.events.subscribe(receive)


@asynccontextmanager
async def stage(
    directory: Path,
    script: dict[str, Any] | Script,
    *,
    settings: dict[str, Any] | None = None,
    options: Options | None = None,
    source: str = "startup",
    reference: str | None = None,
    environment: dict[str, str] | None = None,
    start: bool = True,
    new_prefixes: int = 0,
    project: str = "project",
) -> AsyncGenerator[Stage]:
    """Open a session in `directory`/`project` with a home in `directory`/home; closed when the block ends.

    `settings` are the user's. Every request of the session is checked to extend the one before, but for
    `new_prefixes` that are begun on purpose.
    """
    client = ScriptedClient(script if isinstance(script, Script) else parse_script(script, "test"))
    bench = local_workbench(
        directory, client, settings=settings, options=options, environment=environment, project=project
    )
    agent = await bench.open_agent(source, reference)
    opened = Stage(agent, bench, client, bench.start)
    agent.events.subscribe(opened.events.append)
    try:
        if start:
            await agent.start(source)
        yield opened
    finally:
        await agent.close("other")
        await bench.pool.close()
    check_prefixes(client.requests, new_prefixes=new_prefixes)
    if not new_prefixes:
        builder = agent.builder
        check_reach(client.requests, [tool.name for tool in builder.deferred()], builder.shelf.way)
