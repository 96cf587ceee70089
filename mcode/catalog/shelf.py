"""The session's tools with everything that is known of them: where each sits, what was loaded, how one is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.found import Finding, program_call
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.call import Call
    from mcode.catalog.catalog import Catalog
    from mcode.catalog.definitions import Definitions
    from mcode.catalog.finder import Finder
    from mcode.catalog.placement import LoadingWay, Placed
    from mcode.catalog.placements import Placements
    from mcode.catalog.seen import Seen
    from mcode.catalog.servers import ServerFacts, ServerStatus
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

WIDE = 60
"""Hits that are looked at: some of them may be hidden by rules."""

RANKS = 15
"""Hits that are shown, those with their definitions among them."""


@dataclass(slots=True)
class Shelf:
    """One for each session, put together by `wiring`."""

    catalog: Catalog
    placements: Placements
    seen: Seen
    finder: Finder
    definitions: Definitions
    servers: ServerFacts
    permission: Callable[[Tool], str]
    """What a rule or the mode says of a tool: `deny`, `ask`, `allow`, perhaps with more words behind it."""
    way: LoadingWay
    """How a tool that was found becomes callable; changes only where an endpoint refuses one."""

    def placed(self, tool: Tool) -> Placed:
        """Where a tool sits, and why."""
        return self.placements.of(tool)

    def visible(self, name: str) -> Tool | None:
        """The tool of this name, unless it is hidden or denied."""
        tool = self.catalog.find(name)
        if tool is None or self.placed(tool).hidden or self.permission(tool).startswith("deny"):
            return None
        return tool

    def status(self, server: str) -> ServerStatus | None:
        """How a server stands; None for what is no server."""
        return next((each for each in self.servers.statuses() if each.name == server), None)

    def is_unloaded(self, tool: Tool) -> bool:
        """True for a deferred tool that the model has not been shown, so that programs cannot call it either."""
        return self.placed(tool).placement is Placement.DEFERRED and not self.seen.is_loaded(tool.name)

    def load_by_call(self, tool: Tool, call: Call) -> None:
        """Load a deferred tool that the model calls without having searched for it."""
        if self.is_unloaded(tool):
            self.seen.load([self.definitions.loaded(tool)], "call", turn=call.turn, call=call.id)

    def program_for(self, tool: Tool, arguments: JsonObject) -> str:
        """The program that makes a call which only programs may make."""
        return f"return await {program_call(tool.name, jsontext.dump(arguments))};"

    async def find(self, query: str, server: str | None = None) -> Finding:
        """One query, without loading anything: the real search, with what may not be shown left out."""
        found = await self.finder.search(query, WIDE, server)
        hits = [(hit, tool) for hit in found.hits if (tool := self.visible(hit.name)) is not None]
        return Finding(query, tuple(hits[:RANKS]), found.no_match or not hits, found.searched, found.fault)
