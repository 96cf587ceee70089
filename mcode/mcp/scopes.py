"""All servers of one start: from every file, the strongest entry of each name, and which of them may run.

Runs before the first frame: no slow library, nothing started, plain files only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode.config.load import SETTING_SOURCES, unusable
from mcode.config.settings import Problem, Source
from mcode.config.trust import MCP_SERVER, Item
from mcode.mcp.entry_reading import Origin, read_entry
from mcode.mcp.server_files import (
    MANAGED_FILE,
    claude_file,
    own_file,
    project_files,
    project_keys,
    read_servers,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.settings import Settings
    from mcode.config.trust import TrustStore
    from mcode.mcp.entries import Scope, ServerEntry
    from mcode.mcp.server_files import ServerFile


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says about servers."""

    configs: tuple[str, ...] = ()
    """Of `--mcp-config`: files or JSON texts; a later one is the stronger."""
    strict: bool = False
    """`--strict-mcp-config`: nothing but `configs` counts."""
    sources: frozenset[str] = SETTING_SOURCES
    """`--setting-sources`: of `user`, `project` and `local`, the scopes that are read."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The servers that are configured, and what is wrong with their files."""

    entries: tuple[ServerEntry, ...] = ()
    """One a name, in order of names; also those that are disabled or wait for approval."""
    asking: tuple[ServerEntry, ...] = ()
    """Servers of the project that the user has to approve, also where an entry of the user's stands in meanwhile."""
    shadowed: tuple[ServerEntry, ...] = ()
    """Entries that lose against a stronger one of the same name."""
    problems: tuple[Problem, ...] = ()


def gather(
    places: Places,
    start: Path,
    settings: Settings,
    *,
    environment: Mapping[str, str],
    trust: TrustStore,
    wanted: Wanted | None = None,
) -> Gathered:
    """Read every file and decide. `start` is absolute and resolved; `environment` is the process's own."""
    gathering = _Gathering(places, start, {**environment, **settings.env}, wanted or Wanted())
    found = [_judge(entry, settings, trust) for entry in gathering.entries()]
    found = [_opted_out(entry, gathering.opt_outs) for entry in found]
    chosen: dict[str, ServerEntry] = {}
    shadowed: list[ServerEntry] = []
    # A project's server that may not run takes no name away from one of the user's.
    for entry in sorted(found, key=_is_idle):
        if entry.name in chosen:
            shadowed.append(entry)
        else:
            chosen[entry.name] = entry
    asking = {entry.name: entry for entry in _first_of_each(found) if entry.needs_approval}
    problems = list(gathering.problems())
    if trust.fault:
        problems.append(Problem(None, "", trust.fault, "error"))
    return Gathered(
        entries=tuple(chosen[name] for name in sorted(chosen)),
        asking=tuple(asking[name] for name in sorted(asking)),
        shadowed=tuple(shadowed),
        problems=tuple(problems),
    )


def check_configs(configs: Iterable[str], start: Path, home: Path) -> None:
    """Raise UsageError where a file or text of `--mcp-config` cannot be used."""
    for config in configs:
        file = _read_flag(config, start, home)
        if file.fault or not file.found:
            raise unusable("--mcp-config", file.source.path, file.fault)


def trust_item(entry: ServerEntry, facts: Mapping[str, str] | None = None) -> Item:
    """A project's server as the store of approvals knows it."""
    if entry.path is None:
        raise ValueError("only an entry of a file can be approved")
    return Item(MCP_SERVER, entry.name, entry.hash, entry.path.parent, facts or {})


def _is_idle(entry: ServerEntry) -> bool:
    return entry.scope == "project" and (entry.needs_approval or entry.disabled)


def _first_of_each(entries: Iterable[ServerEntry]) -> Iterable[ServerEntry]:
    """The strongest entry of each name."""
    by_name: dict[str, ServerEntry] = {}
    for entry in entries:
        by_name.setdefault(entry.name, entry)
    return by_name.values()


