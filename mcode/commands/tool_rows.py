"""One row for each tool of the session: where it sits, what it costs, what may run, and how it was used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from mcode.catalog.placement import CALL_TOOL, TOOL_SEARCH
from mcode.catalog.servers import UNAVAILABLE
from mcode.commands.tables import percent, plural, tokens
from mcode.model.usage import count_definition
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.catalog.placement import Placed
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.tool import Effect, Tool

_ORDER = {
    state: at for at, state in enumerate(("RESIDENT", "LOADED", "PROGRAM", "DEFERRED", "BLOCKED", "MISSING"))
}


class ToolRow(NamedTuple):
    """One line of /tools."""

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

    def as_object(self) -> JsonObject:
        """For scripts."""
        return self._asdict()


def tool_rows(context: CommandContext) -> tuple[ToolRow, ...]:
    """One row a tool of the session, in order of state and name, those that are missing at the end."""
    agent = context.agent
    making = _Making(context)
    rows = [making.row(tool) for tool in agent.catalog if not making.is_door_left_out(tool)]
    known = {row.name for row in rows}
    gone = {name: load.definition for name, load in making.loaded.items()} | making.sent
    rows += [_gone(name, definition, making.uses) for name, definition in gone.items() if name not in known]
    return tuple(sorted(rows, key=lambda row: (_ORDER[row.state.partition(" ")[0]], row.name)))


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
    return sum(row.tokens for row in rows if row.state.split()[0] not in ("BLOCKED", "MISSING"))


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
        self.sent = {str(tool["name"]): tool for tool in agent.builder.preview(agent.model).tools}
        self.loaded = shelf.seen.loaded
        self.uses = _Uses(context)
        self._away = {each.name for each in shelf.servers.statuses() if each.state in UNAVAILABLE}
        """Servers whose tools nobody can call."""

    def row(self, tool: Tool) -> ToolRow:
        """The row of one tool."""
        name, shelf = tool.name, self._shelf
        definition, placed = self.sent.get(name), shelf.placed(tool)
        in_request = definition is not None and not definition.get("defer_loading")
        load = self.loaded.get(name)
        how = ""
        if load is not None:
            for_what = {"search": f'"{load.query}"', "call": "called without a search", "user": "by you"}
            how = f"turn {load.turn}, {for_what.get(load.how, load.how)}"
        return ToolRow(
            self._state(tool, placed, in_request=in_request, loaded=load is not None),
            name,
            tool.source,
            self._cost(tool, definition),
            self._permission(tool),
            in_request,
            in_request or load is not None,
            how,
            placed.reason,
            self.uses.calls[name],
            self.uses.last.get(name, 0),
        )

    def _cost(self, tool: Tool, definition: JsonObject | None) -> int:
        definitions = self._shelf.definitions
        return definitions.weight(definition) if definition is not None else definitions.tokens(tool)

    def _permission(self, tool: Tool) -> str:
        """As the shelf says; without rules the tools of a server differ in their effects alone."""
        if not self._no_rules or tool.source == "core":
            return self._shelf.permission(tool)
        kind = (tool.source, tool.effects)
        standing = self._standing.get(kind)
        if standing is None:
            standing = self._standing[kind] = self._shelf.permission(tool)
        return standing

    def is_door_left_out(self, tool: Tool) -> bool:
        """tool_search and call_tool are nobody's business where nothing is deferred."""
        return tool.name in (TOOL_SEARCH, CALL_TOOL) and self._shelf.placed(tool).hidden

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
