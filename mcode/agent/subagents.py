"""The sub-agents of a session: which kinds there are, and one run of each from its task to its last answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.agent.skill_listing import LONGEST, listing
from mcode.call import FailureKind
from mcode.config.agent_files import AgentFile
from mcode.errors import UsageError
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping

    from mcode.agent.meter import Meter
    from mcode.agent.subagent_record import SubagentEvents
    from mcode.agent.turn import TurnLoop
    from mcode.call import Call
    from mcode.events import TurnFinished
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hooks import HookRunner
    from mcode.tool import ToolServices

GENERAL = "general-purpose"

SHARE = 0.01
"""Of the window, for the listing of kinds."""


async def _nothing() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Child:
    """One sub-agent, put together and ready to run."""

    loop: TurnLoop
    meter: Meter
    events: SubagentEvents
    opening: tuple[str, ...]
    """What stands before its task in its first message."""
    hooks: HookRunner
    """The session's, and those of its kind."""
    close: Callable[[], Awaitable[None]]
    leave: Callable[[], Awaitable[str]] = _nothing
    """After `close`: what it leaves behind, and where, for whoever reads its answer; empty for nothing."""


@dataclass(frozen=True, slots=True)
class Running:
    """A sub-agent at work, for /agents."""

    call: str
    kind: str
    task: str
    child: Child
    work: asyncio.Task[TurnFinished]


class Subagents:
    """Every call of the tool Agent passes here. Depth is one: a sub-agent has no such tool."""

    def __init__(
        self,
        make: Callable[[AgentFile, str, Call, Callable[[str], None]], Awaitable[Child]],
        window: int,
        in_background: Callable[[Coroutine[None, None, ToolResult], ToolServices], Awaitable[ToolResult]],
    ) -> None:
        """`make` puts one together: its kind, the model that was asked for, the call, and who shows its progress.

        `in_background` takes a run over whose result comes to the conversation later.
        """
        self._make = make
        self._window = window
        self._in_background = in_background
        self._kinds: dict[str, AgentFile] = {GENERAL: general_purpose()}
        self._running: dict[str, Running] = {}
        self.inner: dict[str, tuple[str, str]] = {}
        """By parent of a call that a sub-agent makes: the call that started the sub-agent, and its kind."""

    def put(self, agents: Iterable[AgentFile]) -> None:
        """Take in the kinds that files and the command line define."""
        self._kinds = {GENERAL: general_purpose(), **{agent.name: agent for agent in agents}}

    @property
    def kinds(self) -> Mapping[str, AgentFile]:
        return self._kinds

    @property
    def running(self) -> tuple[Running, ...]:
        return tuple(self._running.values())

    def listing(self) -> str:
        """What the model reads of the kinds."""
        return listing(tuple(self._kinds.values()), round(SHARE * self._window), LONGEST)

    def running_text(self) -> str:
        """Those at work, for behind a summary; empty where none is."""
        lines = [f"- {each.task} ({each.kind}, call {each.call})" for each in self.running]
        return "\n".join(("Sub-agents that still work; their answers come later:", *lines)) if lines else ""

    def stop(self, call: str) -> bool:
        """End one sub-agent; the conversation goes on without its answer. False where it does not run."""
        running = self._running.get(call)
        return running is not None and running.work.cancel()

    async def work(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        """Run one to its end, or begin with it in the background; raises UsageError for a kind that is not there."""
        wanted = str(arguments.get("subagent_type") or GENERAL)
        kind = self._kinds.get(wanted) or next(
            (each for name, each in self._kinds.items() if name.lower() == wanted.lower()), None
        )
        if kind is None:
            raise UsageError(
                f"There is no kind of agent {wanted!r}. Nothing was started. There are {', '.join(self._kinds)}."
            )
        run = self._run(kind, arguments, services.call, services.progress)
        if kind.background or arguments.get("run_in_background"):
            return await self._in_background(run, services)
        return await run

    async def _run(
        self, kind: AgentFile, arguments: JsonObject, call: Call, progress: Callable[[str], None]
    ) -> ToolResult:
        self.inner[call.id] = (call.id, kind.name)
        try:
            child = await self._make(kind, str(arguments.get("model") or ""), call, progress)
        except UsageError as error:
            return ToolResult(str(error), failure=FailureKind.TOOL_ERROR, summary="not started")
        try:
            about: JsonObject = {"agent_id": call.id, "agent_type": kind.name}
            started = await child.hooks.other("SubagentStart", about, kind.name)
            texts = (*child.opening, *started.notes, str(arguments["prompt"]))
            content: list[JsonObject] = [{"type": "text", "text": text} for text in texts if text]
            work = asyncio.ensure_future(child.loop.run(content, texts[-1], str(arguments["description"])))
            self._running[call.id] = Running(call.id, kind.name, str(arguments["description"]), child, work)
            finished = await self._wait(work)
        finally:
            self._running.pop(call.id, None)
            await child.close()
        return _result(kind, child, finished, await child.leave())

    async def _wait(self, work: asyncio.Task[TurnFinished]) -> TurnFinished | None:
        """The end of its turn; None where it was stopped alone. The end of the whole turn takes it along."""
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.wait({work})
            raise
        return None if work.cancelled() else work.result()


def general_purpose() -> AgentFile:
    """The kind that is always there."""
    prompt = Path(__file__).with_name("general_purpose.md").read_text("utf-8").strip()
    return AgentFile(
        GENERAL, "any task of several steps, such as a search whose details do not matter", prompt, "mcode"
    )


def _result(kind: AgentFile, child: Child, finished: TurnFinished | None, left: str) -> ToolResult:
    notes = (left,) if left else ()
    totals = child.meter.totals
    data: JsonObject = {
        "agent": kind.name,
        "answer": finished.text if finished is not None and finished.reason == "end" else "",
        "requests": totals.requests,
        "calls": child.events.calls,
        "input_tokens": totals.input_tokens + totals.cache_read + totals.cache_written,
        "output_tokens": totals.output_tokens,
        "cost": totals.cost,
    }
    figures = f"{_counted(totals.requests, 'request')}, {_counted(child.events.calls, 'call')}"
    if finished is None:
        text = f"The user stopped this sub-agent after {figures}; what it had changed stays changed."
        return ToolResult(text, data=data, failure=FailureKind.CANCELLED, summary="stopped", notes=notes)
    if finished.reason == "end":
        text = finished.text or "(It ended without a word.)"
        return ToolResult(text, data=data, summary=figures, notes=notes)
    text = f"The sub-agent did not come to its end ({finished.reason}) after {figures}: {finished.text}"
    stop = finished.text if finished.reason == "stopped" else None
    return ToolResult(
        text,
        data=data,
        failure=FailureKind.TOOL_ERROR,
        summary=f"ended: {finished.reason}",
        notes=notes,
        stop_turn=stop,
    )


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
