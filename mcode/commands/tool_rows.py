"""One row for each tool of the session: where it sits, what it costs, what may run, and how it was used."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypedDict

from typing_extensions import override

from mcode.catalog.placement import CALL_TOOL, TOOL_SEARCH
from mcode.catalog.servers import UNAVAILABLE
from mcode.commands.lazy_rows import LazyRows
from mcode.commands.tables import percent, plural, tokens
from mcode.model.usage import count_definition
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

STATES = ("RESIDENT", "LOADED", "PROGRAM", "DEFERRED", "BLOCKED", "MISSING")
"""In the order of the rows."""

_DOORS = (TOOL_SEARCH, CALL_TOOL)
"""Nobody's business where nothing is deferred."""

_ABSENT: JsonObject = {}

_AT_ONCE = 50
"""Tools whose costs are counted in one go; all of them take a few milliseconds."""


class ToolRow(TypedDict):
    """One line of /tools, as scripts get it too. A plain dict."""

    state: str
    """RESIDENT (in every request; `only`: programs may not call it), LOADED, PROGRAM, DEFERRED, BLOCKED, MISSING."""
    name: str
    source: str
    tokens: int
    """What the definition costs in a request that holds it (estimate)."""
    permission: str
    in_request: bool
    """True where every request pays for it."""
    in_context: bool
    """True where the model has been shown it."""
    loaded: str
    """How it came in, where it was loaded: `turn 3, "create issue"`."""
    reason: str
    """Why it sits where it sits."""
    calls: int
    last_turn: int
    """Number of the turn of its last call; 0 for never."""


class ToolRows(LazyRows):
    """One row a tool of the session, in order of state and name."""

    def __init__(self, making: _Making, stretches: Sequence[_Stretch]) -> None:
        self._making = making
        self._stretches = [each for each in stretches if each.tools]
        self._ends = list(accumulate(len(each.tools) for each in self._stretches))
        super().__init__(self._ends[-1] if self._ends else 0)

    @override
    def make(self, at: int) -> JsonObject:
        number = bisect_right(self._ends, at)
        stretch = self._stretches[number]
        tool = stretch.tools[at - self._ends[number]]
        return dict(
            self._making.lost(tool) if isinstance(tool, str) else self._making.row(tool, stretch.state)
        )

    @override
    def measure(self) -> dict[str, int]:
        tools = self._tools(*STATES)
        return {
            "name": max((len(tool.name) for tool in tools), default=0),
            "source": max(map(len, {tool.source for tool in tools}), default=0),
        }

    @property
    def always(self) -> list[Tool]:
        """The tools that every request pays for, as far as they are there."""
        shown = self._tools("RESIDENT", "LOADED")
        return [tool for tool in shown if self._making.in_request(tool.name)]

    def cost(self, tools: Sequence[Tool]) -> int:
        """Tokens of the definitions of tools."""
        return self._making.cost(tools)

    @property
    def cost_of_all(self) -> int:
        """The same if nothing were deferred."""
        return self.cost(self._tools(*(state for state in STATES if state not in ("BLOCKED", "MISSING"))))

    @property
    def why_deferred(self) -> str:
        """Why the first of the servers' tools that are deferred is; empty where none is."""
        first = next((tool for tool in self._tools("DEFERRED") if tool.source != "core"), None)
        return "" if first is None else self._making.row(first, "DEFERRED")["reason"]

    def _tools(self, *states: str) -> list[Tool]:
        found = (each.tools for each in self._stretches if each.state in states)
        return [tool for tools in found for tool in tools if not isinstance(tool, str)]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Rows of one state."""

    state: str
    tools: Sequence[Tool | str]
    """In order of names; the mere name of one that is not there any more."""


async def measure_tools(context: CommandContext) -> None:
    """Have the costs of all tools known, a few at a time: the loop goes on meanwhile. They are kept."""
    definitions = context.agent.builder.shelf.definitions
    tools = [tool for tool in context.agent.catalog if not definitions.is_counted(tool)]
    for first in range(0, len(tools), _AT_ONCE):
        for tool in tools[first : first + _AT_ONCE]:
            definitions.tokens(tool)
        await asyncio.sleep(0)


def tool_rows(context: CommandContext) -> ToolRows:
    """The rows of all tools, those that are missing at the end. Only what is read of them is made."""
    making = _Making(context)
    by_state: dict[str, list[Tool | str]] = {state: [] for state in STATES}
    deferred, tools = making.deferred()
    by_state["DEFERRED"].extend(deferred)
    for tool in tools:
        state = making.state(tool)
        if state:
            by_state[state].append(tool)
    by_state["MISSING"].extend(making.gone)
    for state in ("DEFERRED", "MISSING"):
        by_state[state].sort(key=_name_of)
    return ToolRows(making, [_Stretch(state, found) for state, found in by_state.items()])


def _name_of(tool: Tool | str) -> str:
    return tool if isinstance(tool, str) else tool.name


def start_summary(context: CommandContext) -> str:
    """`11 tools in every request: 2.2k tokens, 1% of the window; 57 deferred`, for the first screen."""
    agent = context.agent
    sent = agent.builder.preview(agent.model).tools
    size = sum(count_definition(tool) for tool in sent)
    window = agent.meter.window
    text = f"{plural(len(sent), 'tool')} in every request: {tokens(size)} tokens, {percent(size, window)} of the window"
    deferred = sum(
        1 for tool in agent.builder.shelf.placements.deferred() if agent.policy.hides(tool.name) is None
    )
    return f"{text}; {f'{deferred:,} deferred' if deferred else 'none deferred'}"


class _Uses:
    """How often each tool was called, from the session's journal."""

    def __init__(self, context: CommandContext) -> None:
        self.calls: Counter[str] = Counter()
        self.last: dict[str, int] = {}
        for record in context.agent.session.journal.records:
            if record.type == "call_started":
                name = str(record.body.get("tool", ""))
                self.calls[name] += 1
                self.last[name] = int(record.body.get("turn", 0))


