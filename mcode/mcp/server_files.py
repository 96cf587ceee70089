"""The files that name servers: where each stands, and its JSON. A file that cannot be used is a problem, no error."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.known_keys import describe
from mcode.config.plain_file import read_plain, reason
from mcode.config.report import Report
from mcode.config.repository import find_repository, git_directory
from mcode.jsontext import JsonError, JsonObject, JsonValue, kind_of, parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.settings import Problem, Source

SIZE_LIMIT = 32_000_000
"""Bytes of a file that is read; another agent keeps more than servers in its own."""

SERVERS, PROJECTS, OPT_OUTS = "mcpServers", "projects", "disabledMcpServers"
PROJECT_FILE = ".mcp.json"
MANAGED_FILE = "managed-mcp.json"


@dataclass(frozen=True, slots=True)
class ServerFile:
    """One file, as it was found."""

    source: Source
    content: JsonObject
    report: Report = field(repr=False)
    found: bool
    """False where there is no such file."""
    fault: str = ""
    """Why it could not be used, as `cannot be read (...)`; empty where it was, or is not there."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(self.report.problems)

    def servers(self, project: str | None = None) -> tuple[str, JsonObject]:
        """The path of the key, and the entries by name: the file's own, or those for a project's path."""
        holder, prefix = (self.content, "") if project is None else self._project(project)
        key = prefix + SERVERS
        value = holder.get(SERVERS)
        servers = as_object(value)
        if servers is None and value is not None:
            self.report.add(key, f"expected an object, got {describe(value)}; it is ignored", "error")
        return key, servers or {}

    def opt_outs(self, project: str) -> frozenset[str]:
        """Names of servers that the user switched off for a project's path."""
        holder, _ = self._project(project)
        names = as_list(holder.get(OPT_OUTS)) or []
        return frozenset(name for name in names if isinstance(name, str))

    def _project(self, project: str) -> tuple[JsonObject, str]:
        projects = as_object(self.content.get(PROJECTS)) or {}
        return as_object(projects.get(project)) or {}, f"{PROJECTS}.{project}."


def read_servers(source: Source, path: Path, *, own: bool, loud: bool) -> ServerFile:
    """Read a file. `own` is False for another agent's file, which holds much else and is not checked for it.

    `loud`: what mcode does not know in it is worth a word at the start.
    """
    report = Report(source, "", loud=loud)
    try:
        data = read_plain(path, SIZE_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return ServerFile(source, {}, report, found=False)
    except OSError as error:
        return _unusable(source, report, f"cannot be read ({reason(error)})")
    if len(data) > SIZE_LIMIT:
        return _unusable(source, report, f"is larger than {SIZE_LIMIT:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _unusable(source, report, f"is not UTF-8 text (byte {error.start})")
    return read_text(source, text, own=own, loud=loud)


def read_text(source: Source, text: str, *, own: bool = True, loud: bool = True) -> ServerFile:
    """Read the text of a file, or of `--mcp-config`."""
    report = Report(source, text if own else "", loud=loud)
    if not text.strip():
        return ServerFile(source, {}, report, found=True)
    try:
        # A file that repeats a name is refused: which server is meant cannot be told.
        content: JsonValue = parse(text) if own else json.loads(text)
    except (JsonError, ValueError, RecursionError) as error:
        return _unusable(source, report, f"is not valid JSON: {error}")
    members = as_object(content)
    if members is None:
        return _unusable(source, report, f"is {kind_of(content)}, expected an object")
    if own:
        _check_members(members, report)
    return ServerFile(source, members, report, found=True)


def _check_members(members: JsonObject, report: Report) -> None:
    import difflib

    known = (SERVERS, PROJECTS, "$schema")
    for name in sorted(members.keys() - set(known)):
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        text = "mcode does not know this key and ignores it"
        if near:
            report.add(name, f'{text}; did you mean "{near[0]}"?', "warning")
        else:
            report.unknown(name, text)


def _unusable(source: Source, report: Report, fault: str) -> ServerFile:
    report.add("", f"this file {fault}; it is skipped, the other files with servers count", "error")
    return ServerFile(source, {}, report, found=True, fault=fault)


def own_file(places: Places) -> Path:
    """Where `mcode mcp add` keeps servers of the user: for everywhere, and by project."""
    return places.state / "mcp.json"


def claude_file(places: Places) -> Path:
    """Where another agent keeps them; read, never written."""
    usual = places.home / ".claude"
    return places.home / ".claude.json" if places.claude == usual else places.claude / ".claude.json"


def project_files(start: Path) -> tuple[Path, ...]:
    """Where a project's `.mcp.json` may stand: in the start directory, then upwards to its checkout's top."""
    files: list[Path] = []
    for directory in (start, *start.parents):
        files.append(directory / PROJECT_FILE)
        if git_directory(directory) is not None:
            return tuple(files)
    return (start / PROJECT_FILE,)


def project_keys(start: Path) -> tuple[str, ...]:
    """Under which paths a user's file may keep what it has for this project, the nearest first."""
    repository = find_repository(start)
    top = project_files(start)[-1].parent
    return _distinct(str(path) for path in (start, top, repository.root if repository else start))


def local_key(start: Path) -> str:
    """Under which path `mcode mcp add --scope local` keeps a server: worktrees share their main checkout's."""
    repository = find_repository(start)
    return str(repository.root if repository else start)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
