"""The names of the session's tools in programs."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.tool import Tool

_FOREIGN = re.compile(r"[^A-Za-z0-9_$]")


@dataclass(frozen=True, slots=True)
class ProgramTool:
    """One tool as programs know it."""

    tool: Tool
    short: str
    """The name as an identifier, empty where another tool would have the same."""
    loaded: bool = True
    """False for a deferred tool that the model has not seen yet."""

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def callable(self) -> bool:
        """False where a call is only answered with what to do instead."""
        return self.loaded and self.tool.placement is not Placement.TOP_LEVEL_ONLY

    @property
    def spelled(self) -> str:
        """How a program writes it: `tools.Read`, or with brackets where only these work."""
        return f"tools.{self.short}" if self.short else f"tools[{jsontext.dump(self.name)}]"


class Toolbox:
    """The session's tools as programs know them, worked out anew only when they have changed."""

    def __init__(
        self,
        tools: Callable[[], Iterable[Tool]],
        is_loaded: Callable[[Tool], bool],
        placement: Callable[[Tool], Placement],
    ) -> None:
        self._tools = tools
        self._is_loaded = is_loaded
        self._placement = placement
        self._seen: list[tuple[Tool, bool]] | None = None
        self._known: tuple[ProgramTool, ...] = ()
        self._names = b""

    @property
    def tools(self) -> tuple[ProgramTool, ...]:
        """All tools, in order of their own names."""
        seen = [(tool, self._loaded(tool)) for tool in self._tools()]
        if seen != self._seen:
            self._seen, self._known = seen, program_tools(seen)
            self._names = _names(self._known)
        return self._known

    @property
    def names(self) -> bytes:
        """JSON for the worker: every name, and a line about each tool that can be called."""
        self.tools  # noqa: B018 -- brings the names up to date
        return self._names

    def _loaded(self, tool: Tool) -> bool:
        return self._placement(tool) is not Placement.DEFERRED or self._is_loaded(tool)


def program_tools(tools: Iterable[tuple[Tool, bool]]) -> tuple[ProgramTool, ...]:
    """Tools, each with whether it is loaded, with the names they have in programs."""
    ordered = sorted(tools, key=lambda pair: pair[0].name)
    taken = Counter(identifier(tool.name) for tool, _ in ordered)
    return tuple(
        ProgramTool(tool, short if taken[short] == 1 else "", loaded)
        for tool, loaded in ordered
        for short in (identifier(tool.name),)
    )


def _names(tools: Iterable[ProgramTool]) -> bytes:
    from mcode.run_code.description import one_line

    names = [[tool.short, tool.name] for tool in tools]
    listed = [
        {"name": tool.short or tool.name, "description": one_line(tool)} for tool in tools if tool.callable
    ]
    return json.dumps({"names": names, "listed": listed}, separators=(",", ":")).encode()


def identifier(name: str) -> str:
    """A name with every character replaced that JavaScript does not take in one."""
    replaced = _FOREIGN.sub("_", name)
    return f"_{replaced}" if replaced[:1].isdigit() else replaced
