"""The audits of a session's programs, read back: what ran, what it called from which line, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcode.jsontext import JsonObject


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """One call of a program as its audit has it; see `audit.py` for the meaning of each field."""

    number: int
    id: str
    tool: str
    line: int
    arguments: str
    """Beginning of the JSON text, masked."""
    state: str
    decision: str
    kind: str
    message: str
    """Beginning of why it failed; empty where it did not, and in audits that do not tell."""
    summary: str
    waited_ms: int
    duration_ms: int | None
    """None where it never came back: it was cancelled, or not made."""
    result_bytes: int
    text_chars: int
    """Of the result as a model would have read it; 0 in audits that do not tell."""
    step: int
    """Calls of one step could have been made side by side; 0 in audits that do not tell."""


@dataclass(frozen=True, slots=True)
class AuditedProgram:
    """One program as its audit has it."""

    number: int
    """From 1, by the time of its start, in its session."""
    id: str
    """Id of the `run_code` call."""
    started_ms: int
    """Unix time in milliseconds."""
    title: str
    code: str
    calls: tuple[AuditedCall, ...]
    """In the order in which the program made them; those that still run are missing."""
    status: str
    """How it ended; `running` where no end was written."""
    wall_ms: int
    """Until its last record, where it has no end."""
    cpu_ms: int
    peak_bytes: int
    """Memory that its worker held at most; 0 where it did not say, and in audits that do not tell."""
    bytes_in: int
    chars_out: int
    value: str
    """Beginning of what it returned, masked."""
    records: tuple[JsonObject, ...]
    """The lines of the audit as they stand in the file."""

    @property
    def kept_out(self) -> int:
        """Bytes of results that did not go into the context."""
        return max(0, self.bytes_in - self.chars_out)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it called with success, by name."""
        return tuple(sorted({call.tool for call in self.calls if call.state == "ok"}))


def read_audits(directory: Path) -> tuple[AuditedProgram, ...]:
    """The programs of the session that has this directory, oldest first; raises StorageError."""
    found: list[tuple[JsonObject, ...]] = []
    try:
        for path in sorted(directory.glob("program-*.jsonl")):
            records = tuple(_records(path.read_bytes()))
            if records and records[0].get("type") == "start":
                found.append(records)
    except OSError as error:
        raise StorageError(
            f"The audits in {directory} cannot be read: {error.strerror or error}. Nothing was changed."
        ) from None
    found.sort(key=lambda records: _number(records[0], "time_ms"))
    return tuple(_program(number, records) for number, records in enumerate(found, 1))


def _records(data: bytes) -> Iterable[JsonObject]:
    """The lines that can be read; the last one may be torn where the agent was killed."""
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            yield jsontext.parse_object(line)
        except jsontext.JsonError:
            continue


def _program(number: int, records: tuple[JsonObject, ...]) -> AuditedProgram:
    start = records[0]
    ends = [each for each in records if each.get("type") == "end"]
    end: JsonObject = ends[-1] if ends else {}
    calls = [_call(each) for each in records if each.get("type") == "call"]
    return AuditedProgram(
        number=number,
        id=str(start.get("program", "")),
        started_ms=_number(start, "time_ms"),
        title=str(start.get("title", "")),
        code=str(start.get("code", "")),
        calls=tuple(sorted(calls, key=lambda call: call.number)),
        status=str(end.get("status", "running")),
        wall_ms=_number(end, "wall_ms")
        if end
        else _number(records[-1], "time_ms") - _number(start, "time_ms"),
        cpu_ms=_number(end, "cpu_ms"),
        peak_bytes=_number(end, "peak_bytes"),
        bytes_in=_number(end, "bytes_in") if end else sum(call.result_bytes for call in calls),
        chars_out=_number(end, "chars_out"),
        value=str(end.get("value", "")),
        records=records,
    )


def _call(record: JsonObject) -> AuditedCall:
    def text(key: str) -> str:
        return str(record.get(key, ""))

    return AuditedCall(
        number=_number(record, "index"),
        id=text("id"),
        tool=text("tool"),
        line=_number(record, "line"),
        arguments=text("arguments"),
        state=text("state"),
        decision=text("decision"),
        kind=text("kind"),
        message=text("message"),
        summary=text("summary"),
        waited_ms=_number(record, "waited_ms"),
        duration_ms=_number(record, "duration_ms") if "duration_ms" in record else None,
        result_bytes=_number(record, "result_bytes"),
        text_chars=_number(record, "text_chars"),
        step=_number(record, "step"),
    )


def _number(record: JsonObject, key: str) -> int:
    value = record.get(key)
    return int(value) if isinstance(value, (int, float)) else 0
