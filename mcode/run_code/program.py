"""One program, from its first frame to its end: it follows what the worker says and ends it at any limit."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.run_code.audit import Audit
from mcode.run_code.bigjson import encode, is_small
from mcode.run_code.bridge import Bridge
from mcode.run_code.engine import EngineUnusableError, WorkerFaultError, describe_code
from mcode.run_code.records import Ending, Fault, ProgramRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.call import Call
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.run_code.engine import Worker
    from mcode.run_code.names import ProgramTool
    from mcode.run_code.program_text import ProgramText
    from mcode.run_code.replies import Reply
    from mcode.run_code.session import Session

_LARGE = 256 * 1024
"""Characters of kept values from which on the first frame is written in a thread."""

_MOST = 1e9
_TIME_SIGNALS = frozenset({"SIGXCPU"})
_NEAR_MEMORY = 0.6
"""Share of the engine's memory from which on a bare `null` that is thrown means that there was no more."""


class Program:
    """Runs once. Every method is called from the event loop's thread."""

    def __init__(self, session: Session, call: Call, text: ProgramText) -> None:
        self._session = session
        self.call = call
        self.text = text
        self._tools = session.toolbox.tools
        self.record = ProgramRecord(call.id)
        self.audit = Audit(call.id, session.write_audit, session.mask)
        by_name: Mapping[str, ProgramTool] = {tool.name: tool for tool in self._tools}
        self.bridge = Bridge(session, self, by_name)
        self._worker: Worker | None = None
        self._stopped: Fault | None = None
        self._returned = False
        self._loop = asyncio.get_running_loop()
        self._watch: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._idle = True

    async def run(self) -> ProgramRecord:
        """Carry the program to its end and return what it did.

        Cancelling ends the worker and every call first; the record is complete then. Raises what a call raised
        that is no outcome: StorageError, or a bug.
        """
        began = time.monotonic()
        self.audit.start(self.call, self.text, self._session.limits, [tool.name for tool in self._tools])
        try:
            await self._run()
            self._release()
            await self._end_calls()
        except asyncio.CancelledError:
            self.record.fault = Fault(Ending.CANCELLED)
            raise
        finally:
            self._release()
            await self.bridge.abort()
            self.record.wall = time.monotonic() - began
        if self.bridge.error is not None:
            raise self.bridge.error
        return self.record

    def stop(self, fault: Fault) -> None:
        """End the program now; the first reason stands."""
        if self._stopped is None and not self._returned:
            self._stopped = fault
            if self._worker is not None:
                self._worker.kill()

    async def deliver(self, number: int, reply: Reply) -> bool:
        """Send the result of a call; False where the program is over."""
        if self._worker is None or self._returned or self._stopped is not None:
            return False
        self._expect_answer()
        await self._worker.send(b'{"replies":[[%d,' % number, reply.body, b"]]}")
        return True

    async def _run(self) -> None:
        size = len(self.text.given.encode("utf-8", "surrogatepass"))
        if size > self._session.limits.code:
            detail = f"its text has {size:,} bytes, and {self._session.limits.code:,} are taken at most"
            self.record.fault = Fault(Ending.TOO_LARGE, detail)
            return
        try:
            self._worker = await self._session.engine.take()
        except EngineUnusableError as error:
            self.record.fault = Fault(Ending.ENGINE_UNUSABLE, str(error))
            return
        self._expect_answer()
        large = self._session.kept.size > _LARGE
        await self._worker.send(await asyncio.to_thread(self._first_frame) if large else self._first_frame())
        try:
            await self._follow(self._worker)
        except WorkerFaultError as error:
            self._worker.kill()
            self.record.fault = Fault(Ending.WORKER_DIED, f"it sent what cannot be read ({error})")
        if self._stopped is not None:
            self.record.fault = self._stopped
        self.record.not_awaited = sum(not call.answered for call in self.record.calls)

    def _first_frame(self) -> bytes:
        limits = self._session.limits
        frame: JsonObject = {
            "code": self.text.code,
            "limits": {
                "calls": limits.calls,
                "argument": limits.argument,
                "timers": limits.timers * 1000,
                "result": limits.result,
                "log": limits.log,
                "value": limits.stored_value,
                "store": limits.stored_together,
                "keys": limits.stored_keys,
            },
            "store": dict(self._session.kept.texts),
        }
        return b'{"run":%b,"tools":%b}' % (encode(frame), self._session.toolbox.names)

    async def _follow(self, worker: Worker) -> None:
        """Take frame after frame until the program is over."""
        came_to_an_end = await worker.follow(
            lambda frame: self._stopped is not None or self._take_frame(frame)
        )
        if not came_to_an_end and self._stopped is None and not self._returned:
            self.record.fault = self._fault_of_death(await worker.death())

    def _take_frame(self, frame: JsonObject) -> bool:
        """Note what a frame says; True where it was the last one. Raises WorkerFaultError for one that is none."""
        out = frame.pop("out", None)
        if out is not None:
            if not isinstance(out, list):
                raise WorkerFaultError("a frame whose events are none")
            for event in cast("list[JsonValue]", out):
                self._take(event)
            if not frame:
                return False
        match frame:
            case {"idle": [float() | int() as cpu, float() | int() as rest]} if (
                _fits(cpu, rest) and len(frame) == 1
            ):
                self.record.cpu = float(cpu)
                self._expect_nothing(float(rest))
                return False
            case {"end": [str(kind), str(detail), float() | int() as cpu, int(peak)]} if (
                _fits(cpu, 0) and len(frame) == 1
            ):
                self._note_end(kind, detail, float(cpu), peak)
                return True
            case _:
                raise WorkerFaultError(f"a frame with {', '.join(map(repr, list(frame)[:3]))}")

    def _take(self, event: JsonValue) -> None:
        """Note one event, or act on it; raises WorkerFaultError for one that is none."""
        record = self.record
        match event:
            case None:
                pass
            case ["call", int(number), str(tool), given, int(line), str(fault)]:
                self._take_call(number, tool, given, line, fault)
            case ["log", str(), str(text)]:
                if record.log_size + len(text) <= self._session.limits.log + len(record.log):
                    record.log.append(text)
                    record.log_size += len(text)
            case ["text", str(text)] if record.texts_size + len(text) <= self._session.limits.result:
                record.texts.append(text)
                record.texts_size += len(text)
            case ["store", str(key), str() | None as value]:
                if self._session.kept.put(key, value):
                    record.stored[key] = None
            case ["image"]:
                record.images += 1
            case ["begun", [int(start), int(by)]]:
                record.shift = (start, by)
            case ["done", str() | None as value, [*kinds]]:
                record.value = value
                record.described = frozenset(map(str, kinds))
                self._returned = True
            case _:
                self._take_failure(event)

    def _take_call(self, number: int, tool: str, given: JsonValue, line: int, fault: str) -> None:
        limits = self._session.limits
        if (
            number != len(self.record.calls) + 1
            or number > limits.calls
            or not _is_given(given, limits.argument)
        ):
            raise WorkerFaultError(f"a call that it may not make, number {number}")
        self.bridge.start(number, tool, given, line, fault)

    def _take_failure(self, event: JsonValue) -> None:
        record = self.record
        match event:
            case ["error", str(name), str(message), str(stack), str(where), str(thrown)]:
                message = f"{where}: {message}" if where else message
                kind = (
                    Ending.MEMORY_LIMIT
                    if (name, message) == ("InternalError", "out of memory")
                    else Ending.EXCEPTION
                )
                record.fault = Fault(kind, message, "null" if thrown else name, stack)
            case ["syntax", str(message), str(stack)]:
                record.fault = Fault(Ending.SYNTAX, message, "SyntaxError", stack)
            case ["fail", "too_large", int(size)]:
                most = self._session.limits.result
                detail = f"its result has {size:,} characters, and {most:,} are taken at most"
                record.fault = Fault(Ending.TOO_LARGE, detail)
            case ["fail", "call_limit"]:
                self.stop(Fault(Ending.CALL_LIMIT))
            case _:
                raise WorkerFaultError(f"an event that is none: {jsontext.dump(event)[:80]}")

    def _note_end(self, kind: str, detail: str, cpu: float, peak: int) -> None:
        record = self.record
        record.cpu, record.peak_memory = cpu, peak
        if kind and not self._returned:
            known = kind in {*Ending} and kind != Ending.OK
            record.fault = (
                Fault(Ending(kind), detail) if known else Fault(Ending.WORKER_DIED, f"{kind}: {detail}")
            )
        fault = record.fault
        if fault is not None and fault.name == "null":
            full = peak > self._session.limits.memory * _NEAR_MEMORY
            record.fault = Fault(Ending.MEMORY_LIMIT) if full else Fault(Ending.EXCEPTION, "null")

    def _fault_of_death(self, code: int) -> Fault:
        words = describe_code(code)
        return Fault(Ending.CPU_LIMIT if words in _TIME_SIGNALS else Ending.WORKER_DIED, words)

    async def _end_calls(self) -> None:
        """What becomes of calls that still run depends on how the program ended."""
        match self.record.ending:
            case Ending.OK:
                await self.bridge.finish()
            case Ending.CANCELLED | Ending.STOPPED_BY_USER | Ending.STOPPED_BY_HOOK:
                await self.bridge.abort("its program was stopped")
            case _:
                await self.bridge.wind_up()

    def _expect_answer(self) -> None:
        """The worker has something to do: it may take so long and no longer."""
        if self._idle:
            self._idle = False
            self._watch_until(0.0)

    def _expect_nothing(self, rest: float) -> None:
        """The worker waits for a reply, or for its own next timer in `rest` milliseconds (-1: none)."""
        self._idle = True
        self._deadline = None
        if rest >= 0:
            self._watch_until(rest / 1000)

    def _watch_until(self, later: float) -> None:
        """Move the deadline; the one timer looks at it when it fires, since there is a new one with every call."""
        loop = self._loop
        self._deadline = loop.time() + later + self._session.limits.watch
        if self._watch is None:
            self._watch = loop.call_at(self._deadline, self._look)

    def _look(self) -> None:
        loop = self._loop
        self._watch = None
        if self._deadline is not None and loop.time() >= self._deadline:
            allowed = self._session.limits.watch
            self.stop(Fault(Ending.CPU_LIMIT, f"it did not answer for {allowed:g} s"))
        elif self._deadline is not None:
            self._watch = loop.call_at(self._deadline, self._look)

    def _release(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._worker is not None:
            worker, self._worker = self._worker, None
            self._session.engine.release(worker)


def _is_given(given: JsonValue, most: int) -> bool:
    """Whether these can be a call's arguments: an object of moderate size, or at most so many characters of text."""
    return len(given) <= most if isinstance(given, str) else isinstance(given, dict) and is_small(given)


def _fits(cpu: float, rest: float) -> bool:
    """Whether seconds of CPU and milliseconds until a timer can be what they say."""
    return 0 <= cpu < _MOST and -1 <= rest < _MOST
