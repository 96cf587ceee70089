"""One configured server: its entry, its connection, and what it offers now or offered the last time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcode.catalog.servers import ServerStatus
from mcode.mcp.connection import Connection
from mcode.mcp.definitions import Catalogue, cut_bytes, read_definitions
from mcode.mcp.last_try import keep_try
from mcode.mcp.limits import limits_of
from mcode.mcp.pins import Pins
from mcode.mcp.restarts import Restarts
from mcode.mcp.server_facts import scrubber
from mcode.mcp.server_log import ServerLog
from mcode.process.environment import MODEL_KEYS, child_environment
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from pathlib import Path

    from mcode.catalog.servers import ServerState
    from mcode.mcp.cache import CatalogueCache
    from mcode.mcp.definitions import Definition
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.listing import Offer
    from mcode.mcp.screen import Screen

INSTRUCTIONS_LIMIT = 2048
"""Bytes of a server's instructions that are kept."""

LINE_LIMIT = 160
"""Characters of a server's line."""

TRIED: frozenset[ServerState] = frozenset({"connected", "failed", "needs sign-in"})
"""States at the end of an attempt to connect."""

STALE = 24 * 3600.0
"""Seconds after which what a server offered the last time is looked at anew without waiting for a call."""


@dataclass(frozen=True, slots=True, repr=False)
class Surroundings:
    """What servers need of the program around them. Has no `repr`: the environment may hold secrets."""

    start: Path
    """The start directory: absolute and resolved."""
    environment: Mapping[str, str]
    """mcode's own."""
    state: Path
    """mcode's directory, for the cache and the pins."""
    logs: Path
    mask: Callable[[str], str] = str
    keys: Collection[str] = ()
    """The model's keys, which no server inherits."""
    roots: Callable[[], tuple[Path, ...]] = lambda: ()
    """The working directories, for servers that are told of them."""
    remote: Callable[[ServerEntry], Any] | None = None
    """Makes the transport of an http or sse server; None where there are none."""
    sign_in: Callable[[ServerEntry, Callable[[str], None]], Awaitable[tuple[bool, str]]] | None = None
    """Signs the user in at such a server, showing what has to be done; whether it worked, and a sentence on it."""


