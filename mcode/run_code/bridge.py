"""The only link between a program and the road: its requests become calls, their outcomes become replies."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

from mcode.call import Call, Origin, Status
from mcode.run_code.arguments import read_arguments
from mcode.run_code.description import one_line
from mcode.run_code.lanes import Lanes
from mcode.run_code.records import CallRecord, CallState, Ending, Fault, well_formed
from mcode.run_code.replies import Reply, refusal, reply_to

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.call import Outcome
    from mcode.run_code.arguments import Given
    from mcode.run_code.audit import Audit
    from mcode.run_code.lanes import Ticket
    from mcode.run_code.names import ProgramTool
    from mcode.run_code.records import ProgramRecord
    from mcode.run_code.session import Session
    from mcode.tool import Access

_FAILED = "its program has failed"

_STATES = {
    Status.OK: CallState.OK,
    Status.FAILED: CallState.FAILED,
    Status.DENIED: CallState.DENIED,
    Status.CANCELLED: CallState.CANCELLED,
}


class Program(Protocol):
    """What the bridge needs of the program it serves."""

    call: Call
    """The call of run_code that it runs for."""
    record: ProgramRecord
    audit: Audit

    async def deliver(self, number: int, reply: Reply) -> bool:
        """Hand a reply to the worker; False where there is none any more."""
        ...

    def stop(self, fault: Fault) -> None:
        """End the program; its running calls are cancelled."""
        ...


class Bridge:
    """Carries the calls of one program."""

    def __init__(self, session: Session, program: Program, tools: Mapping[str, ProgramTool]) -> None:
        """`tools`: those that the program can call, by the names that it calls them by."""
        self._invoke = session.invoke
        self._caller = program.call
        self._program = program
        self._tools = tools
        self._limits = session.limits
        self._audit = program.audit
        self._lanes = Lanes(session.limits.at_once, together=session.together)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._tickets: dict[str, Ticket] = {}
        self._closing = False
        self._denials = 0
        self._in_flight = 0
        self.failures: list[CallRecord] = []
        """Failed calls whose result has reached the program, the latest last."""
        self.error: BaseException | None = None
        """What a call raised: the session's storage failed, or there is a bug. Nothing that is the program's."""

    def start(self, number: int, tool: str, given: Given, line: int, fault: str) -> None:
        """Take a call on; `number` counts from 1. `fault` says why there are no arguments."""
        known = self._tools.get(tool)
        tool, fault = well_formed(tool), well_formed(fault)
        record = CallRecord(
            number,
            id=f"{self._caller.id}_{number}",
            tool=tool,
            line=line,
            read_only=known is not None and known.tool.read_only,
            given=given,
            step=self._program.record.steps_answered + 1,
        )
        self._program.record.calls.append(record)
        ticket = self._lanes.join(read_only=record.read_only)
        self._tickets[record.id] = ticket
        self._tasks[number] = asyncio.create_task(self._run(record, ticket, fault))

    def cancel(self, call_id: str) -> bool:
        """Cancel one call; the program gets `cancelled` and goes on. False where it does not run."""
        for record in self._program.record.calls:
            task = self._tasks.get(record.number)
            if record.id == call_id and task is not None:
                return self._cancel(record, "this call was cancelled")
        return False

    async def before_asking(self, call_id: str) -> None:
        """Wait until the earlier calls of the program are asked about, or need not be."""
        ticket = self._tickets.get(call_id)
        if ticket is not None:
            await self._lanes.asking(ticket)

    async def before_body(self, call_id: str) -> bool:
        """Wait until the body of a call that was let through may run; True where it had to wait."""
        ticket = self._tickets.get(call_id)
        if ticket is None:
            return False
        waited = await self._lanes.body(ticket)
        ticket.let_through = True
        return waited

    async def before_preview(self, call_id: str, access: Access) -> None:
        """Wait until the files that the call would change are as earlier calls leave them."""
        ticket = self._tickets.get(call_id)
        if ticket is not None:
            await self._lanes.preview(ticket, frozenset(access.writes), anything=access.command is not None)

    async def finish(self) -> None:
        """The program returned: run what it started and what it only issued."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def wind_up(self) -> None:
        """The program failed: drop what has not started, give what runs a moment, then cancel it."""
        self._closing = True
        for record in self._program.record.calls:
            if record.state is CallState.WAITING and record.number in self._tasks:
                self._cancel(record, _FAILED)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=self._limits.after_failure)
        await self.abort(_FAILED)

    async def abort(self, why: str = "") -> None:
        """Cancel everything, and return when it has ended. `why`: for the user; empty for an interrupt."""
        self._closing = True
        for number in self._tasks:
            self._cancel(self._program.record.calls[number - 1], why)
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    def _cancel(self, record: CallRecord, why: str) -> bool:
        """Cancel a call that may not have taken its first step, and then ends without one."""
        task = self._tasks[record.number]
        record.cancelled_by = record.cancelled_by or why
        task.add_done_callback(lambda done: self._aborted(record, done))
        return task.cancel()

    async def _run(self, record: CallRecord, ticket: Ticket, fault: str) -> None:
        """Make a call and forget it. Where it raises, the end of its task says what it raised."""
        completed = False
        try:
            await self._make(record, ticket, fault)
            completed = True
        finally:
            if completed:
                self._forget(record)
            else:
                self._tasks[record.number].add_done_callback(lambda done: self._aborted(record, done))

    async def _make(self, record: CallRecord, ticket: Ticket, fault: str) -> None:
        made = time.monotonic()
        outcome: Outcome | None = None
        try:
            known = self._tools.get(record.tool)
            if known is not None and not known.loaded:
                await self._call_of(record, fault)
                reply = self._not_loaded(record, known)
            else:
                # Before anything is awaited: later calls wait for earlier ones.
                async with self._lanes.road(ticket):
                    call = await self._call_of(record, fault)
                    await self._lanes.set_out(ticket)
                    record.state = CallState.RUNNING
                    record.waited = time.monotonic() - made
                    outcome = await self._counted(call)
                    self._take_outcome(record, outcome)
                reply = await self._reply_to(record, outcome)
        except asyncio.CancelledError:
            record.let_through = ticket.let_through or not self._lanes.together
            reply = self._cancelled(record)
            if self._closing:
                self._audit.call(record, outcome, reply)
                raise
        self._lanes.leave(ticket)
        try:
            await self._deliver(record, reply)
        finally:  # afterwards: the program goes on while this is written down
            self._audit.call(record, outcome, reply)
        self._heed_stop(outcome)

    def _not_loaded(self, record: CallRecord, known: ProgramTool) -> Reply:
        """Refuse a tool that the model has not seen; no call is made."""
        reply = refusal(
            "not_loaded",
            f"{known.name} is not loaded, and nothing was done. Load it with tool_search, outside of programs; "
            f"the next program can call it. Its signature: {one_line(known)}",
        )
        record.state = CallState.FAILED
        record.kind, record.message = reply.kind, reply.message
        return reply

    async def _reply_to(self, record: CallRecord, outcome: Outcome) -> Reply:
        known = self._tools.get(record.tool)
        from_server = known is not None and known.tool.source != "core"
        reply = await reply_to(outcome, self._limits.call_result, from_server=from_server)
        record.kind, record.message = reply.kind, reply.message
        return reply

    async def _call_of(self, record: CallRecord, fault: str) -> Call:
        """The call as the road gets it; what is wrong with its arguments is for the gate to say."""
        read = record.read = await read_arguments(record.given)
        fault = fault or read.fault
        return Call(
            record.id,
            record.tool,
            read.value,
            Origin.PROGRAM,
            parent=self._caller.id,
            turn=self._caller.turn,
            fault=fault or None,
        )

    def _take_outcome(self, record: CallRecord, outcome: Outcome) -> None:
        record.state = _STATES[outcome.status]
        record.tool = outcome.call.tool
        record.summary = outcome.summary

    def _cancelled(self, record: CallRecord) -> Reply:
        if record.state is CallState.WAITING:
            record.state = CallState.NOT_STARTED
            reply = refusal("cancelled", f"{record.tool} was cancelled before it ran; nothing was done")
        else:
            record.state = CallState.CANCELLED
            when = (
                "while it ran; it may have had effects"
                if record.let_through
                else "before it ran; nothing was done"
            )
            reply = refusal("cancelled", f"{record.tool} was cancelled {when}")
        record.kind, record.message = reply.kind, reply.message
        return reply

    async def _deliver(self, record: CallRecord, reply: Reply) -> None:
        record.bytes_in = len(reply.body)
        whole = self._program.record
        whole.steps_answered = max(whole.steps_answered, record.step)
        record.answered = await self._program.deliver(record.number, reply)
        if not record.answered:
            record.bytes_in = 0
        elif reply.kind:
            self.failures.append(record)

    def _heed_stop(self, outcome: Outcome | None) -> None:
        """Stop the program where a hook said so, or where the user has denied one call after the other."""
        if outcome is None:
            return
        if outcome.stop_turn is not None:
            self._program.stop(Fault(Ending.STOPPED_BY_HOOK, outcome.stop_turn))
        if denied_by_user(outcome):
            self._denials += 1
            if self._denials == self._limits.denials:
                said = f"{self._denials} calls in a row were denied"
                self._program.stop(Fault(Ending.STOPPED_BY_USER, said))
        elif outcome.decision == "approved by you":
            self._denials = 0

    async def _counted(self, call: Call) -> Outcome:
        """Take a call down the road, counted among those in flight."""
        self._in_flight += 1
        record = self._program.record
        record.most_in_flight = max(record.most_in_flight, self._in_flight)
        try:
            return await self._invoke(call)
        finally:
            self._in_flight -= 1

    def _forget(self, record: CallRecord) -> None:
        del self._tasks[record.number]
        self._lanes.leave(self._tickets.pop(record.id))

    def _aborted(self, record: CallRecord, task: asyncio.Task[None]) -> None:
        """The task of a call was cancelled or has raised: forget the call, and stop the program for an error."""
        if record.number not in self._tasks:
            return
        self._forget(record)
        if task.cancelled():
            if record.state is CallState.WAITING:  # cancelled before its first step
                record.state = CallState.NOT_STARTED
                self._audit.call(record, None, None)
            return
        error = task.exception()
        if error is not None and self.error is None:
            self.error = error
            self._program.stop(Fault(Ending.CANCELLED, str(error)))


def denied_by_user(outcome: Outcome) -> bool:
    """Whether the user personally denied the call, not a rule, a mode or a hook."""
    return outcome.status is Status.DENIED and outcome.decision == "denied by you"
