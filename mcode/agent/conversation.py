"""A conversation's journal and everything folded from it: the journal is the truth, the rest can be rebuilt."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast

from mcode.agent.history import History
from mcode.catalog.directory import Told
from mcode.catalog.seen import LoadedTool, loaded_tools
from mcode.model.usage import count_message, read_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.catalog.placement import LoadingWay
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.session.records import Record

MUCH_TEXT = 100_000
"""Characters from which masking and counting would take long enough to be felt."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands in front of the messages in every request; frozen at the first one."""

    model: str
    system: str
    tools: tuple[JsonObject, ...]
    """Definitions, sorted by name: name, description, input_schema."""
    reason: str = "start"
    """Why this prefix began: `start`, `model`, `rewind`, `fallback` ..."""
    way: LoadingWay = "call"
    """How tools that are found later become callable."""
    program_only: tuple[str, ...] = ()
    """Tools that stand in no definition of their own, only as signatures in that of run_code."""


class Folded:
    """What records, read one after the other, make of a conversation."""

    def __init__(self) -> None:
        self.history = History()
        self.prefix: Prefix | None = None
        self.turn = 0
        self.name = ""
        self.model = ""
        self.mode = ""
        self.todos: tuple[JsonObject, ...] = ()
        self.read_files: JsonObject = {}
        """What the file tools remember of files they have read."""
        self.repairs: list[str] = []
        """What the endpoint has refused and requests leave out since: `field`, `thinking`, `images`."""
        self.read_paths: list[str] = []
        """Files whose reading brought in instruction files of their directories."""
        self.loads: dict[str, LoadedTool] = {}
        """Deferred tools that were loaded, by name, in the order of loading."""
        self.told: dict[str, Told] = {}
        """What the model knows of servers, by name."""
        self.mode_told = ""
        """The mode that the model was told of last, where it is or was `plan`."""
        self.ratio = 1.0
        """Tokens that the endpoint counted for one that was estimated, in the last request that it reported on."""
        self.effort = ""
        """How hard the model is asked to try, as a skill or a kind of agent wants it; empty for as ever."""
        self._todos_written: dict[str, tuple[JsonObject, ...]] = {}
        self._running: dict[str, JsonObject] = {}

    def fold(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        """Take one record in."""
        self.history.apply(type, body)
        match type:
            case "prefix":
                self._fold_prefix(body)
            case "user":
                self._begin_turn(int(body.get("turn", 0)))
            case "fallback":
                self.repairs.append(str(body.get("subject", "")))
            case "context":
                self.read_paths += body.get("read", ())
                self.mode_told = str(body.get("mode_told", self.mode_told))
                self._fold_told(body)
            case "rewind":
                self.mode_told = ""
                turn = int(body.get("turn", 0))
                self.loads = {name: load for name, load in self.loads.items() if load.turn < turn}
            case "compaction":
                self.mode_told = ""
                if self.prefix is not None and self.prefix.way == "reference":
                    # The results that referred to them are gone: their definitions stand in the next prefix.
                    self.loads = {name: replace(load, call="") for name, load in self.loads.items()}
            case "call_started" | "call_finished":
                self._fold_call(type, body)
            case "tool_loaded":
                for load in loaded_tools(body):
                    self.loads.setdefault(load.name, load)
            case _:
                self._fold_name(type, body)

    def _begin_turn(self, turn: int) -> None:
        self.turn = max(self.turn, turn)
        # What an earlier run had left unfinished was told when this one began.
        self._running = {
            each: body for each, body in self._running.items() if int(body.get("turn", 0)) >= turn
        }

    def _fold_name(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        """Records that give something a new name or value."""
        match type:
            case "files":
                self.read_files = cast("JsonObject", body.get("read", {}))
            case "title":
                self.name = str(body.get("name", ""))
            case "model":
                self.model = str(body.get("name", ""))
            case "mode":
                self.mode = str(body.get("mode", ""))
            case "effort":
                self.effort = str(body.get("level", ""))
            case "assistant":
                counted = read_usage(body.get("message")).total_input
                if counted and body.get("estimate"):
                    self.ratio = counted / int(body["estimate"])
            case _:
                pass

    def _fold_prefix(self, body: JsonObject) -> None:
        self.model = str(body["model"])
        if body.get("reason") == "model":  # another model may see what this one could not
            self.repairs = [each for each in self.repairs if each != "images"]
        if self.prefix is not None and self.prefix.way == "reference" and body.get("way") == "call":
            # What stood in the old prefix stands nowhere in this one.
            self.loads = {name: load for name, load in self.loads.items() if load.call}
        self.prefix = Prefix(
            model=body["model"],
            system=body["system"],
            tools=tuple(cast("list[JsonObject]", body["tools"])),
            reason=body.get("reason", ""),
            way=body.get("way", "call"),
            program_only=tuple(body.get("program_only", ())),
        )
        self._fold_told(body)

    def _fold_told(self, body: JsonObject) -> None:
        """What a directory, or a word about servers that have changed, has told the model."""
        if "servers" in body:
            told = cast("JsonObject", body["servers"])
            self.told = {name: Told.read(value) for name, value in told.items()}

    def _fold_call(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        identifier = str(body["id"])
        if type == "call_started":
            self._running[identifier] = body
            if body.get("tool") == "TodoWrite":
                self._todos_written[identifier] = tuple(body["arguments"].get("todos", ()))
            return
        self._running.pop(identifier, None)
        written = self._todos_written.pop(identifier, None)
        if written is not None and body.get("status") == "ok":
            self.todos = written


def length_of(value: JsonValue) -> int:
    """Characters of all texts in a JSON value, but for keys."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(length_of, cast("JsonObject", value).values()))
    if isinstance(value, list | tuple):
        return sum(map(length_of, cast("list[JsonValue]", value)))
    return 0


class Log(Protocol):
    """Where a conversation is written down; the session's journal is one."""

    @property
    def records(self) -> Sequence[Record]:
        """All that was there before, and all that came since."""
        ...

    def append(self, type: str, body: JsonObject) -> Record:  # noqa: A002 -- the journal's own word
        """Write one record; raises StorageError."""
        ...

    def rehearse(self, body: JsonObject) -> None:
        """Do in a thread what takes long in `append(body)`."""
        ...

    def told(self, record: Record, body: JsonObject) -> JsonObject:
        """What the conversation goes on with after `append(body)` gave `record`."""
        ...

    async def sync(self) -> None:
        """Return when everything appended is on the disk."""
        ...


class Conversation(Folded):
    """Appends to the journal and folds each record at once, as a resumed session will."""

    def __init__(self, journal: Log) -> None:
        super().__init__()
        self._journal = journal
        for record in journal.records:
            self.fold(record.type, record.body)
        self.history.keep_in_journal(self._before_compaction)
        self._recalled: dict[int, History] = {}
        self.left_unfinished = tuple(self._running.values())
        """Calls that had started when the journal ended, as `call_started` bodies: nothing runs again by itself."""

    def append(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        """Write one record and fold it; raises StorageError, and then nothing has changed."""
        self.write(type, body)

    def write(self, type: str, body: JsonObject) -> JsonObject:  # noqa: A002 -- the journal's own word
        """The same as `append`; returns the body as the model may see it."""
        record = self._journal.append(type, body)
        told = self._journal.told(record, body)
        self.fold(record.type, told)
        return told

    async def prepare(self, body: JsonObject) -> None:
        """Before the `append` of a body that may hold much text: a thread masks and counts it, the loop goes on."""
        if length_of(body) > MUCH_TEXT:
            await asyncio.to_thread(self._rehearse, body)

    def _rehearse(self, body: JsonObject) -> None:
        self._journal.rehearse(body)
        count_message(body.get("message") or body)

    async def sync(self) -> None:
        """Return when everything appended is on the disk."""
        await self._journal.sync()

    def recall(self, turn: int, records: Sequence[Record]) -> None:
        """Read again what a rewind to this turn needs, so that it does not wait; for a thread."""
        number = self.history.compaction_after(turn)
        if number is not None:
            self._recalled = {number: history_before(records, number)}

    def _before_compaction(self, number: int) -> History:
        recalled, self._recalled = self._recalled, {}
        return recalled.get(number) or history_before(self._journal.records, number)


def history_before(records: Iterable[Record], number: int) -> History:
    """What stood before the compaction of this number, the first being 0; secrets in it are masked."""
    history = History()
    for record in records:
        if record.type == "compaction":
            if number == 0:
                break
            number -= 1
        history.apply(record.type, record.body)
    return history
