"""Step 8: journal, verdict log and events. Every road's end passes here, for every origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mcode.events import ToolFinished, ToolStarted
from mcode.tool import HARMLESS

if TYPE_CHECKING:
    from mcode.call import Call, Outcome
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Verdict
    from mcode.permissions.verdict_log import VerdictLog
    from mcode.pipeline.admit import Admitted
    from mcode.tool import Preview


class Log(Protocol):
    """The session's journal, as the road needs it."""

    def append(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        """Write one record at once; raises StorageError."""
        ...

    async def prepare(self, body: JsonObject) -> None:
        """Do beside the loop what takes long in `append(body)`."""
        ...

    async def sync(self) -> None:
        """Return when everything appended is on the disk."""
        ...


class Recorder:
    """Writes what happens to a call, before the next step begins."""

    def __init__(self, log: Log, verdicts: VerdictLog, events: EventBus) -> None:
        self._log = log
        self._verdicts = verdicts
        self._events = events
        self._unsynced = False
        self._titles: dict[str, str] = {}

    def show(self, call: Call, preview: Preview, source: str) -> None:
        """Put the call's card on the screen."""
        self._titles[call.id] = preview.title
        self._events.emit(ToolStarted(call, preview, source))

    def judge(self, call: Call, verdict: Verdict, decided_by: str, waited: float) -> None:
        """Write the verdict log; `waited` is the seconds until the decision stood."""
        self._verdicts.write(call, verdict, decided_by=decided_by, duration=waited)

    async def start(self, admitted: Admitted, decision: str) -> None:
        """Record that the body starts; durable first where the call can have effects."""
        body = _call_body(admitted.call) | {"decision": decision}
        self._log.append("call_started", body | self._title_of(admitted.call))
        if not admitted.tool.effects <= HARMLESS:
            await self._log.sync()
            self._unsynced = True

    async def prepare(self, outcome: Outcome) -> None:
        """Before `finish`: a result of much text does not hold up the loop when it is written down."""
        await self._log.prepare({"content": outcome.text, "diff": outcome.diff or ""})

    def finish(self, outcome: Outcome, *, started: bool) -> Outcome:
        """Record how the call ended and show it."""
        body: JsonObject = {"id": outcome.call.id}
        if not started:
            body = _call_body(outcome.call) | self._title_of(outcome.call)
        self._titles.pop(outcome.call.id, None)
        body |= _ended_body(outcome)
        if outcome.diff is not None:
            body["diff"] = outcome.diff
        if outcome.images:
            body["images"] = list(outcome.images)
        if outcome.call.parent is not None:
            body["parent"] = outcome.call.parent
        body["decision"] = outcome.decision
        self._log.append("call_finished", body)
        self._events.emit(ToolFinished(outcome))
        return outcome

    def finish_later(self, outcome: Outcome) -> Outcome:
        """Record what came of a call that had gone on behind its turn; its own record says that it did."""
        body = {"id": outcome.call.id, "tool": outcome.call.tool, "turn": outcome.call.turn}
        self._log.append("call_ended_later", body | _ended_body(outcome))
        return outcome

    async def settle(self) -> None:
        """Make the results of calls with effects durable; to be called before the next request."""
        if self._unsynced:
            await self._log.sync()
            self._unsynced = False

    def _title_of(self, call: Call) -> JsonObject:
        title = self._titles.get(call.id)
        return {"title": title} if title else {}


def _ended_body(outcome: Outcome) -> JsonObject:
    body: JsonObject = {"status": str(outcome.status), "text": outcome.text, "summary": outcome.summary}
    if outcome.failure is not None:
        body["failure"] = str(outcome.failure)
    return body | {"duration_ms": round(outcome.duration * 1000)}


def _call_body(call: Call) -> JsonObject:
    body: JsonObject = {
        "id": call.id,
        "tool": call.tool,
        "arguments": call.arguments,
        "origin": str(call.origin),
        "turn": call.turn,
    }
    if call.parent is not None:
        body["parent"] = call.parent
    return body
