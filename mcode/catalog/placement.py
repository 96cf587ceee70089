"""Where each tool sits, decided once a session: one pure function, which gives a reason for each decision.

The order of the rules: what the model alone may call stays resident; then what the settings say of the tool, then
of its server; then what the tool or its server says of itself; then sizes. `programs: first` comes last and moves
what programs can call out of the request.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcode.tool import Tool

SearchMode: TypeAlias = Literal["always", "auto", "never"]
"""When tools are deferred: all that can be, by their size, or none."""

ProgramsMode: TypeAlias = Literal["off", "beside", "first"]
"""Whether programs may be written, and whether what they can call is called by them alone."""

LoadingWay: TypeAlias = Literal["reference", "call", "append"]
"""How a tool that was found becomes callable (architecture: placement and loading)."""

Pin: TypeAlias = Literal["resident", "deferred", "program-only", "hidden", "auto"]
"""What the settings may say of a tool or a server."""

PINS: tuple[Pin, ...] = ("resident", "deferred", "program-only", "hidden", "auto")

TOOL_SEARCH = "tool_search"
CALL_TOOL = "call_tool"
RUN_CODE = "run_code"

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""Key of a tool's `_meta` that goes before what its server's entry says."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where one tool sits, and why."""

    placement: Placement
    reason: str
    """A sentence without its full stop, for `/tools why`."""
    hidden: bool = False
    """True where neither the model nor a program gets to know of it."""
    direct: bool = True
    """False where only programs may call it."""


@dataclass(frozen=True, slots=True)
class PlacementRules:
    """All that decides, beside the tools themselves."""

    mode: SearchMode = "auto"
    threshold: int = 10_000
    """Tokens of definitions that servers may have in the request together, in mode `auto`."""
    because: str = "no more than 10 % of the window, or 10,000 tokens"
    """Where the threshold or the mode comes from."""
    pins: Mapping[str, Pin] = field(default_factory=dict[str, Pin])
    """By name of a tool, of a server, or `mcp__server`."""
    always_loaded: frozenset[str] = frozenset()
    """Servers whose entries say `alwaysLoad`."""
    expects_servers: bool = False
    """True where servers are configured, whose tools may come or change at any time."""
    searchable: bool = True
    """False where a rule denies tool_search: nothing can be deferred then."""
    programs: ProgramsMode = "off"
    way: LoadingWay = "call"


def place(tools: Sequence[Tool], rules: PlacementRules, count: Callable[[Tool], int]) -> dict[str, Placed]:
    """The place of each tool, by name. `count` measures the tokens of a definition."""
    placed = {tool.name: _settled(tool, rules) for tool in tools}
    open_ones = [tool for tool in tools if placed[tool.name] is None]
    by_size = _by_size(open_ones, rules, count)
    decided = {name: by_size[name] if known is None else known for name, known in placed.items()}
    if TOOL_SEARCH not in decided or not rules.searchable:
        decided = {name: _without_search(each) for name, each in decided.items()}
    if rules.programs == "first" and RUN_CODE in decided:
        pinned = {tool.name for tool in tools if pin_of(tool, rules.pins)[0] == "resident"}
        decided = {name: _for_programs(each, name in pinned) for name, each in decided.items()}
    return decided | _doors(decided, rules)


def pin_of(tool: Tool, pins: Mapping[str, Pin]) -> tuple[Pin, str]:
    """What the settings say of a tool, and the key that says it; `auto` and an empty key where nothing does."""
    if not pins:
        return "auto", ""
    keys = [tool.name]
    if tool.source != "core":
        keys += [tool.source, f"mcp__{tool.source}", f"mcp__{tool.source}__*"]
    for key in keys:
        pin = pins.get(key)
        if pin is not None:
            return pin, key
    return "auto", ""