class _Making:
    """What the rows of all tools are made from, gathered once: there may be thousands of them."""

    def __init__(self, context: CommandContext) -> None:
        agent = context.agent
        self._catalog = agent.catalog
        self._shelf = shelf = agent.builder.shelf
        self._hiding = [rule for rule in agent.policy.rules if rule.hides]
        self._sent: dict[str, JsonObject | None] = {}
        """What every request holds; None where it is the definition of a server's tool, measured before."""
        if shelf.placements.frozen:
            self._sent = {str(tool["name"]): tool for tool in agent.builder.preview(agent.model).tools}
        else:
            for tool in agent.builder.resident():
                self._sent[tool.name] = shelf.definitions.of(tool) if tool.source == "core" else None
        self._loaded = shelf.seen.loaded
        self._uses = _Uses(context)
        self._away = {each.name for each in shelf.servers.statuses() if each.state in UNAVAILABLE}
        """Servers whose tools nobody can call."""
        names = self._sent.keys() | self._loaded.keys()
        self._shown = {name for name in names if agent.catalog.find(name) is not None}
        self.gone = sorted(names - self._shown)
        """Names of the tools that the model was shown and that are not in the catalogue any more."""

    def deferred(self) -> tuple[Sequence[Tool], list[Tool]]:
        """The tools that are deferred and no more, and all others."""
        placed = self._shelf.placements.deferred()
        if self._hiding or self._away:
            return (), list(self._catalog)
        names = {tool.name for tool in placed} - self._shown
        return [tool for tool in placed if tool.name in names], [
            tool for tool in self._catalog if tool.name not in names
        ]

    def state(self, tool: Tool) -> str:
        """The state that the row of a tool tells; empty for one that has none."""
        placed = self._shelf.placements.of(tool)
        name = tool.name
        if placed.hidden and name in _DOORS:
            return ""
        if placed.hidden or any(rule.is_about(name) for rule in self._hiding):
            return "BLOCKED"
        if tool.source in self._away:
            return "MISSING"
        if name in self._loaded:
            return "LOADED"
        if self.in_request(name):
            return "RESIDENT"
        return "PROGRAM" if placed.placement is Placement.PROGRAM_ONLY else "DEFERRED"

    def row(self, tool: Tool, state: str) -> ToolRow:
        """The row of one tool."""
        name = tool.name
        in_request = self.in_request(name)
        load = self._loaded.get(name)
        how = ""
        if load is not None:
            for_what = {"search": f'"{load.query}"', "call": "called without a search", "user": "by you"}
            how = f"turn {load.turn}, {for_what.get(load.how, load.how)}"
        only = state == "RESIDENT" and tool.placement is Placement.TOP_LEVEL_ONLY
        return ToolRow(
            state="RESIDENT only" if only else state,
            name=name,
            source=tool.source,
            tokens=self.cost((tool,)),
            permission=self._shelf.permission(tool),
            in_request=in_request,
            in_context=in_request or load is not None,
            loaded=how,
            reason=self._shelf.placements.of(tool).reason,
            calls=self._uses.calls[name],
            last_turn=self._uses.last.get(name, 0),
        )

    def lost(self, name: str) -> ToolRow:
        """The row of a tool that is not there any more."""
        definition = self._sent.get(name)
        return _gone(name, definition or self._loaded[name].definition, self._uses)

    def cost(self, tools: Sequence[Tool]) -> int:
        """What definitions cost in a request that holds them, as they were sent or would be."""
        known, sent, total = self._shelf.definitions, self._sent.get, 0
        for tool in tools:
            definition = sent(tool.name)
            total += known.tokens(tool) if definition is None else known.weight(definition)
        return total

    def in_request(self, name: str) -> bool:
        """Whether every request pays for it."""
        definition = self._sent.get(name, _ABSENT)
        return definition is None or not definition.get("defer_loading", definition is _ABSENT)


def _gone(name: str, definition: JsonObject, uses: _Uses) -> ToolRow:
    return ToolRow(
        state="MISSING",
        name=name,
        source=name.split("__")[1] if name.startswith("mcp__") and name.count("__") > 1 else "?",
        tokens=count_definition(definition),
        permission="-",
        in_request=True,
        in_context=True,
        loaded="",
        reason="the model was shown it, and it is not there any more",
        calls=uses.calls[name],
        last_turn=uses.last.get(name, 0),
    )
