"""Where command files and skills lie, and which of two with the same name counts.

Read are the user's own and those of the project, from the directory of the start up to the repository's root, in
the directories of mcode and of other agents. A skill goes before a command file; what is the user's goes before
what is the project's; the nearest directory goes before those above it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.config.memory_files import Ground
from mcode.config.memory_reading import NotRead, check_reach, read_memory_text
from mcode.config.plain_file import resolve
from mcode.config.repository import find_repository

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.skill_files import Home, Skill

ENTRIES = 500
"""Entries of one directory that are looked at."""

DEPTH = 4
"""Directories beneath a directory of commands that are looked into."""

_SKILLS = (".mcode/skills", ".claude/skills", ".agents/skills", ".gemini/skills", ".codex/skills")
_COMMANDS = (
    (".mcode/commands", "claude"),
    (".claude/commands", "claude"),
    (".agents/commands", "claude"),
    (".gemini/commands", "gemini"),
    (".codex/prompts", "codex"),
)


def load_skills(
    places: Places, start: Path, sources: frozenset[str]
) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
    """Everything that can be invoked by name, sorted by name, and what was not read with the reason.

    `sources`: `user` and `project`, as `--setting-sources` has them. Reads files: call it in a thread.
    """
    reading = _Reading()
    bases = [base for base in _bases(places, start) if base.scope in sources]
    for kind in ("skill", "command"):
        for base in bases:
            reading.add(base, kind)
    return tuple(sorted(reading.found.values(), key=lambda skill: skill.name)), tuple(reading.problems)


def nested_skills(directory: Path, start: Path, known: Collection[str]) -> tuple[Skill, ...]:
    """The skills of a directory below the start; a name of `known` gets the directory's in front: `lib:release`."""
    reading = _Reading()
    reading.add(_Base(directory, directory / ".claude", "project", directory), "skill")
    front = ":".join(directory.relative_to(start).parts)
    taken = {name.lower() for name in known}
    return tuple(
        replace(skill, name=f"{front}:{skill.name}") if skill.name.lower() in taken else skill
        for skill in reading.found.values()
    )


def any_skills(places: Places, start: Path) -> bool:
    """Whether there is any directory to look into; quick."""
    return any(
        os.path.isdir(directory)  # noqa: PTH112 -- it never raises, whatever the name
        for base in _bases(places, start)
        for kind in ("skill", "command")
        for directory, _ in base.directories(kind)
    )


def project_directories(start: Path) -> Sequence[Path]:
    """The directory of the start and those above it up to the repository's root, the nearest first."""
    repository = find_repository(start)
    if repository is None or repository.root not in start.parents:
        return (start,)
    above = [each for each in start.parents if each == repository.root or repository.root in each.parents]
    return (start, *above)


@dataclass(frozen=True, slots=True)
class _Base:
    """A directory that holds the directories of several agents."""

    directory: Path
    claude: Path
    """Its `.claude`, which the user's environment can move."""
    scope: str
    folder: Path | None
    """The fence of a project's files."""

    def directories(self, kind: str) -> Iterator[tuple[Path, str]]:
        """The directories with files of a kind, and the dialect of these, the strongest first."""
        listed = [(name, "claude") for name in _SKILLS] if kind == "skill" else _COMMANDS
        for name, dialect in listed:
            family, _, inner = name.partition("/")
            yield (self.claude if family == ".claude" else self.directory / family) / inner, dialect


def _bases(places: Places, start: Path) -> Iterator[_Base]:
    yield _Base(places.home, places.claude, "user", None)
    for directory in project_directories(start):
        if directory != places.home:  # there they are the user's own
            yield _Base(directory, directory / ".claude", "project", directory)


class _Reading:
    """Gathers files; the first of a name counts, and the same real file is taken once."""

    def __init__(self) -> None:
        self.found: dict[str, Skill] = {}
        self.problems: list[str] = []
        self._seen: set[Path] = set()

    def add(self, base: _Base, kind: str) -> None:
        from mcode.config.skill_files import Home

        for directory, dialect in base.directories(kind):
            home = Home(base.scope, base.folder, dialect)
            files = _skill_files(directory) if kind == "skill" else _command_files(directory, dialect)
            for name, path in files:
                self._read(name, kind, path, home)

    def _read(self, name: str, kind: str, path: Path, home: Home) -> None:
        from mcode.config.skill_files import NAME, read_skill

        if name.lower() in self.found or NAME.fullmatch(name) is None:
            return
        try:
            real = resolve(path)
            if real in self._seen:
                return
            check_reach(path, real, Ground(home.scope, home.folder or path.parent, home.folder))
            text, notice = read_memory_text(real)
        except NotRead as not_read:
            self.problems.append(str(not_read))
            return
        except OSError as error:
            self.problems.append(f"{path} was not read: {error.strerror or error}.")
            return
        self._seen.add(real)
        if notice:
            self.problems.append(notice)
        skill = read_skill(name, kind, path, home, text)
        self.found[name.lower()] = skill
        if skill.problem:
            self.problems.append(f"{path}: {skill.problem}; the rest of it counts.")


def _skill_files(directory: Path) -> Iterator[tuple[str, Path]]:
    for entry in _entries(directory):
        file = entry / "SKILL.md"
        if file.is_file():
            yield entry.name, file


def _command_files(
    directory: Path, dialect: str, depth: int = 0, prefix: str = ""
) -> Iterator[tuple[str, Path]]:
    suffix = ".toml" if dialect == "gemini" else ".md"
    for entry in _entries(directory):
        if entry.suffix == suffix and entry.is_file():
            yield prefix + entry.name.removesuffix(suffix), entry
        elif depth < DEPTH and entry.is_dir():
            yield from _command_files(entry, dialect, depth + 1, f"{prefix}{entry.name}:")


def _entries(directory: Path) -> Sequence[Path]:
    try:
        return sorted(directory.iterdir())[:ENTRIES]
    except OSError:
        return ()
