"""The sessions of a folder, told from their files without reading whole conversations twice.

What was found in a file is remembered in `index.json` together with how far the file was read; as session
files only grow, the next listing reads on from there. The index holds nothing that the files do not: it may
be deleted, and where it cannot be read or written the files are read again.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
import uuid
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from mcode.errors import StorageError
from mcode.files import replace_file
from mcode.session.records import read
from mcode.session.side_values import SideValues

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.session.records import Record

_INDEX = "index.json"
_INDEX_VERSION = 2
_HEAD = re.compile(rb'\{"mcode":\d+,"seq":\d+,"prev":\d+,"type":"(session|user|assistant|title)"')
"""The beginning of the records that a listing needs; anything else is passed over without parsing it."""
CLOCK_SLACK = 7 * 86400 * 1_000_000
"""Microseconds that the system's clock may have been set back without disturbing the order of sessions."""
_SHOWN = 400
"""Characters of a prompt or a name that are remembered."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a listing shows of a session. Texts are raw: clean them before they reach a terminal."""

    id: str
    name: str
    """As the user named it last; empty where it has no name."""
    first_prompt: str
    """The beginning of the user's first message; secrets are masked."""
    modified: float
    """When it was last written: seconds since 1970, UTC."""
    messages: int
    """Messages of the user and the model."""
    size: int
    """Bytes of its file."""
    interactive: bool = True
    """Whether it was held in a terminal, at least in part; False for headless runs."""


@dataclass(slots=True)
class _Found:
    """What is known of a session file, and up to where."""

    file: int = 0
    """Inode: another file of the same name is read from its beginning."""
    offset: int = 0
    """Bytes that were read, up to the end of a line."""
    name: str = ""
    first_prompt: str = ""
    messages: int = 0
    interactive: bool = True


def session_paths(directory: Path) -> list[Path]:
    """The session files of a folder, in no order; [] where there is none."""
    try:
        return [path for path in directory.glob("*.jsonl") if is_session_id(path.stem)]
    except OSError:
        return []


def is_session_id(text: str) -> bool:
    """True for a UUID in its usual spelling; only such names become names of files."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def is_interactive(records: Iterable[Record]) -> bool:
    """Whether a session was held in a terminal, at least in part; the last of its `session` records tells."""
    told = [record.body.get("interactive", True) for record in records if record.type == "session"]
    return bool(told[-1]) if told else True


def newest_change(directory: Path) -> int:
    """Microseconds since 1970 at which a session of the folder was last written, by the files' own times.

    Times further ahead than CLOCK_SLACK are a mistake that must not spread to other sessions.
    """
    newest = 0
    latest = time.time_ns() + CLOCK_SLACK * 1000
    for path in session_paths(directory):
        with contextlib.suppress(OSError):
            changed = path.stat().st_mtime_ns
            newest = max(newest, changed) if changed <= latest else newest
    return newest // 1000


def list_sessions(directory: Path) -> tuple[SessionInfo, ...]:
    """The sessions of a folder that hold a message or have a name, the one written last first."""
    index = _load_index(directory)
    fresh: dict[str, _Found] = {}
    infos: list[tuple[int, SessionInfo]] = []
    for path in session_paths(directory):
        try:
            status = path.stat()
            found = _read_on(path, status, index.get(path.stem))
        except OSError:
            continue
        fresh[path.stem] = found
        if found.messages or found.name:
            info = SessionInfo(
                path.stem,
                found.name,
                found.first_prompt,
                status.st_mtime,
                found.messages,
                status.st_size,
                found.interactive,
            )
            infos.append((status.st_mtime_ns, info))
    if fresh != index:
        _save_index(directory, fresh)
    infos.sort(key=lambda pair: (pair[0], pair[1].id), reverse=True)
    return tuple(info for _, info in infos)


def _read_on(path: Path, status: os.stat_result, known: _Found | None) -> _Found:
    if known is None or known.file != status.st_ino or known.offset > status.st_size:
        known = _Found(file=status.st_ino)
    if known.offset == status.st_size:
        return known
    found = replace(known)
    with path.open("rb") as stream:
        stream.seek(found.offset)
        for line in stream:
            if not line.endswith(b"\n"):
                break
            found.offset += len(line)
            head = _HEAD.match(line)
            if head is not None:
                _note(found, head[1], line, path)
    return found


def _note(found: _Found, kind: bytes, line: bytes, path: Path) -> None:
    if kind == b"title":
        for record in read(line, _side(path).load).records:
            found.name = str(record.body.get("name", "")).strip()[:_SHOWN]
        return
    if kind == b"session":
        found.interactive = is_interactive(read(line, _side(path).load).records)
        return
    found.messages += 1
    if kind == b"user" and not found.first_prompt:
        for record in read(line, _side(path).load).records:
            found.first_prompt = _prompt_of(record.body)[:_SHOWN]


def _side(path: Path) -> SideValues:
    return SideValues(path.with_suffix("") / "values")


def _prompt_of(body: JsonObject) -> str:
    """The user's own words: `text` where the record has it, else the text blocks of its content."""
    if isinstance(text := body.get("text"), str) and text:
        return text.strip()
    content = body.get("content")
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    blocks = [cast("JsonObject", block) for block in cast("list[object]", content) if isinstance(block, dict)]
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip()


def _load_index(directory: Path) -> dict[str, _Found]:
    try:
        value: Any = json.loads((directory / _INDEX).read_bytes())
        if value["version"] != _INDEX_VERSION:
            return {}
        return {str(key): _entry(entry) for key, entry in value["sessions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _entry(value: JsonObject) -> _Found:
    return _Found(
        file=int(value["file"]),
        offset=int(value["offset"]),
        name=str(value["name"]),
        first_prompt=str(value["first_prompt"]),
        messages=int(value["messages"]),
        interactive=bool(value["interactive"]),
    )


def _save_index(directory: Path, sessions: dict[str, _Found]) -> None:
    value = {"version": _INDEX_VERSION, "sessions": {key: asdict(found) for key, found in sessions.items()}}
    with contextlib.suppress(StorageError):  # the next listing reads the files again
        replace_file(directory / _INDEX, json.dumps(value).encode())
