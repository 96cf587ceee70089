"""Adding servers to the files that name them, and taking them out: mcode's own file, or a project's `.mcp.json`."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from mcode.config.json_parts import as_object
from mcode.config.plain_file import read_plain, reason
from mcode.config.report import Report
from mcode.config.settings import Source
from mcode.errors import StorageError, UsageError
from mcode.files import FileLock, private_directory, replace_file, update_json
from mcode.jsontext import JsonError, JsonObject, kind_of, parse_object
from mcode.mcp.entry_reading import Origin, read_entry
from mcode.mcp.server_files import (
    PROJECTS,
    SERVERS,
    SIZE_LIMIT,
    local_key,
    own_file,
    project_files,
    read_servers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.settings import Problem
    from mcode.mcp.entries import ServerEntry

Writable: TypeAlias = Literal["local", "project", "user"]
WRITABLE: tuple[Writable, ...] = ("local", "project", "user")

LOCK_PATIENCE = 10.0
"""Seconds to wait for another process that changes the same file."""


@dataclass(frozen=True, slots=True)
class ServerShelf:
    """One place for servers: a scope, and the file that keeps it."""

    scope: Writable
    places: Places
    start: Path

    @property
    def path(self) -> Path:
        """The file; for a project the nearest that there is, else the one at the top of the checkout."""
        if self.scope != "project":
            return own_file(self.places)
        files = project_files(self.start)
        return next((path for path in files if path.exists() or path.is_symlink()), files[-1])

    def check(
        self, name: str, written: JsonObject, environment: Mapping[str, str]
    ) -> tuple[ServerEntry, tuple[Problem, ...]]:
        """The entry as it would be read, and what will be said about it. Raises UsageError for one that is none."""
        report = Report(Source(self.scope, self.path, self.path.parent, trusted=True), "", loud=True)
        origin = Origin(self.scope, self.path, self.start, self.places.home, environment)
        entry = read_entry(name, written, origin, report, name)
        if entry is None:
            raise UsageError(
                f"{report.problems[-1].key}: {report.problems[-1].text.split('; this server')[0]}. Nothing was added."
            )
        return entry, tuple(report.problems)

    def names(self) -> frozenset[str]:
        """The names that stand there, also of entries that cannot be used; none where the file cannot be read."""
        source = Source(self.scope, self.path, self.path.parent, trusted=True)
        file = read_servers(source, self.path, own=False, loud=False)
        _, servers = file.servers(local_key(self.start) if self.scope == "local" else None)
        return frozenset(servers)

    def add(self, name: str, written: JsonObject) -> None:
        """Add an entry. Raises UsageError where the name is taken, StorageError where the file cannot be changed."""

        def change(servers: JsonObject) -> JsonObject:
            if name in servers:
                raise UsageError(
                    f'{self.path} has a server "{name}" in {self.scope} scope already. Nothing was changed; '
                    f"`mcode mcp remove {name} -s {self.scope}` takes it out first."
                )
            return {**servers, name: written}

        self._change(change)

    def remove(self, name: str) -> bool:
        """Take an entry out; False where there is none. Raises as `add`."""
        found = False

        def change(servers: JsonObject) -> JsonObject:
            nonlocal found
            found = name in servers
            return {key: one for key, one in servers.items() if key != name}

        self._change(change)
        return found

    def _change(self, change: Callable[[JsonObject], JsonObject]) -> None:
        private_directory(self.places.state)
        if self.scope == "project":
            with FileLock(self.places.state / "project-servers.lock", wait=LOCK_PATIENCE):
                self._change_project(change)
        else:
            update_json(self.path, lambda content: self._changed(content, change))

    def _change_project(self, change: Callable[[JsonObject], JsonObject]) -> None:
        """No lock and no copy beside it: the folder is the user's, and everybody's who has the repository."""
        path = self.path
        if path.is_symlink():
            raise StorageError(
                f"{path} was not changed: it is a link, and a project's link could lead anywhere. Replace it by a "
                "plain file and try again."
            )
        try:
            data = read_plain(path, SIZE_LIMIT)
            mode = stat.S_IMODE(path.stat().st_mode)
        except FileNotFoundError:
            data, mode = b"", 0o644
        except OSError as error:
            raise StorageError(f"{path} was not changed: it cannot be read ({reason(error)}).") from error
        try:
            content = parse_object(data.decode("utf-8-sig")) if data.strip() else {}
        except (JsonError, UnicodeDecodeError) as error:
            raise StorageError(
                f"{path} was not changed: it cannot be read ({error}). Mend it and try again."
            ) from error
        changed = self._changed(content, change)
        if changed != content:
            replace_file(path, (json.dumps(changed, indent=2, ensure_ascii=False) + "\n").encode(), mode=mode)

    def _changed(self, content: JsonObject, change: Callable[[JsonObject], JsonObject]) -> JsonObject:
        if self.scope != "local":
            return _with(content, change, self.path)
        key = local_key(self.start)
        projects = _member(content, PROJECTS, self.path)
        project = _with(_member(projects, key, self.path), change, self.path)
        if not project.get(SERVERS) and set(project) == {SERVERS}:
            return {**content, PROJECTS: {name: one for name, one in projects.items() if name != key}}
        return {**content, PROJECTS: {**projects, key: project}}


def _with(holder: JsonObject, change: Callable[[JsonObject], JsonObject], path: Path) -> JsonObject:
    return {**holder, SERVERS: change(_member(holder, SERVERS, path))}


def _member(content: JsonObject, name: str, path: Path) -> JsonObject:
    member = as_object(content.get(name, {}))
    if member is None:
        raise StorageError(
            f"{path} was not changed: {name} is {kind_of(content[name])}, expected an object. Mend it and try again."
        )
    return member
