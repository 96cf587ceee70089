"""Records a sub-agent's conversation in its session's journal, and shows it under the call that started it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.events import (
    AssistantMessage,
    EventBus,
    Notice,
    RetryScheduled,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from mcode.session.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.conversation import Conversation
    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.session.journal import Journal

RECORD = "subagent"
"""Type of the records of a sub-agent's own conversation: call, type, body."""

CALLS = frozenset({"call_started", "call_finished"})
"""Records that stand in the journal like those of any call."""


class SubagentLog:
    """The journal of one sub-agent: records of its own in that of the session."""

    def __init__(self, journal: Journal, above: Conversation, call: str) -> None:
        """`call`: id of the call that started it."""
        self._journal = journal
        self._above = above
        self._call = call
        self.records: list[Record] = []
        """What was there before it began: nothing."""

    def append(self, type: str, body: JsonObject) -> Record:  # noqa: A002 -- the journal's own word
        """Write one record; raises StorageError."""
        if type in CALLS:
            return Record(0, type, self._above.write(type, body), "")
        wrapped: JsonObject = {"call": self._call, "type": type, "body": body}
        record = self._journal.append(RECORD, wrapped)
        told = self._journal.told(record, wrapped)["body"]
        return Record(record.sequence, type, told, record.time)

    def rehearse(self, body: JsonObject) -> None:
        """Do in a thread what takes long in `append(body)`."""
        self._journal.rehearse(body)

    def told(self, record: Record, body: JsonObject) -> JsonObject:
        """The record as its model may see it."""
        del body
        return record.body

    async def sync(self) -> None:
        await self._journal.sync()


class SubagentEvents(EventBus):
    """Hands on what the user should see of a sub-agent, under the call that started it."""

    def __init__(self, above: EventBus, call: str, progress: Callable[[str], None]) -> None:
        super().__init__()
        self._above = above
        self._call = call
        self._progress = progress
        self.calls = 0
        """Calls that have begun."""

    @override
    def emit(self, event: Event) -> None:
        super().emit(event)
        match event:
            case AssistantMessage():
                self._above.emit(replace(event, parent=self._call))
            case ToolStarted(call=call, preview=preview):
                self.calls += 1
                self._progress(f"{self.calls}: {call.tool} {preview.title}")
                self._above.emit(event)
            case ToolFinished() | ToolProgress() | Notice() | RetryScheduled():
                self._above.emit(event)
            case _:
                pass  # its turn, its figures and its stream are no business of a front end
