"""run_code, the tool: it takes a program, has it run, and tells what came of it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.call import FailureKind
from mcode.errors import StorageError
from mcode.run_code.description import describe
from mcode.run_code.engine import Engine
from mcode.run_code.kept import KeptValues
from mcode.run_code.limits import Limits
from mcode.run_code.names import Toolbox, program_tools
from mcode.run_code.program import Program, Session
from mcode.run_code.program_text import ProgramText
from mcode.run_code.records import CallState, Ending, Fault
from mcode.run_code.report import LEAST, report, summary
from mcode.tool import Placement, Preview, Tool, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.call import Call
    from mcode.jsontext import JsonObject
    from mcode.run_code.bridge import Invoke
    from mcode.tool import ToolServices, Workspace

_FAILURES = {
    Ending.CANCELLED: FailureKind.CANCELLED,
    Ending.CALL_LIMIT: FailureKind.CALL_LIMIT,
    Ending.TOO_LARGE: FailureKind.TOO_LARGE,
    Ending.STOPPED_BY_USER: FailureKind.DENIED,
    Ending.STOPPED_BY_HOOK: FailureKind.HOOK_DENIED,
}
"""What a program's end is as a call's; every other failure is the tool's error."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where in a running program a call comes from, for whoever asks the user about it."""

    program: str
    """Id of the `run_code` call."""
    number: int
    line: int
    source: str
    """The line of the program that made the call."""
    waiting: int
    """Other calls of the program that have not run yet."""


def _write_nothing(program: str, record: JsonObject) -> None:
    del program, record


def _every_tool(tool: Tool) -> bool:
    del tool
    return True


def _unmasked(text: str) -> str:
    return text


class RunCode(Tool):
    """Runs one program at a time. `close` must be awaited at the end of the session."""

    name = "run_code"
    placement = Placement.TOP_LEVEL_ONLY
    output_limit = 200_000

    def __init__(
        self,
        invoke: Invoke,
        tools: Callable[[], Iterable[Tool]],
        limits: Limits | None = None,
        *,
        write_audit: Callable[[str, JsonObject], None] = _write_nothing,
        mask: Callable[[str], str] = _unmasked,
        is_loaded: Callable[[Tool], bool] = _every_tool,
        together: bool = False,
    ) -> None:
        """`invoke` is the road. `tools` gives every tool that the session shows, at any moment; those of now make
        the description, but for deferred ones, of which `is_loaded` says which can be called. `write_audit` gets
        a program's id and one record of its audit. `together`: the road awaits `before_body`.
        """
        self._limits = limits or Limits()
        self._engine = Engine(self._limits)
        kept = KeptValues(self._limits)
        toolbox = Toolbox(tools, is_loaded)
        self._session = Session(
            self._engine, invoke, self._limits, kept, toolbox, write_audit, mask, together
        )
        self._one_at_a_time = asyncio.Lock()
        self._running: dict[str, Program] = {}
        resident = (tool for tool in tools() if tool.placement is not Placement.DEFERRED)
        self.description = describe(program_tools((tool, True) for tool in resident))
        self.input_schema = {
            "type": "object",
            "properties": {
                "code": {"type": "string", "minLength": 1},
                "max_output_chars": {
                    "type": "integer",
                    "minimum": LEAST,
                    "maximum": self._limits.result_most,
                    "description": f"default {self._limits.result_shown}",
                },
            },
            "required": ["code"],
            "additionalProperties": False,
        }

    def warm(self) -> None:
        """Start a worker in the background, so that the first program need not wait for one."""
        self._engine.warm()

    async def close(self) -> None:
        """End the spare worker, and wait until none is left."""
        await self._engine.close()

    def stop(self, program: str, reason: str) -> bool:
        """End a running program for the user; False where it does not run. `program`: id of its `run_code` call."""
        running = self._running.get(program)
        if running is None:
            return False
        running.stop(Fault(Ending.STOPPED_BY_USER, reason))
        return True

    def cancel_call(self, call: Call) -> bool:
        """Cancel one call of a running program, which goes on; False where it does not run."""
        running = self._running.get(call.parent or "")
        return running is not None and running.bridge.cancel(call.id)

    async def before_body(self, call: Call) -> None:
        """Wait until a call that may run is the next in its program's order; returns at once for all others."""
        running = self._running.get(call.parent or "")
        if running is not None:
            await running.bridge.before_body(call.id)

    def site_of(self, call: Call) -> CallSite | None:
        """Where a program makes this call; None where no running program does."""
        running = self._running.get(call.parent or "")
        if running is None:
            return None
        record = next((each for each in running.record.calls if each.id == call.id), None)
        if record is None:
            return None
        waiting = running.record.count(CallState.WAITING, CallState.RUNNING) - 1
        source = running.text.line(record.line).strip()
        return CallSite(call.parent or "", record.number, record.line, source, waiting)

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        return Preview(ProgramText(arguments["code"]).title, arguments["code"])

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        text = ProgramText(arguments["code"])
        async with self._one_at_a_time:
            program = Program(self._session, services.call, text)
            self._running[services.call.id] = program
            try:
                await program.run()
            except asyncio.CancelledError as cancelled:
                with contextlib.suppress(StorageError):  # whatever happens, it stays a cancellation
                    cancelled.args = (await self._result(program, None, services),)
                raise
            finally:
                del self._running[services.call.id]
        return await self._result(program, arguments.get("max_output_chars"), services)

    async def _result(self, program: Program, wanted: int | None, services: ToolServices) -> ToolResult:
        record = program.record
        told = await report(
            record, program.text, self._limits, wanted, program.bridge.failures, services.spill_path
        )
        program.audit.end(record, told.shown)
        ending = record.ending
        data: JsonObject = {
            "status": str(ending),
            "calls": len(record.calls),
            "failed": record.count(CallState.FAILED),
            "denied": record.count(CallState.DENIED),
            "bytes_in": record.bytes_in,
            "chars_out": told.shown,
            "cpu_ms": round(record.cpu * 1000),
            "wall_ms": round(record.wall * 1000),
        }
        failure = None if ending is Ending.OK else _FAILURES.get(ending, FailureKind.TOOL_ERROR)
        return ToolResult(told.text, data=data, failure=failure, summary=summary(record, told.shown))
