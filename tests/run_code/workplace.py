"""A place for programs to run in, with a road that is nothing but functions of the test."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from mcode.call import Call, FailureKind, Outcome, Status
from mcode.run_code.limits import Limits
from mcode.run_code.tool import RunCode, Surroundings
from mcode.tool import Effect, Placement, Tool, ToolResult, Workspace
from tests.children import no_process_left

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.run_code.engine import Confine
    from mcode.tool import Question, ToolServices

Body = Callable[[dict[str, Any]], Any]
"""What a tool of the test does: it gets the arguments and returns its data, an Outcome's changes, or a future."""

QUICK = Limits(cpu=0.15, cpu_grace=0.5, memory=48 * 1024 * 1024, after_failure=0.3)
"""Small budgets, so that what runs into one does so soon."""

OBJECT: JsonObject = {"type": "object"}


class Named(Tool):
    """A tool that only has a name and a schema; the workplace's road does its work."""

    def __init__(
        self, name: str, *, effects: frozenset[Effect], source: str, placement: Placement, schema: JsonObject
    ) -> None:
        self.name = name
        self.description = f"Does {name}. And more."
        self.input_schema = schema
        self.effects = effects
        self.source = source
        self.placement = placement

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Failed:
    """What a body returns for a call that fails."""

    kind: FailureKind
    message: str
    status: Status = Status.FAILED


@dataclass(slots=True)
class Services:
    """The services of one run_code call."""

    call: Call
    workspace: Workspace
    directory: Path
    number: itertools.count[int]

    def progress(self, line: str) -> None:
        del line

    def spill_path(self, suffix: str) -> Path:
        return self.directory / f"output-{next(self.number)}{suffix}"

    async def keep_bytes(self, path: Path, old: bytes | None, mode: int | None) -> None:
        del path, old, mode

    async def note_left(self, path: Path, new: bytes) -> None:
        del path, new

    async def ask(self, questions: Sequence[Question]) -> None:
        del questions


@dataclass(frozen=True, slots=True)
class Ran:
    """One program's end."""

    result: ToolResult
    audit: list[dict[str, Any]]

    @property
    def text(self) -> str:
        return self.result.text

    @property
    def status(self) -> str:
        return self.result.data["status"]

    @property
    def value(self) -> str:
        """The text of a program that ended well, without its status line."""
        assert self.status == "ok", self.text
        return self.text.partition("\n\n")[2]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [record for record in self.audit if record["type"] == "call"]


class Workplace:
    """Runs programs and remembers their calls."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._numbers = itertools.count(1)
        self._files = itertools.count(1)
        self._bodies: dict[str, Body] = {}
        self._tools: list[Tool] = []
        self._audits: dict[str, list[dict[str, Any]]] = {}
        self.calls: list[Call] = []
        """In the order in which they set out."""
        self.running = 0
        self.most_running = 0
        self._run_code: RunCode | None = None
        self.limits = QUICK
        self.together = False
        self.confine: Confine | None = None
        """Puts the engines into a sandbox."""
        self.loaded: set[str] = set()
        """Deferred tools that the model has seen."""

    def tool(
        self,
        name: str,
        body: Body,
        *,
        reads: bool = True,
        source: str = "core",
        placement: Placement = Placement.RESIDENT,
        schema: JsonObject = OBJECT,
    ) -> None:
        """Add a tool. `reads`: it has no effects."""
        effects = frozenset({Effect.READS_FILES if reads else Effect.WRITES_FILES})
        self._tools.append(Named(name, effects=effects, source=source, placement=placement, schema=schema))
        self._bodies[name] = body

    @property
    def run_code(self) -> RunCode:
        if self._run_code is None:
            self._run_code = RunCode(
                Surroundings(
                    self._invoke,
                    lambda: self._tools,
                    self.limits,
                    self._keep_audit,
                    lambda text: text.replace("hush", "(masked)"),
                    lambda tool: tool.name in self.loaded,
                    together=self.together,
                    confine=self.confine,
                )
            )
        return self._run_code

    def _keep_audit(self, program: str, kind: str, record: JsonObject) -> None:
        self._audits.setdefault(program, []).append({"type": kind, "program": program, **record})

    async def run(self, code: str, **arguments: Any) -> Ran:
        """Run one program to its end."""
        return await self.start(code, **arguments)

    def start(self, code: str, **arguments: Any) -> asyncio.Task[Ran]:
        identifier = f"p{next(self._numbers)}"
        return asyncio.create_task(self._ran(identifier, code, arguments))

    async def _ran(self, identifier: str, code: str, arguments: dict[str, Any]) -> Ran:
        call = Call(identifier, "run_code", {"code": code, **arguments}, turn=1)
        services = Services(call, Workspace(self._directory), self._directory, self._files)
        result = await self.run_code.run(call.arguments, services)
        return Ran(result, self._audits[identifier])

    async def close(self) -> None:
        if self._run_code is not None:
            await self._run_code.close()

    async def _invoke(self, call: Call) -> Outcome:
        self.calls.append(call)
        if call.fault is not None:
            return outcome_of(call, Failed(FailureKind.INVALID_ARGUMENTS, call.fault))
        if call.tool not in self._bodies:
            return outcome_of(call, Failed(FailureKind.UNKNOWN_TOOL, f"no {call.tool}"))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            returned = self._bodies[call.tool](call.arguments)
            if inspect.isawaitable(returned):
                returned = await returned
        finally:
            self.running -= 1
        return outcome_of(call, returned)


def outcome_of(call: Call, returned: Any) -> Outcome:
    """What a body returned, as the road's outcome: text, data, or a failure."""
    match returned:
        case Failed(kind, message, status):
            decision = "denied by you" if message.startswith("the user said no") else ""
            return Outcome(
                call, status, message, full_text=message, failure=kind, summary=message, decision=decision
            )
        case Outcome():
            return returned
        case str():
            return Outcome(call, Status.OK, returned[:100], full_text=returned, summary="done")
        case _:
            return Outcome(call, Status.OK, "text", data=returned, full_text="the text", summary="done")


@asynccontextmanager
async def workplace(directory: Path) -> AsyncGenerator[Workplace]:
    """Open one; nothing of it runs on when the block ends."""
    with no_process_left():
        place = Workplace(directory)
        try:
            yield place
        finally:
            await place.close()