def always_loads(tool: Tool, servers: frozenset[str] = frozenset()) -> bool:
    """Whether a server's tool asks to be in every request: its own `_meta` goes before its server's entry."""
    meta: object = getattr(tool, "meta", None)
    said: object = meta.get(ALWAYS_LOAD) if isinstance(meta, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- foreign JSON
    if isinstance(said, bool):
        return said
    return bool(getattr(tool, "always_load", False)) or tool.source in servers


def late(tool: Tool, *, searchable: bool) -> Placed:
    """The place of a tool that appeared after the first request."""
    if searchable:
        return Placed(Placement.DEFERRED, "it appeared after the first request, which stays as it was sent")
    why = "it appeared after the first request, in a session that has no tool_search; /clear begins one that has"
    return Placed(Placement.DEFERRED, f"{tool.name} cannot be reached: {why}", hidden=True)


def _settled(tool: Tool, rules: PlacementRules) -> Placed | None:
    """The place of a tool whatever its size; None for one of a server that sizes decide on."""
    pin, key = pin_of(tool, rules.pins)
    said = f"`mcode.placement` says {pin} for {key}"
    if pin == "hidden":
        return Placed(tool.placement, said, hidden=True)
    if tool.name == RUN_CODE and rules.programs == "off":
        return Placed(tool.placement, "`mcode.programs` is `off`", hidden=True)
    if tool.seldom and rules.mode != "never" and rules.programs != "first":
        return Placed(Placement.DEFERRED, "the model alone may call it, and it is seldom needed")
    if tool.placement is Placement.TOP_LEVEL_ONLY:
        return Placed(Placement.TOP_LEVEL_ONLY, "the model alone may call it, so it is in every request")
    if pin != "auto":
        return _pinned(pin, said, rules)
    if tool.source == "core":
        return _own(tool, rules)
    if always_loads(tool, rules.always_loaded):
        return Placed(Placement.RESIDENT, f"`alwaysLoad` is set for it or for its server {tool.source}")
    if rules.mode == "always":
        return Placed(Placement.DEFERRED, f"tools of servers are always deferred: {rules.because}")
    if rules.mode == "never":
        return Placed(Placement.RESIDENT, f"nothing is deferred: {rules.because}")
    return None


def _pinned(pin: Pin, said: str, rules: PlacementRules) -> Placed:
    if pin == "program-only" and rules.programs == "off":
        return Placed(
            Placement.DEFERRED, f"{said}, but there are no programs in this session, so it is deferred"
        )
    return Placed(Placement(pin), said, direct=pin != "program-only")


def _own(tool: Tool, rules: PlacementRules) -> Placed:
    if tool.placement is not Placement.DEFERRED:
        direct = tool.placement is not Placement.PROGRAM_ONLY
        return Placed(tool.placement, "a core tool: always in the request", direct=direct)
    if rules.mode == "never":
        return Placed(Placement.RESIDENT, f"nothing is deferred: {rules.because}")
    return Placed(Placement.DEFERRED, "a tool of mcode's own that is seldom needed")


def _by_size(tools: Sequence[Tool], rules: PlacementRules, count: Callable[[Tool], int]) -> dict[str, Placed]:
    """Defer servers, the largest first, until the definitions of the others stay within the threshold."""
    servers: dict[str, list[Tool]] = {}
    for tool in tools:
        servers.setdefault(tool.source, []).append(tool)
    sizes = {name: _size(members, rules.threshold, count) for name, members in servers.items()}
    total = sum(sizes.values())
    limit = f"the limit of {rules.threshold:,} tokens ({rules.because})"
    if total <= rules.threshold:
        why = f"the definitions of all servers have {total:,} tokens, within {limit}"
        return {tool.name: Placed(Placement.RESIDENT, why) for tool in tools}
    placed: dict[str, Placed] = {}
    left = total
    for name in sorted(sizes, key=lambda each: (-sizes[each], each)):
        over = left > rules.threshold
        least = "more than " if sizes[name] > rules.threshold else ""
        has = f"{name} has {least}{sizes[name]:,} tokens of definitions"
        if over:
            left -= sizes[name]
            result = Placed(
                Placement.DEFERRED, f"all servers together are over {limit}; {has}, the largest go first"
            )
        else:
            result = Placed(
                Placement.RESIDENT,
                f"{has}; what stays has {left:,} in all, within {limit}, larger ones are deferred",
            )
        placed |= {tool.name: result for tool in servers[name]}
    return placed


def _size(tools: Sequence[Tool], enough: int, count: Callable[[Tool], int]) -> int:
    """Tokens of the tools together; counting ends where a server alone is over what is allowed."""
    size = 0
    for tool in tools:
        size += count(tool)
        if size > enough:
            break
    return size


def _without_search(placed: Placed) -> Placed:
    """The same place where nothing leads to deferred tools."""
    if placed.placement is not Placement.DEFERRED or placed.hidden:
        return placed
    return Placed(Placement.RESIDENT, "a rule denies tool_search, so nothing is deferred")


def _for_programs(placed: Placed, pinned: bool) -> Placed:
    """The same place where programs come first: what they can call, only they call."""
    if pinned or placed.placement is Placement.TOP_LEVEL_ONLY:
        return placed
    if placed.placement is Placement.DEFERRED:
        return replace(placed, direct=False)
    why = "`mcode.programs` is `first`: what programs can call, they alone call"
    return Placed(Placement.PROGRAM_ONLY, why, hidden=placed.hidden, direct=False)


def _doors(decided: Mapping[str, Placed], rules: PlacementRules) -> dict[str, Placed]:
    """The tools that lead to deferred ones: in the request only where something is deferred or may come."""
    deferred = any(each.placement is Placement.DEFERRED and not each.hidden for each in decided.values())
    needed = deferred or rules.expects_servers
    doors: dict[str, Placed] = {}
    for name in (TOOL_SEARCH, CALL_TOOL):
        if name not in decided or decided[name].hidden:
            continue
        why = "it leads to what is deferred, so it is in every request"
        if not needed:
            why = "nothing is deferred"
        elif name == CALL_TOOL and rules.way != "call":
            why = f"tools that were found are called by their own names ({rules.way} loading)"
        elif name == CALL_TOOL and rules.programs == "first":
            why = "`mcode.programs` is `first`: tools that were found are called by programs"
        else:
            doors[name] = Placed(Placement.TOP_LEVEL_ONLY, why)
            continue
        doors[name] = Placed(Placement.TOP_LEVEL_ONLY, why, hidden=True)
    return doors
