"""One row for each tool of the session: where it sits, what it costs, what may run, and how it was used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog.placement import CALL_TOOL, TOOL_SEARCH
from mcode.catalog.servers import UNAVAILABLE
from mcode.commands.tables import percent, plural, tokens
from mcode.model.usage import count_definition
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

_ORDER = ("RESIDENT", "LOADED", "PROGRAM", "DEFERRED", "BLOCKED", "MISSING")


@dataclass(frozen=True, slots=True)
class ToolRow:
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
        return {name: getattr(self, name) for name in self.__slots__}


def tool_rows(context: CommandContext) -> tuple[ToolRow, ...]:
    """One row a tool of the session, in order of state and name, those that are missing at the end."""
    agent = context.agent
    sent = {str(tool["name"]): tool for tool in agent.builder.preview(agent.model).tools}
    uses = _Uses(context)
    rows = [_row(context, tool, sent, uses) for tool in agent.catalog if not _is_door_left_out(context, tool)]
    known = {row.name for row in rows}
    loads = agent.builder.shelf.seen.loaded
    gone = {name: load.definition for name, load in loads.items()} | sent
    rows += [_gone(name, definition, uses) for name, definition in gone.items() if name not in known]
    return tuple(sorted(rows, key=lambda row: (_ORDER.index(row.state.split()[0]), row.name)))


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


def _row(context: CommandContext, tool: Tool, sent: dict[str, JsonObject], uses: _Uses) -> ToolRow:
    shelf = context.agent.builder.shelf
    in_request = tool.name in sent and not sent[tool.name].get("defer_loading")
    size = count_definition(sent[tool.name]) if tool.name in sent else shelf.definitions.tokens(tool)
    load = shelf.seen.loaded.get(tool.name)
    how = ""
    if load is not None:
        for_what = {"search": f'"{load.query}"', "call": "called without a search", "user": "by you"}
        how = f"turn {load.turn}, {for_what.get(load.how, load.how)}"
    return ToolRow(
        state=_state(context, tool, in_request=in_request, loaded=load is not None),
        name=tool.name,
        source=tool.source,
        tokens=size,
        permission=shelf.permission(tool),
        in_request=in_request,
        in_context=in_request or load is not None,
        loaded=how,
        reason=shelf.placed(tool).reason,
        calls=uses.calls[tool.name],
        last_turn=uses.last.get(tool.name, 0),
    )


def _state(context: CommandContext, tool: Tool, *, in_request: bool, loaded: bool) -> str:
    shelf = context.agent.builder.shelf
    placed = shelf.placed(tool)
    if context.agent.policy.hides(tool.name) is not None or placed.hidden:
        return "BLOCKED"
    status = shelf.status(tool.source)
    if status is not None and status.state in UNAVAILABLE:
        return "MISSING"
    if loaded:
        return "LOADED"
    if in_request:
        return "RESIDENT only" if tool.placement is Placement.TOP_LEVEL_ONLY else "RESIDENT"
    return "PROGRAM" if placed.placement is Placement.PROGRAM_ONLY else "DEFERRED"


def _is_door_left_out(context: CommandContext, tool: Tool) -> bool:
    """tool_search and call_tool are nobody's business where nothing is deferred."""
    return tool.name in (TOOL_SEARCH, CALL_TOOL) and context.agent.builder.shelf.placed(tool).hidden


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
