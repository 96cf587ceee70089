"""What the model is told of the servers up front, and later of those that come, change or go."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog.servers import UNAVAILABLE
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcode.catalog.servers import ServerStatus
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

LINE_LIMIT = 40
"""Lines of the directory."""

WORDS_LIMIT = 100
"""Characters that one server may say of itself."""

NAMES_SHOWN = 12
"""Names of mcode's own deferred tools that are listed."""

_UNSAID = frozenset({"off", "disabled"})
"""States of servers that are not there for this session."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the model knows of one server."""

    tools: int
    """How many tools it can find there; 0 where none is there yet."""
    digest: str
    """Of their names, to see a change of the list."""
    problem: str = ""
    """Why they cannot be used; empty where they can."""

    def as_object(self) -> JsonObject:
        """For the journal."""
        return {"tools": self.tools, "digest": self.digest, "problem": self.problem}

    @classmethod
    def read(cls, value: JsonObject) -> Told:
        """From the journal."""
        return cls(int(value.get("tools", 0)), str(value.get("digest", "")), str(value.get("problem", "")))


def servers_now(statuses: Iterable[ServerStatus], deferred: Iterable[Tool]) -> dict[str, Told]:
    """What there is to tell of each server that has something to find, or may have later."""
    names: dict[str, list[str]] = {}
    for tool in deferred:
        if tool.source != "core":
            names.setdefault(tool.source, []).append(tool.name)
    found = {server: Told(len(listed), _digest(listed)) for server, listed in names.items()}
    for status in statuses:
        if status.state in _UNSAID or (status.name not in found and status.tools):
            continue  # not there, or all its tools are in the request
        known = found.get(status.name, Told(0, ""))
        problem = (status.error or status.state) if status.state in UNAVAILABLE else ""
        found[status.name] = Told(known.tools, known.digest, one_line(problem))
    return found


def directory(statuses: Sequence[ServerStatus], deferred: Sequence[Tool]) -> str:
    """The servers, a line each, and the names of mcode's own tools that are deferred; empty for none."""
    lines: list[str] = []
    own = [tool.name for tool in deferred if tool.source == "core"]
    if own:
        more = ", ..." if len(own) > NAMES_SHOWN else ""
        lines.append(f"mcode's own: {', '.join(own[:NAMES_SHOWN])}{more}")
    words = {status.name: status.line for status in statuses}
    servers = servers_now(statuses, deferred)
    listed = [_line(name, servers[name], words.get(name, "")) for name in sorted(servers)]
    room = LINE_LIMIT - len(lines)
    if len(listed) > room:
        left = len(listed) - room + 1
        listed = [*listed[: room - 1], f"{left} more servers"]
    return "\n".join(lines + listed)


def changes(before: Mapping[str, Told], now: Mapping[str, Told], words: Mapping[str, str]) -> list[str]:
    """What to tell the model of servers that have changed since it was told last, a line each."""
    lines: list[str] = []
    for name in sorted(now):
        told, new = before.get(name), now[name]
        if told is None or (not told.tools and new.tools):
            if new.tools or new.problem:
                lines.append(_line(name, new, words.get(name, "")))
        elif bool(new.problem) != bool(told.problem):
            lines.append(_line(name, new, "") if new.problem else f"{name} is available again")
        elif told.digest != new.digest:
            lines.append(f"{name} has changed its list: now {_count(new.tools)}")
    lines += [f"{name} has gone, with its tools" for name in sorted(before.keys() - now.keys())]
    return lines


def one_line(text: str) -> str:
    """Foreign text as the model may see it in a list: one line, cut."""
    line = " ".join(clean(clean(text[:4_000], Kind.MODEL), Kind.LINE).split())
    return line if len(line) <= WORDS_LIMIT else f"{line[:WORDS_LIMIT].rsplit(' ', 1)[0]}..."


def _line(name: str, told: Told, words: str) -> str:
    said = one_line(words)
    detail = f": {said}" if said else ""
    if told.problem:
        return f"{name} (not available: {told.problem})"
    return f"{name} ({_count(told.tools) if told.tools else 'connecting'}){detail}"


def _count(tools: int) -> str:
    return f"{tools} tool" if tools == 1 else f"{tools} tools"


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
