"""The catalogue of a session: placement, search and loading, put together from the settings and the endpoint."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.catalog.call_tool import CallTool
from mcode.catalog.definitions import Definitions
from mcode.catalog.finder import Finder
from mcode.catalog.hints import Hints, read_hints
from mcode.catalog.placement import CALL_TOOL, RUN_CODE, TOOL_SEARCH, PlacementRules
from mcode.catalog.placement_settings import (
    PROGRAMS,
    VARIABLE,
    CatalogueSettings,
    read_catalogue_settings,
)
from mcode.catalog.placements import Placements
from mcode.catalog.seen import Seen
from mcode.catalog.servers import NoServers, ServerFacts
from mcode.catalog.shelf import Shelf
from mcode.catalog.tool_search import ToolSearch
from mcode.config.hint_file import HINTS, KEY
from mcode.events import Notice
from mcode.pipeline.standing import standing_permission
from mcode.pipeline.validate import SchemaValidator, shape_fault
from mcode.wiring.endpoint_memory import EndpointMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.catalog.catalog import Catalog
    from mcode.catalog.placement import LoadingWay, ProgramsMode
    from mcode.events import EventBus
    from mcode.wiring.core import SessionCore
    from mcode.wiring.departure import Departure
    from mcode.wiring.workbench import Workbench

APART = frozenset({TOOL_SEARCH, CALL_TOOL, RUN_CODE})
"""Tools that no search finds: they are there whenever they can be used."""

WARM_AFTER = 1.0
"""Seconds into the session after which the index is built, so that the first frame and the first key come first."""

logger = logging.getLogger(__name__)


class SessionCatalogue:
    """Builds the shelf of a session, and keeps what its endpoint refuses."""

    def __init__(self, core: SessionCore, catalog: Catalog) -> None:
        bench, policy = core.bench, core.policy
        self._bench = bench
        self._policy = policy
        self._memory = EndpointMemory(
            bench.places.state / "cache" / "endpoints.json", bench.endpoint.base_url
        )
        self._warming: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None
        self._settings = self._read_settings()
        self._hints = _hints(bench)
        definitions = Definitions(
            self._hints.tools, native_examples=bench.endpoint.native_examples, check=shape_fault
        )
        own_way = "reference" if bench.endpoint.reference_loading else "call"
        self.shelf = Shelf(
            catalog=catalog,
            placements=Placements(catalog, self._rules, definitions.tokens),
            seen=Seen(core.conversation),
            finder=Finder(catalog, definitions.entry, APART, bench.places.state / "cache" / "vectors.db"),
            definitions=definitions,
            servers=NoServers(),
            permission=lambda tool: standing_permission(policy, tool),
            way=self._way(own_way),
        )
        catalog.add(ToolSearch(self.shelf))
        catalog.add(CallTool())

    def _read_settings(self) -> CatalogueSettings:
        bench, own = self._bench, self._bench.settings.own
        variables = {**bench.environment, **bench.settings.own_env}
        return read_catalogue_settings(
            own.tool_search, own.placement, own.programs, variables.get(VARIABLE), bench.endpoint.window
        )

    def learn_window(self) -> None:
        """The model was chosen, and with it the window: the limit for definitions is worked out anew."""
        self._settings = replace(self._read_settings(), programs=self._settings.programs)
        self.shelf.placements.refresh()

    @property
    def notices(self) -> Sequence[Notice]:
        """What the user should know of settings and hints that could not be used."""
        problems = (*self._settings.problems, *self._hints.problems)
        return tuple(Notice(f"{problem}.", "warning") for problem in problems)

    @property
    def programs(self) -> ProgramsMode:
        """Whether programs may be written, and whether what they can call is called by them alone."""
        return self._settings.programs

    def use_programs(self, mode: str) -> None:
        """Switch the programs mode for this session; what is no mode changes nothing."""
        for known in PROGRAMS:
            if mode == known:
                self._settings = replace(self._settings, programs=known)
                self.shelf.placements.refresh()

    def join_servers(self, servers: ServerFacts) -> None:
        """Take in whoever keeps the MCP servers."""
        self.shelf.servers = servers
        self.shelf.placements.refresh()

    def remember_refusal(self) -> None:
        """Note for later sessions that this endpoint does not take references."""
        self._memory.keep("loading", "call")

    async def check_examples(self, events: EventBus) -> None:
        """Have examples of hints that do not fit their tools reported, now and where tools come or change later."""
        if not any(hint.examples for hint in self._hints.tools.values()):
            return
        await SchemaValidator().prepare()
        definitions, catalog = self.shelf.definitions, self.shelf.catalog
        definitions.report = lambda text: events.emit(Notice(text, "warning"))

        def check(source: str) -> None:
            for tool in catalog:
                if tool.name in self._hints.tools and source in ("", tool.source):
                    definitions.examples(tool)

        self._forget = catalog.listen(check)
        check("")

    def start(self, departure: Departure) -> None:
        """Build the index in the background: where nobody sits at a terminal, after the first request went out."""
        self._warming = asyncio.create_task(self._warm(departure))

    async def close(self) -> None:
        """End the search and its threads."""
        self._forget()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait({self._warming})
        await self.shelf.finder.close()

    async def _warm(self, departure: Departure) -> None:
        if not self._bench.interactive:
            await departure.request()
        await asyncio.sleep(WARM_AFTER)
        await departure.clear()
        if self.shelf.placements.deferred():
            await self.shelf.finder.warm()

    def _way(self, otherwise: LoadingWay) -> LoadingWay:
        way = self._settings.way_for(self._bench.endpoint.client.name, otherwise)
        refused = way == "reference" and self._memory.get("loading") == "call"
        return "call" if refused else way

    def _rules(self) -> PlacementRules:
        statuses = self.shelf.servers.statuses()
        denied = self._policy.hides(TOOL_SEARCH) is not None
        return replace(
            self._settings.rules(),
            pins={**self._hints.pins, **self._settings.pins},
            always_loaded=frozenset(each.name for each in statuses if each.always_load),
            expects_servers=any(each.state != "disabled" for each in statuses) and not denied,
            searchable=not denied,
            way=self.shelf.way,
        )


def _hints(bench: Workbench) -> Hints:
    """The user's hints for tools, where their files count, and those of the folder as far as they were approved."""
    own = (bench.places.state / "tools.json",) if "user" in bench.options.setting_sources else ()
    approved = {item.folder / KEY: item.digest for item in bench.settings.granted if item.kind == HINTS}
    return read_hints((*own, *approved), approved)
