"""One row for each tool of the session: where it sits, what it costs, what may run, and how it was used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypedDict

from mcode.catalog.placement import CALL_TOOL, TOOL_SEARCH
from mcode.catalog.servers import UNAVAILABLE
from mcode.commands.tables import percent, plural, tokens
from mcode.model.usage import count_definition
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcode.catalog.placement import Placed
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.tool import Effect, Tool

_ORDER = {
    "RESIDENT": 0,
    "RESIDENT only": 0,
    "LOADED": 1,
    "PROGRAM": 2,
    "DEFERRED": 3,
    "BLOCKED": 4,
    "MISSING": 5,
}


_DOORS = (TOOL_SEARCH, CALL_TOOL)
"""Nobody's business where nothing is deferred."""


class ToolRow(TypedDict):
    """One line of /tools, as scripts get it too. There may be thousands: each is a plain dict from the start."""

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


def tool_rows(context: CommandContext) -> list[ToolRow]:
    """One row a tool of the session, in order of state and name, those that are missing at the end."""
    making = _Making(context)
    rows = list(making.rows(context.agent.catalog))
    lost = making.lost(rows)
    if lost:
        rows = sorted((*rows, *lost), key=lambda row: row["name"])
    return sorted(rows, key=lambda row: _ORDER[row["state"]])  # the catalogue is in order of names


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


def cost_of_all(rows: Iterable[ToolRow]) -> int:
    """Tokens of definitions if nothing were deferred."""
    return sum(row["tokens"] for row in rows if row["state"] not in ("BLOCKED", "MISSING"))


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
        self._shelf = shelf = agent.builder.shelf
        self._policy = agent.policy
        self._may_hide = any(rule.hides for rule in agent.policy.rules)
        self._no_rules = not agent.policy.rules
        self._standing: dict[tuple[str, frozenset[Effect]], str] = {}
        """Without rules: what the effects of a source's tools mean."""
        sent = (
            agent.builder.preview(agent.model).tools
            if shelf.placements.frozen
            else agent.builder.definitions()
        )
        self.sent = {str(tool["name"]): tool for tool in sent}
        self.loaded = shelf.seen.loaded
        self.uses = _Uses(context)
        core = {tool.name for tool in agent.catalog if tool.source == "core"}
        self._own = core | self.sent.keys() | self.loaded.keys() | self.uses.calls.keys()
        """Names of the tools of which something is to be told that is true of no other."""
        self._away = {each.name for each in shelf.servers.statuses() if each.state in UNAVAILABLE}
        """Servers whose tools nobody can call."""

    def rows(self, tools: Iterable[Tool]) -> Iterator[ToolRow]:
        """The row of each tool; without rules many of a server's differ in name and size alone."""
        place, size, own, no_rules = (
            self._shelf.placements.of,
            self._shelf.definitions.tokens,
            self._own,
            self._no_rules,
        )
        alike: dict[tuple[int, str, frozenset[Effect]], tuple[Placed, ToolRow]] = {}
        for tool in tools:
            name, placed = tool.name, place(tool)
            if name in own or not no_rules:
                if not (placed.hidden and name in _DOORS):
                    yield self._whole(tool, placed)
                continue
            kind = (id(placed), tool.source, tool.effects)
            known = alike.get(kind)
            if (
                known is None
            ):  # the place is kept with the row, so that no other object can come by its identity
                known = alike[kind] = (placed, self._whole(tool, placed))
            row = known[1].copy()
            row["name"], row["tokens"] = name, size(tool)
            yield row

    def lost(self, rows: Iterable[ToolRow]) -> list[ToolRow]:
        """A row of each tool that the model was shown and that has none among `rows`."""
        shown = {name: load.definition for name, load in self.loaded.items()} | self.sent
        for row in rows:
            shown.pop(row["name"], None)
        return [_gone(name, definition, self.uses) for name, definition in shown.items()]

    def _whole(self, tool: Tool, placed: Placed) -> ToolRow:
        name, definitions = tool.name, self._shelf.definitions
        definition = self.sent.get(name)
        in_request = definition is not None and not definition.get("defer_loading")
        load = self.loaded.get(name)
        how = ""
        if load is not None:
            for_what = {"search": f'"{load.query}"', "call": "called without a search", "user": "by you"}
            how = f"turn {load.turn}, {for_what.get(load.how, load.how)}"
        return ToolRow(
            state=self._state(tool, placed, in_request=in_request, loaded=load is not None),
            name=name,
            source=tool.source,
            tokens=definitions.weight(definition) if definition is not None else definitions.tokens(tool),
            permission=self._permission(tool),
            in_request=in_request,
            in_context=in_request or load is not None,
            loaded=how,
            reason=placed.reason,
            calls=self.uses.calls[name],
            last_turn=self.uses.last.get(name, 0),
        )

    def _permission(self, tool: Tool) -> str:
        """As the shelf says; without rules the tools of a server differ in their effects alone."""
        if not self._no_rules or tool.source == "core":
            return self._shelf.permission(tool)
        kind = (tool.source, tool.effects)
        standing = self._standing.get(kind)
        if standing is None:
            standing = self._standing[kind] = self._shelf.permission(tool)
        return standing

    def _state(self, tool: Tool, placed: Placed, *, in_request: bool, loaded: bool) -> str:
        if placed.hidden or (self._may_hide and self._policy.hides(tool.name) is not None):
            return "BLOCKED"
        if tool.source in self._away:
            return "MISSING"
        if loaded:
            return "LOADED"
        if in_request:
            return "RESIDENT only" if tool.placement is Placement.TOP_LEVEL_ONLY else "RESIDENT"
        return "PROGRAM" if placed.placement is Placement.PROGRAM_ONLY else "DEFERRED"


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
