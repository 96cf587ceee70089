"""Going back to the moment before a message: the conversation, the files, or both."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mcode.errors import UsageError
from mcode.session.rewind import changes_from, first_entry_since

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from mcode.agent.conversation import Conversation
    from mcode.agent.tracked_changes import TrackedChanges
    from mcode.session.journal import Journal
    from mcode.session.records import Record
    from mcode.session.rewind import FileChange, FileResult, Rewinder

_CALL = re.compile(r"rewind_(\d+)_after_(\d+)")
"""The ids under which the store of old contents knows rewinds: a number, and the last turn before it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The moment before one message of the user's."""

    turn: int
    text: str
    """The message; secrets are masked."""
    time: str
    """When it was sent: UTC, ISO 8601."""


@dataclass(frozen=True, slots=True)
class Rewound:
    """What a rewind did."""

    files: tuple[FileResult, ...] = ()
    shell_commands: int = 0
    """Shell commands that ran since; what they changed is not undone."""
    shell_changes: TrackedChanges | None = None
    """The tracked files that they, or others beside mcode's tools, changed; None where no command ran."""
    draft: str = ""
    """The message that was taken back, for the user to change and send again."""


class Rewinding:
    """The rewinds of one session."""

    def __init__(
        self,
        journal: Journal,
        conversation: Conversation,
        rewinder: Rewinder,
        forget_files: Callable[[], None],
        changed_by_others: Callable[[float, Mapping[str, str]], Awaitable[TrackedChanges]],
        forget_jobs: Callable[[frozenset[str]], None],
    ) -> None:
        """`forget_files` is called when the model no longer knows what it has read, `forget_jobs` with the ids of
        background jobs of which it no longer knows that they began.

        `changed_by_others` looks for tracked files that were changed since a moment (seconds since the epoch),
        but for those that hold what mcode's tools left in them (hash, or ABSENT, by absolute path).
        """
        self._journal = journal
        self._conversation = conversation
        self._rewinder = rewinder
        self._forget_files = forget_files
        self._changed_by_others = changed_by_others
        self._forget_jobs = forget_jobs

    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The messages that the conversation can go back to, oldest first."""
        return checkpoints(self._journal.records)

    def changes_since(self, turn: int) -> tuple[FileChange, ...]:
        """What mcode's tools did to files since the moment before that turn. Raises StorageError."""
        return self._changes_since(turn, self._journal.records)

    def _changes_since(self, turn: int, records: Sequence[Record]) -> tuple[FileChange, ...]:
        entries = self._rewinder.entries()
        turns = turns_of_calls(records)
        for entry in entries:
            if (found := _CALL.fullmatch(entry.call_id)) is not None:
                turns[entry.call_id] = int(found[2])
        first = first_entry_since(entries, turn, turns)
        return () if first is None else changes_from(entries, first)

    async def rewind(self, turn: int, *, files: bool, conversation: bool) -> Rewound:
        """Go back to the moment before a turn. Raises UsageError for a turn that is not there, and StorageError."""
        records = await asyncio.to_thread(lambda: self._journal.records)  # a long session's are in its file
        chosen = next((point for point in checkpoints(records) if point.turn == turn), None)
        if chosen is None:
            raise UsageError(
                f"There is no message {turn} to go back to; nothing was changed. /rewind lists them."
            )
        restored: tuple[FileResult, ...] = ()
        commands = shell_commands_since(records, turn) if files else 0
        changed = await self._shell_changes(chosen) if commands else None  # before files are put back
        if files:
            restored = await self._rewinder.restore(self._changes_since(turn, records), self._next_call_id())
        if conversation:
            await asyncio.to_thread(self._conversation.recall, turn, records)
            self._conversation.append("rewind", {"turn": turn, "reason": "user"})
            self._forget_files()
            self._forget_jobs(jobs_since(records, turn))
        return Rewound(restored, commands, changed, chosen.text if conversation else "")

    async def _shell_changes(self, chosen: Checkpoint) -> TrackedChanges:
        entries = await asyncio.to_thread(self._rewinder.entries)
        left = {change.path: change.left for change in changes_from(entries, 0)}
        return await self._changed_by_others(datetime.fromisoformat(chosen.time).timestamp(), left)

    async def undo_rewind(self) -> Rewound:
        """Put the files back to what they were before the last rewind. Raises UsageError where there was none."""
        entries = self._rewinder.entries()
        rewinds = [entry for entry in entries if _CALL.fullmatch(entry.call_id)]
        if not rewinds:
            raise UsageError("No files were rewound in this session; nothing was changed.")
        last = rewinds[-1].call_id
        first = next(entry.sequence for entry in rewinds if entry.call_id == last)
        changes = changes_from([entry for entry in rewinds if entry.call_id == last], first)
        return Rewound(await self._rewinder.restore(changes, self._next_call_id()))

    def _next_call_id(self) -> str:
        found = (_CALL.fullmatch(entry.call_id) for entry in self._rewinder.entries())
        last = max((int(each[1]) for each in found if each is not None), default=0)
        return f"rewind_{last + 1}_after_{self._conversation.turn}"


def checkpoints(records: Iterable[Record]) -> tuple[Checkpoint, ...]:
    """The user's messages that still stand in the conversation, oldest first."""
    points: list[Checkpoint] = []
    for record in records:
        if record.type == "user":
            turn = int(record.body.get("turn", 0))
            points.append(Checkpoint(turn, str(record.body.get("text", "")), record.time))
        elif record.type == "rewind":
            points = [point for point in points if point.turn < int(record.body.get("turn", 0))]
    return tuple(points)


def turns_of_calls(records: Iterable[Record]) -> dict[str, int]:
    """The turn of each call that has started, by its id."""
    return {
        str(record.body["id"]): int(record.body.get("turn", 0))
        for record in records
        if record.type == "call_started"
    }


def jobs_since(records: Iterable[Record], turn: int) -> frozenset[str]:
    """The ids of the background jobs that began in that turn and later ones."""
    begun, since = set[str](), False
    for record in records:
        since = since or (record.type == "user" and int(record.body.get("turn", 0)) >= turn)
        if since and record.type == "job" and record.body.get("state") == "running":
            begun.add(str(record.body["id"]))
    return frozenset(begun)


def shell_commands_since(records: Iterable[Record], turn: int) -> int:
    """How many shell commands ran in that turn and later ones."""
    return sum(
        record.type == "call_started"
        and record.body.get("tool") == "Bash"
        and int(record.body.get("turn", 0)) >= turn
        for record in records
    )
