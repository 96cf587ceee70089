"""Where the tools of this session sit: decided anew until the first request, and then as that was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog.placement import TOOL_SEARCH, Placed, late, pin_of, place
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.catalog.catalog import Catalog
    from mcode.catalog.placement import PlacementRules
    from mcode.tool import Tool


@dataclass(frozen=True, slots=True)
class _Sent:
    """What the first request held."""

    tools: frozenset[str]
    program_only: frozenset[str]


class Placements:
    """Answers where a tool sits; every tool of the catalogue has a place at any moment."""

    def __init__(
        self, catalog: Catalog, rules: Callable[[], PlacementRules], count: Callable[[Tool], int]
    ) -> None:
        """`rules` is asked once for every state of the catalogue; `count` measures a definition in tokens."""
        self._catalog = catalog
        self._rules = rules
        self._count = count
        self._sent: _Sent | None = None
        self._decided: dict[str, Placed] = {}
        self._groups: dict[Placement, tuple[Tool, ...]] = {}
        self._version = -1

    @property
    def frozen(self) -> bool:
        """True once a first request was sent: what appears from now on is deferred."""
        return self._sent is not None

    @property
    def rules(self) -> PlacementRules:
        """What decides at this moment."""
        return self._rules()

    def of(self, tool: Tool) -> Placed:
        """The place of one tool."""
        decided = self._decided if self._version == self._catalog.version else self._table()
        return decided.get(tool.name) or late(tool, searchable=True)

    def resident(self) -> tuple[Tool, ...]:
        """The tools whose definitions the request holds from its beginning, in order of their names."""
        both = (*self._group(Placement.RESIDENT), *self._group(Placement.TOP_LEVEL_ONLY))
        return tuple(sorted(both, key=lambda tool: tool.name))

    def deferred(self) -> tuple[Tool, ...]:
        """The tools that only a search brings in, in order of their names; the same object until that changes."""
        return self._group(Placement.DEFERRED)

    def program_only(self) -> tuple[Tool, ...]:
        """The tools that only programs call and whose signatures stand in run_code's description."""
        return self._group(Placement.PROGRAM_ONLY)

    def freeze(self, tools: Iterable[str], program_only: Iterable[str] = ()) -> None:
        """A request with these definitions was sent, by this process or, before a resume, by another."""
        self._sent = _Sent(frozenset(tools), frozenset(program_only))
        self._version = -1

    def thaw(self) -> None:
        """A new prefix begins: everything is decided anew."""
        self._sent = None
        self._version = -1

    def refresh(self) -> None:
        """Something beside the tools has changed that the rules speak of."""
        self._version = -1

    def _group(self, placement: Placement) -> tuple[Tool, ...]:
        """The tools of one placement that are not hidden."""
        self._table()
        return self._groups.get(placement, ())

    def _table(self) -> dict[str, Placed]:
        if self._version != self._catalog.version:
            tools = tuple(self._catalog)
            rules = self._rules()
            decided = place(tools, rules, self._count) if self._sent is None else self._as_sent(tools, rules)
            self._decided, self._version = decided, self._catalog.version
            groups: dict[Placement, list[Tool]] = {}
            members: dict[int, list[Tool]] = {}  # by identity of the place, which a server's tools share
            for tool in tools:
                placed = decided[tool.name]
                listed = members.get(id(placed))
                if listed is None:
                    listed = [] if placed.hidden else groups.setdefault(placed.placement, [])
                    members[id(placed)] = listed
                listed.append(tool)
            found = {placement: tuple(listed) for placement, listed in groups.items()}
            for placement, before in self._groups.items():
                if found.get(placement) == before:
                    found[placement] = before
            self._groups = found
        return self._decided

    def _as_sent(self, tools: tuple[Tool, ...], rules: PlacementRules) -> dict[str, Placed]:
        sent = self._sent or _Sent(frozenset(), frozenset())
        searchable = TOOL_SEARCH in sent.tools
        direct = rules.programs != "first"
        placed: dict[str, Placed] = {}
        for tool in tools:
            before = self._decided.get(tool.name)
            if before is not None and searchable and _stays_deferred(before, direct):
                placed[tool.name] = before
            elif tool.name in sent.tools:
                where = (
                    Placement.TOP_LEVEL_ONLY
                    if tool.placement is Placement.TOP_LEVEL_ONLY
                    else Placement.RESIDENT
                )
                placed[tool.name] = Placed(
                    where, self._reason(tool, "it is in every request of this session")
                )
            elif tool.name in sent.program_only:
                why = self._reason(tool, "programs alone call it in this session")
                placed[tool.name] = Placed(Placement.PROGRAM_ONLY, why, direct=False)
            elif tool.placement is Placement.TOP_LEVEL_ONLY and not tool.seldom:
                placed[tool.name] = Placed(tool.placement, "this session began without it", hidden=True)
            else:
                placed[tool.name] = self._not_sent(tool, rules, searchable)
        return placed

    def _not_sent(self, tool: Tool, rules: PlacementRules, searchable: bool) -> Placed:
        pin, key = pin_of(tool, rules.pins)
        if pin == "hidden":
            return Placed(tool.placement, f"`mcode.placement` says hidden for {key}", hidden=True)
        placed = late(tool, searchable=searchable)
        before = self._decided.get(tool.name)
        reason = before.reason if before is not None and searchable else placed.reason
        direct = rules.programs != "first"
        return Placed(placed.placement, reason, hidden=placed.hidden, direct=direct)

    def _reason(self, tool: Tool, otherwise: str) -> str:
        """Why it was decided, where this process decided it."""
        before = self._decided.get(tool.name)
        return before.reason if before is not None else otherwise


def _stays_deferred(placed: Placed, direct: bool) -> bool:
    return placed.placement is Placement.DEFERRED and not placed.hidden and placed.direct is direct
