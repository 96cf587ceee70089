"""The tools of a session, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mcode.tool import Tool


class Catalog:
    """Every tool of the session. Names are unique; a second tool of a name is a bug of whoever adds it."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        self._ordered: tuple[Tool, ...] | None = None
        self._spellings: dict[str, str] | None = None
        self._listeners: list[Callable[[str], None]] = []
        self.version = 0
        """Grows with each change of the tools."""
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        """Take a tool in; raise ValueError where the name is taken."""
        if tool.name in self._tools:
            raise ValueError(f"there is already a tool called {tool.name}")
        self._tools[tool.name] = tool
        self._changed()

    def replace_server(self, server: str, tools: Sequence[Tool]) -> None:
        """
        Put these tools in place of all that the source `server` had, at once; none at all takes it out.

        Raises ValueError, and changes nothing, where a tool is of another source, or its name is taken by one or
        occurs twice. Call it on the event loop.
        """
        others = {name: tool for name, tool in self._tools.items() if tool.source != server}
        for tool in tools:
            if tool.source != server:
                raise ValueError(f"the tool {tool.name} is of {tool.source}, not of {server}")
            if tool.name in others:
                raise ValueError(f"there is already a tool called {tool.name}")
            others[tool.name] = tool
        self._tools = others
        self._changed()
        for listener in tuple(self._listeners):
            listener(server)

    def listen(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with the source's name after each change of its tools; returns a function that ends it."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def __iter__(self) -> Iterator[Tool]:
        if self._ordered is None:
            self._ordered = tuple(self._tools[name] for name in sorted(self._tools))
        return iter(self._ordered)

    def __len__(self) -> int:
        return len(self._tools)

    def find(self, name: str) -> Tool | None:
        """The tool of this name; other letter case and punctuation are forgiven where only one tool fits."""
        exact = self._tools.get(name)
        if exact is not None:
            return exact
        if self._spellings is None:
            self._spellings = {}
            for known in self._tools:
                self._spellings.setdefault(_plain(known), known)
        canonical = self._spellings.get(_plain(name))
        return self._tools[canonical] if canonical else None

    def nearest(self, name: str, count: int = 3) -> tuple[str, ...]:
        """Names most like `name`, the best first; empty where nothing comes near."""
        from difflib import get_close_matches

        by_plain = {_plain(known): known for known in self._tools}
        return tuple(by_plain[match] for match in get_close_matches(_plain(name), by_plain, count, 0.5))

    def _changed(self) -> None:
        self.version += 1
        self._ordered = self._spellings = None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
