"""The lines of a session file: how a record is written, and what can still be read of a damaged file.

A line is one JSON object: `{"mcode":1,"seq":3,"prev":2,"type":"user","time":"…","clock":…,"body":{…}}` and a
newline. `seq` counts from 1, `prev` is the number of the record before, `time` is UTC for people, `clock`
counts microseconds and never falls, whatever the system's clock does. A body too large for a line stands in a
side file, named by its hash: `"side"` in place of `"body"`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcode.jsontext import JsonObject

VERSION = 1
"""Version of the line format. Records of a higher one are kept in the file and passed over."""

_BEGINNING = b'{"mcode":'
_ATTEMPTS = 1000
_ATTEMPT_BYTES = 64 * 1024 * 1024
"""Places of one damaged line at which a record is looked for: at most so many, and so many bytes in all."""


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that happened in a session."""

    sequence: int
    """From 1; orders records, whatever the clock says."""
    type: str
    body: JsonObject
    """As it is in the file: secrets are masked. Must not be changed."""
    time: str
    """When it was written: UTC, ISO 8601, milliseconds. For people."""
    previous: int = 0
    """Sequence number of the record before it; 0 for the first."""
    clock: int = 0
    """Microseconds; larger than that of every record written before it in the same folder."""


@dataclass(slots=True)
class Reading:
    """What a session file holds."""

    records: list[Record] = field(default_factory=list[Record])
    """In the order of their sequence numbers."""
    last_sequence: int = 0
    """The highest number in the file, records of newer versions included."""
    last_clock: int = 0
    damaged: list[int] = field(default_factory=list[int])
    """Numbers of lines, from 1, that are not wholly readable."""
    recovered: int = 0
    """Records that were found inside damaged lines."""
    newer: int = 0
    """Records of newer versions, passed over."""
    lost: list[str] = field(default_factory=list[str])
    """Names of side files that are missing or changed, with the records that needed them."""
    missing: list[int] = field(default_factory=list[int])
    """Numbers that records name as their predecessor and that are not there."""
    disordered: bool = False
    """Numbers are repeated, or stand in the wrong order in the file."""
    torn: bytes = b""
    """What follows the last newline: a record that was never finished."""


def encode(record: Record, body: str, *, side: str = "") -> bytes:
    """The line of a record; `body` is its body as JSON text, `side` the hash of the side file that holds it."""
    content = f'"side":"{side}"' if side else f'"body":{body}'
    head = (
        f'{{"mcode":{VERSION},"seq":{record.sequence},"prev":{record.previous},"type":{json.dumps(record.type)},'
        f'"time":"{record.time}","clock":{record.clock},'
    )
    return f"{head}{content}}}\n".encode()


def read(data: bytes, load: Callable[[str], JsonObject | None]) -> Reading:
    """Read the bytes of a session file. `load` gives the body in a side file, None where it is lost."""
    reading = Reading()
    lines = data.split(b"\n")
    reading.torn = lines.pop()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        value = _parse(line)
        if value is not None and _is_record(value):
            _take(reading, value, load)
            continue
        reading.damaged.append(number)
        for found in _search(line):
            reading.recovered += 1
            _take(reading, found, load)
    _check_order(reading)
    return reading


def describe(reading: Reading, name: str) -> list[str]:
    """What a person should know of a file that is not as it was written; empty where all is well."""
    notices: list[str] = []
    if reading.damaged:
        found = (
            f" {_count(reading.recovered, 'record')} could be recovered from there."
            if reading.recovered
            else ""
        )
        notices.append(
            f"{name} has {_count(len(reading.damaged), 'damaged line')} ({_numbers(reading.damaged)}), kept in the "
            f"file and passed over.{found}"
        )
    if reading.missing:
        notices.append(f"{name} lacks records that others refer to ({_numbers(reading.missing)}).")
    if reading.disordered:
        notices.append(
            f"Records of {name} were repeated or out of order; they are read in the order of their numbers."
        )
    if reading.newer:
        notices.append(
            f"{name} has {_count(reading.newer, 'record')} of a newer mcode, kept in the file and passed over."
        )
    notices += [f"{name}: {text}; the record is passed over and stays in the file." for text in reading.lost]
    return notices


def _parse(line: bytes) -> JsonObject | None:
    try:
        value: Any = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _is_record(value: JsonObject) -> bool:
    return (
        all(_is_count(value.get(key)) for key in ("mcode", "seq", "prev"))
        and isinstance(value.get("type"), str)
        and (
            isinstance(value.get("body"), dict)
            or isinstance(value.get("side"), str)
            or value["mcode"] > VERSION
        )
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _search(line: bytes) -> Iterator[JsonObject]:
    """Whole records inside a damaged line. The quotes of a body's texts are escaped, so none begins inside one."""
    decoder = json.JSONDecoder()
    start = line.find(_BEGINNING)
    for _ in range(max(8, min(_ATTEMPTS, _ATTEMPT_BYTES // len(line)))):
        if start < 0:
            return
        text = _readable(line[start:])
        try:
            value, length = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            value, length = None, 0
        if isinstance(value, dict) and _is_record(found := cast("JsonObject", value)):
            yield found
            start = line.find(_BEGINNING, start + len(text[:length].encode()))
        else:
            start = line.find(_BEGINNING, start + 1)


def _readable(part: bytes) -> str:
    """The text up to the first byte that is not UTF-8."""
    try:
        return part.decode()
    except UnicodeDecodeError as error:
        return part[: error.start].decode()


def _take(reading: Reading, value: JsonObject, load: Callable[[str], JsonObject | None]) -> None:
    sequence: int = value["seq"]
    clock = value.get("clock")
    reading.last_sequence = max(reading.last_sequence, sequence)
    if isinstance(clock, int):
        reading.last_clock = max(reading.last_clock, clock)
    if value["mcode"] > VERSION:
        reading.newer += 1
        return
    body = value.get("body")
    if body is None:
        body = load(value["side"])
        if body is None:
            reading.lost.append(
                f"the side file {value['side'][:16]} of record {sequence} is missing or was changed"
            )
            return
    time = value.get("time")
    reading.records.append(
        Record(
            sequence=sequence,
            type=value["type"],
            body=cast("JsonObject", body),
            time=time if isinstance(time, str) else "",
            previous=value["prev"],
            clock=clock if isinstance(clock, int) else 0,
        )
    )


def _check_order(reading: Reading) -> None:
    sequences = [record.sequence for record in reading.records]
    if any(later <= earlier for earlier, later in pairwise(sequences)):
        reading.disordered = True
        reading.records.sort(key=lambda record: record.sequence)
    if not reading.newer and not reading.lost:
        known = {0, *sequences}
        reading.missing = sorted({record.previous for record in reading.records} - known)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _numbers(values: list[int]) -> str:
    shown = ", ".join(map(str, values[:10]))
    return f"number {shown}" + (f" and {len(values) - 10} more" if len(values) > 10 else "")


SIDE_NAME = re.compile(r"[0-9a-f]{64}")
"""Names of side files: SHA-256 of their content."""