def _judge(entry: ServerEntry, settings: Settings, trust: TrustStore) -> ServerEntry:
    """A project's entry with whether it may run: by the user's settings, else by the user's answer."""
    if entry.scope != "project":
        return entry
    if entry.disabled:
        return entry
    if entry.name in settings.disabled_mcpjson_servers:
        return replace(entry, disabled=True, why_disabled="the settings have it in disabledMcpjsonServers")
    if settings.enable_all_project_mcp_servers or entry.name in settings.enabled_mcpjson_servers:
        return entry
    item = trust_item(entry)
    if trust.is_approved(item):
        return entry
    if trust.is_refused(item):
        return replace(entry, disabled=True, why_disabled="you refused it")
    new = trust.earlier(item) is None
    return replace(entry, needs_approval=True, why_unapproved="new" if new else "changed")


def _opted_out(entry: ServerEntry, names: frozenset[str]) -> ServerEntry:
    if entry.name not in names or entry.disabled:
        return entry
    return replace(entry, disabled=True, why_disabled="it is switched off for this project")


@dataclass(slots=True)
class _Gathering:
    """The files while they are read."""

    places: Places
    start: Path
    environment: Mapping[str, str]
    wanted: Wanted
    files: list[ServerFile] = field(init=False, default_factory=list["ServerFile"])
    opt_outs: frozenset[str] = frozenset()

    def problems(self) -> Iterator[Problem]:
        for file in self.files:
            yield from file.problems

    def entries(self) -> list[ServerEntry]:
        """All usable entries, the strongest scope first."""
        managed = [self._file("managed", place / MANAGED_FILE, loud=True) for place in self.places.managed]
        if any(file.found for file in managed):
            # The administrator's file decides alone; one that cannot be read decides that there are none.
            return [entry for file in managed for entry in self._read(file)]
        entries = list(self._flags())
        if not self.wanted.strict:
            entries += self._of_files()
        return entries

    def _flags(self) -> Iterator[ServerEntry]:
        for config in reversed(self.wanted.configs):
            yield from self._read(self._flag(config))

    def _of_files(self) -> Iterator[ServerEntry]:
        users: list[ServerFile] = []
        if self.wanted.sources & {"user", "local"}:
            users = [
                self._file("user", own_file(self.places), loud=True),
                self._file("user", claude_file(self.places), own=False),
            ]
        keys = project_keys(self.start)
        self.opt_outs = frozenset(name for file in users for key in keys for name in file.opt_outs(key))
        if "local" in self.wanted.sources:
            for file in users:
                for key in keys:
                    yield from self._read(file, "local", project=key)
        if "project" in self.wanted.sources:
            for path in project_files(self.start):
                yield from self._read(self._file("project", path), base=path.parent)
        if "user" in self.wanted.sources:
            for file in users:
                yield from self._read(file)

    def _flag(self, config: str) -> ServerFile:
        file = _read_flag(config, self.start, self.places.home)
        if not file.found:
            file.report.add("", "--mcp-config names this file, but there is none", "error")
        self.files.append(file)
        return file

    def _file(self, scope: str, path: Path, *, own: bool = True, loud: bool = False) -> ServerFile:
        source = Source(scope, path, path.parent, trusted=scope != "project")
        file = read_servers(source, path, own=own, loud=loud)
        self.files.append(file)
        return file

    def _read(
        self,
        file: ServerFile,
        scope: Scope | None = None,
        *,
        project: str | None = None,
        base: Path | None = None,
    ) -> Iterator[ServerEntry]:
        key, servers = file.servers(project)
        origin = Origin(
            scope=scope or _scope(file.source.scope),
            path=file.source.path,
            start=base or self.start,
            home=self.places.home,
            environment=self.environment,
        )
        for name, value in servers.items():
            entry = read_entry(name, value, origin, file.report, f"{key}.{name}")
            if entry is not None:
                yield entry


def _read_flag(config: str, start: Path, home: Path) -> ServerFile:
    """What one `--mcp-config` gives: JSON text, or a file."""
    if config.lstrip().startswith("{"):
        return read_text(Source("flag", None, start, trusted=True), config)
    path = home / config[2:] if config.startswith("~/") else start / config
    return read_servers(Source("flag", path, path.parent, trusted=True), path, own=True, loud=True)


def _scope(name: str) -> Scope:
    scopes: tuple[Scope, ...] = ("managed", "user", "local", "project", "flag")
    return next(scope for scope in scopes if scope == name)