@dataclass(slots=True)
class Server:
    """Keeps one server. Never raises for what a server does."""

    entry: ServerEntry
    around: Surroundings
    cache: CatalogueCache
    on_tools: Callable[[str], None]
    """Told the name when the tools have changed."""
    on_state: Callable[[], None]
    refused: str = ""
    """Why the server can never be connected under its name; empty where it can."""
    queued: bool = False
    """It will be connected as soon as its turn comes."""
    catalogue: Catalogue | None = None
    connection: Connection = field(init=False)
    pins: Pins = field(init=False)
    log: ServerLog = field(init=False)
    _launched: Any = None
    """The transport of the present attempt."""
    _scrub: Callable[[str], str] = field(init=False)

    def __post_init__(self) -> None:
        entry, around = self.entry, self.around
        self._scrub = scrubber(entry)
        self.log = ServerLog(around.logs / "mcp" / f"{entry.name}.log", self._mask)
        self.pins = Pins(around.state / "mcp-pins" / f"{entry.hash[:40]}.json")
        self.connection = Connection(
            entry.name,
            self._dial,
            limits_of(entry, around.environment),
            on_state=self._state_changed,
            on_offer=self._take,
            roots=self._roots if entry.own.get("roots") is True else None,
            describe_fault=self._fault,
            on_log=self.log.note,
            restarts=Restarts.of(entry.kind),
        )

    @property
    def name(self) -> str:
        return self.entry.name

    def _mask(self, text: str) -> str:
        """The text without the secrets of the environment, and without those of the entry itself."""
        return self.around.mask(self._scrub(text))

    @property
    def usable(self) -> bool:
        """Whether it may be started at all."""
        return not (self.refused or self.entry.disabled or self.entry.needs_approval)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        return self.catalogue.definitions if self.catalogue is not None and self.usable else ()

    @property
    def wants_connection(self) -> bool:
        """Whether it should be connected without waiting for a call: nothing is known of it, or that is old."""
        if not self.usable or self.connection.state != "off":
            return False
        return self.catalogue is None or self.entry.always_load or self.cache.age(self.entry.hash) > STALE

    @property
    def holds_request(self) -> bool:
        """Whether its tools belong into the first request, it may run, and nothing is known of what it offers."""
        return self.entry.always_load and self.usable and self.catalogue is None

    def load(self) -> None:
        """Take what it offered the last time from the cache."""
        if self.usable:
            self.catalogue = self.cache.load(self.entry.hash)

    def status(self) -> ServerStatus:
        state, error = self._state()
        return ServerStatus(
            self.name,
            state,
            len(self.definitions),
            line=self._line(),
            error=clean(self._mask(error), Kind.LINE)[:500],
            always_load=self.entry.always_load,
            transport=self.entry.kind,
            taken_out=self.connection.traffic.in_words(),
        )

    def _state_changed(self) -> None:
        self.on_state()
        status = self.status()
        if status.state in TRIED:
            keep_try(self.cache.directory, self.entry.hash, status)

    def _state(self) -> tuple[ServerState, str]:
        entry, live = self.entry, self.connection
        if self.refused:
            return "failed", self.refused
        if entry.disabled:
            return "disabled", entry.why_disabled
        if entry.needs_approval:
            return "needs approval", entry.why_unapproved
        if live.state == "off":
            if self.catalogue is not None and not self.queued:
                return "cached", ""
            # Nothing is known of it yet: it is connected as soon as its turn comes.
            return ("off" if live.closed else "connecting"), ""
        if live.state == "failed" and getattr(self._launched, "needs_sign_in", False):
            return "needs sign-in", live.error
        return live.state, live.error

    def _line(self) -> str:
        if self.catalogue is None:
            return ""
        lines = (line.strip(" #*-\t") for line in self.catalogue.instructions.splitlines())
        first = next((line for line in lines if line), self.catalogue.title)
        return clean(first, Kind.LINE)[:LINE_LIMIT]

    async def _take(self, offer: Offer) -> None:
        """Put what the server offers in place of what was known, and keep it for the next start."""
        before = self.catalogue or Catalogue()
        entry = self.entry
        now = before
        if offer.tools is not None:
            definitions, problems = await asyncio.to_thread(
                read_definitions,
                self.name,
                offer.tools,
                include=entry.include_tools,
                exclude=entry.exclude_tools,
            )
            await asyncio.to_thread(self.pins.see, definitions, before.lookup)
            same = [each.digest for each in definitions] == [each.digest for each in before.definitions]
            kept = before.definitions if same and before.definitions else definitions
            now = replace(
                now,
                definitions=kept,
                lookup={each.name: each for each in kept},
                problems=tuple(clean(each, Kind.LINE)[:300] for each in (*offer.problems, *problems)),
                title=clean((offer.title or "")[:200], Kind.LINE),
                instructions=cut_bytes(clean(offer.instructions or "", Kind.MODEL), INSTRUCTIONS_LIMIT),
            )
        if offer.prompts is not None:
            now = replace(now, prompts=offer.prompts)
        if offer.resources is not None:
            now = replace(now, resources=offer.resources)
        changed = self.catalogue is None or now.definitions is not before.definitions
        self.catalogue = now
        if changed:
            self.on_tools(self.name)
        if now is not before:
            await asyncio.to_thread(self.cache.save, entry.hash, now)

    def _dial(self, screen: Screen, on_end: Callable[[], None]) -> Any:
        if self.entry.kind == "stdio":
            from mcode.mcp.stdio import Launch, StdioTransport

            launch = Launch(
                (self.entry.command, *self.entry.args),
                self.entry.cwd or self.around.start,
                self._environment(),
            )
            self._launched = StdioTransport(launch, screen, self.log, on_end=on_end)
            return self._launched
        if self.around.remote is None:
            raise RuntimeError(f"servers of type {self.entry.kind} cannot be reached here")
        from mcode.mcp.remote import ScreenedTransport

        self._launched = self.around.remote(self.entry)
        return ScreenedTransport(self._launched, screen, on_end)

    def _environment(self) -> dict[str, str]:
        entry, around = self.entry, self.around
        places = {"CLAUDE_PROJECT_DIR": str(around.start), "MCODE_PROJECT_DIR": str(around.start)}
        environment = child_environment(around.environment, {**entry.env, **places}, keys=around.keys)
        if entry.scope != "project":
            # Whoever writes a key of the model into an entry of their own means the server to have it.
            environment |= {name: value for name, value in entry.env.items() if name in MODEL_KEYS}
        return environment

    def _roots(self) -> list[tuple[str, str]]:
        return [(path.as_uri(), path.name) for path in self.around.roots()]

    def _fault(self) -> str:
        """What is known of why the process ended, with its last words."""
        fault = getattr(self._launched, "fault", "")
        words = self.log.last_words() if fault else ""
        return f"{fault}; it said: {words}" if words else fault
