"""Hooks and servers that a sub-agent's file defines, once the user has agreed to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.events import Notice
from mcode.wiring.departure import Departure
from mcode.wiring.file_consent import FileConsent, file_item, hook_facts
from mcode.wiring.long_calls import LongCalls
from mcode.wiring.server_rules import ServerRules
from mcode.wiring.servers import SessionServers
from mcode.wiring.trust_page import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.call import Call
    from mcode.catalog.catalog import Catalog
    from mcode.catalog.servers import ServerFacts, ServerStatus
    from mcode.config.agent_files import AgentFile
    from mcode.config.settings import HookHandler
    from mcode.events import EventBus
    from mcode.mcp.entries import Scope, ServerEntry
    from mcode.mcp.servers import Servers
    from mcode.pipeline.ask import Desk
    from mcode.pipeline.run import Pipeline
    from mcode.tool import Tool
    from mcode.wiring.core import SessionCore
    from mcode.wiring.workbench import Workbench

START = 30.0
"""Seconds that a sub-agent waits for its own servers before it begins without them."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What of an agent's file counts in this run."""

    hooks: tuple[HookHandler, ...] = ()
    servers: tuple[ServerEntry, ...] = ()


async def brought_along(
    kind: AgentFile, bench: Workbench, desk: Desk, events: EventBus, call: Call
) -> Brought:
    """Read what the kind brings, and where its file is the project's, ask the user; what does not count is said."""
    hooks = () if bench.settings.disable_all_hooks else kind.hooks
    servers = _entries(kind, bench, events)
    if kind.folder is None or kind.path is None or not (hooks or servers):
        return Brought(hooks, servers)
    facts = hook_facts(hooks)
    for entry in servers:
        facts |= _facts_of(entry, bench.masker.mask)
    item = masked(file_item(kind.path, kind.folder, kind.digest, facts), bench.masker.mask)
    wish = f"{kind.path} is a file of this project. For the agent {kind.name} it wants more than to be read:"
    if await FileConsent(bench.trust, desk, events).given(item, wish, call):
        return Brought(hooks, servers)
    what = [*(["its hooks"] if hooks else []), *(["its servers"] if servers else [])]
    events.emit(Notice(f"{kind.path} is not approved, so {' and '.join(what)} do not count.", "warning"))
    return Brought()


def _facts_of(entry: ServerEntry, mask: Callable[[str], str]) -> dict[str, str]:
    from mcode.mcp.server_facts import facts_of

    return {f"server {entry.name}, {label}": text for label, text in facts_of(entry, mask).items()}


def _entries(kind: AgentFile, bench: Workbench, events: EventBus) -> tuple[ServerEntry, ...]:
    """The servers that stand in the kind's own file."""
    if not kind.own_servers:
        return ()
    why = _against(bench)
    if why:
        events.emit(Notice(f"The agent {kind.name} works without servers of its own: {why}.", "warning"))
        return ()
    from mcode.config.report import Report
    from mcode.config.settings import Source
    from mcode.mcp.entry_reading import Origin, read_entry
    from mcode.mcp.server_facts import secret_values

    scope: Scope = "project" if kind.folder is not None else "flag" if kind.scope == "flag" else "user"
    source = Source(scope, kind.path, kind.folder or bench.start, trusted=scope != "project")
    report = Report(source, "", loud=True)
    environment = {**bench.environment, **bench.settings.env}
    origin = Origin(scope, kind.path, bench.start, bench.places.home, environment)
    read = (read_entry(name, value, origin, report, name) for name, value in kind.own_servers.items())
    entries = tuple(entry for entry in read if entry is not None and not entry.disabled)
    for problem in report.problems:
        events.emit(Notice(f"The agent {kind.name}: {problem.key}: {problem.text}", "warning"))
    for entry in entries:
        bench.masker.learn(secret_values(entry))
    return entries


def _against(bench: Workbench) -> str:
    """Why no file but those named may bring servers; empty where any may."""
    from mcode.mcp.server_files import MANAGED_FILE

    if bench.options.strict_mcp:
        return "--strict-mcp-config lets only servers of --mcp-config run"
    if any((place / MANAGED_FILE).exists() for place in bench.places.managed):
        return "the administrator's file says alone which servers there are"
    return ""


@dataclass(slots=True)
class AgentServers:
    """The servers of one sub-agent."""

    above: ServerFacts
    """The session's."""
    own: Servers
    session: SessionServers
    _ends: list[Callable[[], None]] = field(default_factory=list["Callable[[], None]"])

    @classmethod
    def of(
        cls,
        core: SessionCore,
        entries: Sequence[ServerEntry],
        catalog: Catalog,
        above: ServerFacts,
        takes: Callable[[Tool], bool],
    ) -> AgentServers:
        """`core`: the sub-agent's own. `takes`: whether it may have a tool of theirs. Nothing is started yet."""
        bench, workspace = core.bench, core.workspace
        own = bench.pool.beside(entries, workspace.roots if workspace.tree is not None else ())
        session = SessionServers(
            servers=own,
            catalog=catalog,
            events=core.events,
            departure=Departure(bench.endpoint.sent),
            interactive=False,
            rules=ServerRules(own, core.policy),
            long_calls=LongCalls(core.events, moves=False),
            takes=takes,
        )
        return cls(above, own, session, [own.listen(session.refresh)])

    def statuses(self) -> tuple[ServerStatus, ...]:
        """The session's servers and its own."""
        own = self.own.statuses()
        names = {each.name for each in own}
        return (*(each for each in self.above.statuses() if each.name not in names), *own)

    async def settle(self, seconds: float) -> None:
        """Wait, so long at most, until no server is connecting any more."""
        await self.own.settle(seconds)
        await self.above.settle(seconds)

    async def start(self, pipeline: Pipeline) -> tuple[str, ...]:
        """Connect them; a sentence for the sub-agent on each that is not there."""
        self.session.pipeline = pipeline
        await self.own.settle(START)
        lines: list[str] = []
        for status in self.own.statuses():
            if status.tools:
                self.session.refresh(status.name)
            else:
                why = status.error or status.state
                lines.append(f"The MCP server {status.name} is not available: {why}")
        for line in lines:
            self.session.events.emit(Notice(line, "warning"))
        return tuple(lines)

    async def close(self) -> None:
        """End them."""
        for end in self._ends:
            end()
        await self.session.close()
        await self.own.close()
