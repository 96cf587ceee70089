"""Runs the session's programs one at a time and answers questions about the one that runs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from mcode.call import CallSite, FailureKind
from mcode.errors import StorageError
from mcode.run_code.engine import Engine
from mcode.run_code.kept import KeptValues
from mcode.run_code.names import Toolbox
from mcode.run_code.program import Program
from mcode.run_code.program_text import ProgramText
from mcode.run_code.records import CallState, Ending, Fault
from mcode.run_code.report import report, summary
from mcode.run_code.session import Session
from mcode.tool import ToolResult

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.jsontext import JsonObject
    from mcode.run_code.bridge import Bridge
    from mcode.run_code.tool import Surroundings
    from mcode.tool import ToolServices

_FAILURES = {
    Ending.CANCELLED: FailureKind.CANCELLED,
    Ending.CALL_LIMIT: FailureKind.CALL_LIMIT,
    Ending.TOO_LARGE: FailureKind.TOO_LARGE,
    Ending.STOPPED_BY_USER: FailureKind.DENIED,
    Ending.STOPPED_BY_HOOK: FailureKind.HOOK_DENIED,
}
"""What a program's end is as a call's; every other failure is the tool's error."""


class Runner:
    """What `RunCode` needs once there is something to run."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.engine = Engine(surroundings.limits, surroundings.confine)
        self._limits = surroundings.limits
        self._mask = surroundings.mask
        self._session = Session(
            engine=self.engine,
            invoke=surroundings.invoke,
            limits=surroundings.limits,
            kept=KeptValues(surroundings.limits),
            toolbox=Toolbox(surroundings.tools, surroundings.is_loaded, surroundings.placement),
            write_audit=surroundings.write_audit,
            mask=surroundings.mask,
            together=surroundings.together,
        )
        self._one_at_a_time = asyncio.Lock()
        self._running: dict[str, Program] = {}

    async def run(self, code: str, wanted: int | None, services: ToolServices) -> ToolResult:
        """Run a program to its end; `wanted`: characters of result that the model asked for.

        The CancelledError of a cancelled one has the ToolResult so far as its argument.
        """
        identifier = services.call.id
        async with self._one_at_a_time:
            text = ProgramText(code)
            program = Program(self._session, services.call, text)
            self._running[identifier] = program
            try:
                await program.run()
            except asyncio.CancelledError as cancelled:
                with contextlib.suppress(StorageError):  # whatever happens, it stays a cancellation
                    cancelled.args = (await self._result(program, None, services),)
                raise
            finally:
                del self._running[identifier]
        return await self._result(program, wanted or text.output_chars, services)

    def stop(self, program: str, reason: str) -> bool:
        """End a running program for the user; False where it does not run."""
        running = self._running.get(program)
        if running is None:
            return False
        running.stop(Fault(Ending.STOPPED_BY_USER, reason))
        return True

    def cancel_call(self, call: str) -> bool:
        """Cancel one call of a running program, which goes on; False where it does not run."""
        return any(running.bridge.cancel(call) for running in self._running.values())

    def bridge_of(self, call: Call) -> Bridge | None:
        """What carries this call; None where no running program makes it."""
        running = self._running.get(call.parent or "")
        return running.bridge if running is not None else None

    def why_cancelled(self, call: Call) -> str:
        """What ended a running program's call, where that was no interrupt; else empty."""
        running = self._running.get(call.parent or "")
        record = running.record.call(call.id) if running is not None else None
        return record.cancelled_by if record is not None else ""

    def site_of(self, call: Call) -> CallSite | None:
        """Where a program makes this call; None where no running program does."""
        running = self._running.get(call.parent or "")
        if running is None:
            return None
        record = running.record.call(call.id)
        if record is None:
            return None
        states = running.record.states()
        waiting = states[CallState.WAITING] + states[CallState.RUNNING] - 1
        source = running.text.line(record.line).strip()
        title = running.text.title
        return CallSite(call.parent or "", title, record.number, record.line, source, waiting)

    async def _result(self, program: Program, wanted: int | None, services: ToolServices) -> ToolResult:
        record, states = program.record, program.record.states()
        told = await report(
            record,
            program.text,
            self._limits,
            wanted,
            program.bridge.failures,
            services.spill_path,
            self._mask,
        )
        program.audit.end(record, told.shown)
        ending = record.ending
        data: JsonObject = {
            "status": str(ending),
            "calls": len(record.calls),
            "failed": states[CallState.FAILED],
            "denied": states[CallState.DENIED],
            "bytes_in": record.bytes_in,
            "chars_out": told.shown,
            "cpu_ms": round(record.cpu * 1000),
            "wall_ms": round(record.wall * 1000),
        }
        failure = None if ending is Ending.OK else _FAILURES.get(ending, FailureKind.TOOL_ERROR)
        stop = record.fault.message if record.fault and ending is Ending.STOPPED_BY_HOOK else None
        return ToolResult(
            told.text,
            data=data,
            failure=failure,
            summary=summary(record, told.shown, self._limits.calls),
            stop_turn=stop,
        )
