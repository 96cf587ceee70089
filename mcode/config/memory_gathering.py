"""Gathering memory files: which are read, in which order, and what a file brings in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.config.globs import matches
from mcode.config.markdown import (
    TRAILING,
    mentions,
    only_mentions,
    paths_of,
    split_front_matter,
    without_comments,
)
from mcode.config.memory_files import Ground, Memory, MemoryFile, ScopedRule
from mcode.config.memory_imports import import_item
from mcode.config.memory_reading import NotRead, check_reach, read_memory_text, real_file, rule_files
from mcode.config.plain_file import is_inside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEXT_LIMIT = 40_000
"""Characters of one file that the model reads."""

TOTAL_LIMIT = 400_000
"""Characters of all memory files together."""

HOPS = 4
"""Imports that may follow one another."""

MENTIONS = 2_000
"""Words with `@` that are looked up, of all files together: a folder that names more holds nobody up for long."""

_NAMED = 3
"""Imports without a file that a notice names."""


class Gathering:
    """Adds files to a memory. What cannot be used becomes a notice, never an exception."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._looked_up = 0
        """Words with `@` so far."""

    def add_directory(self, directory: Path) -> None:
        """Add a directory's own files: the shared ones, its rules, and last the personal one."""
        self.memory = replace(self.memory, directories=self.memory.directories | {directory})
        ground = Ground("project", directory, directory)
        agents = self.add_first([directory / "AGENTS.override.md", directory / "AGENTS.md"], ground)
        for path in (directory / "CLAUDE.md", directory / ".claude" / "CLAUDE.md"):
            self.add(path, ground, beside=agents)
        self.add_rules(directory / ".claude" / "rules", ground)
        self.add(directory / "CLAUDE.local.md", replace(ground, scope="local"))

    def add_first(self, paths: Sequence[Path], ground: Ground) -> Path | None:
        """Add the first file that can be used; it replaces the others, also where they are imported."""
        for index, path in enumerate(paths):
            if self.add(path, ground):
                replaced = {real for other in paths[index + 1 :] if (real := real_file(other))}
                self._mark_seen(*replaced)
                return path
        return None

    def add(self, path: Path, ground: Ground, *, beside: Path | None = None) -> bool:
        """Add a file with what it imports; False where there is none or it may not be read.

        `beside` is the file of the same directory that this one stands after and overrules.
        """
        if real_file(path) in self.memory.seen_paths:
            return True
        text = self._open(path, ground)
        if text is None:
            return False
        note = f"read after {beside.name} of the same directory, and wins where they differ" if beside else ""
        if beside and f"@{beside.name}" in text:
            note = ""
        self._add_text(MemoryFile(path, text, ground.scope, note=note), ground, hops=0)
        return True

    def add_rules(self, directory: Path, ground: Ground) -> None:
        """Add a directory's rule files in the order of their paths; those with globs wait."""
        for path in rule_files(directory, ground):
            if real_file(path) in self.memory.seen_paths:
                continue
            front, body = split_front_matter(self._open(path, ground) or "")
            globs = paths_of(front)
            if globs:
                rule = ScopedRule(path, globs, ground)
                self.memory = replace(self.memory, waiting=(*self.memory.waiting, rule))
            else:
                self._add_text(MemoryFile(path, body, ground.scope), ground, hops=0)

    def wake_rules(self, path: Path) -> None:
        """Add the waiting rules whose globs match a file."""
        for rule in self.memory.waiting:
            if not _concerns(rule, path):
                continue
            self.memory = replace(
                self.memory, waiting=tuple(one for one in self.memory.waiting if one is not rule)
            )
            _, body = split_front_matter(self._open(rule.path, rule.ground) or "")
            self._add_text(MemoryFile(rule.path, body, rule.ground.scope), rule.ground, hops=0)

    def _open(self, path: Path, ground: Ground, importer: Path | None = None) -> str | None:
        """The text of a file that is there and may be read."""
        real = real_file(path)
        if real is None or self._is_excluded(path, real, ground):
            return None
        try:
            check_reach(
                path, real, self._ground_of_import(path, real, importer, ground) if importer else ground
            )
            text, notice = read_memory_text(real)
        except NotRead as not_read:
            self._say(str(not_read))
            return None
        self._say(notice)
        self._mark_seen(real)
        return text

    def _ground_of_import(self, path: Path, real: Path, importer: Path, ground: Ground) -> Ground:
        """The ground on which an import is read: one without a fence where it may lead out. Raises NotRead."""
        if ground.fence is None or is_inside(real, ground.fence):
            return ground
        free = replace(ground, fence=None)
        check_reach(path, real, free)  # what is never read is not asked about
        approved = self.memory.approved
        if approved is None:
            return ground
        item = import_item(path, real, importer, ground.fence)
        if item not in self.memory.imports:
            self.memory = replace(self.memory, imports=(*self.memory.imports, item))
        if not approved(item):
            raise NotRead(
                f"{importer} imports {path}, which is {real}, outside {ground.fence}: it was not loaded, because you "
                "have not approved this import. /trust shows it and takes your answer; `--trust` approves what is in "
                "the project for one run."
            )
        return free

    def _add_text(self, file: MemoryFile, ground: Ground, *, hops: int) -> None:
        """Add a file whose text is not there yet, and then the files that it names with `@`."""
        text = without_comments(file.text).strip()
        if len(text) > TEXT_LIMIT:
            self._say(f"{file.path} has {len(text):,} characters; the model reads the first {TEXT_LIMIT:,}.")
            rest = f"[The rest of this file, {len(text) - TEXT_LIMIT:,} characters, was not loaded.]"
            text = f"{text[:TEXT_LIMIT]}\n\n{rest}"
        imports = self._imports(text, file.path)
        only_imports = bool(imports) and only_mentions(text)
        if text and not only_imports and text not in self.memory.seen_texts:
            if sum(len(one.text) for one in self.memory.files) + len(text) > TOTAL_LIMIT:
                self._say(
                    f"{file.path} was not loaded: all memory files together exceed {TOTAL_LIMIT:,} characters."
                )
                return
            self.memory = replace(
                self.memory,
                files=(*self.memory.files, replace(file, text=text)),
                seen_texts=self.memory.seen_texts | {text},
            )
        for target in imports:
            if real_file(target) in self.memory.seen_paths:
                continue
            if hops == HOPS:
                self._say(
                    f"{file.path} imports {target}: not loaded, more than {HOPS} imports follow one another."
                )
                continue
            imported = self._open(target, ground, file.path)
            if imported is not None:
                self._add_text(MemoryFile(target, imported, ground.scope, file.path), ground, hops=hops + 1)

    def _imports(self, text: str, importer: Path) -> list[Path]:
        """The files that a text names with `@`. A word that is no file is no import."""
        directory = (real_file(importer) or importer).parent
        found: list[Path] = []
        missing: list[str] = []
        for mention in mentions(text):
            if self._looked_up == MENTIONS:
                self._say(
                    f"Memory files name more than {MENTIONS:,} words with `@`: the others were not looked up."
                )
                break
            self._looked_up += 1
            for written in (mention, mention.rstrip(TRAILING)):
                path = self.memory.home / written[2:] if written.startswith("~/") else directory / written
                if written and real_file(path):
                    found.append(path)
                    break
            else:
                if mention.startswith(("./", "../", "~/", "/")) or mention.rstrip(TRAILING).endswith(".md"):
                    missing.append(mention)
        self._say(_told(importer, missing))
        return found

    def _is_excluded(self, path: Path, real: Path, ground: Ground) -> bool:
        """True where `claudeMdExcludes` names the file. What the administrator wrote is never left out."""
        if ground.scope == "managed":
            return False
        return any(matches(glob, str(one)) for glob in self.memory.excludes for one in (path, real))

    def _mark_seen(self, *paths: Path) -> None:
        self.memory = replace(self.memory, seen_paths=self.memory.seen_paths.union(paths))

    def _say(self, notice: str) -> None:
        if notice and notice not in self.memory.notices:
            self.memory = replace(self.memory, notices=(*self.memory.notices, notice))


def _told(importer: Path, missing: Sequence[str]) -> str:
    """The notice of all imports of a file that name nothing; empty where there are none."""
    named = ", ".join(f"@{mention}" for mention in missing[:_NAMED])
    if len(missing) > _NAMED:
        named = f"{named} and {len(missing) - _NAMED:,} more"
    are = "there is no such file" if len(missing) == 1 else "there are no such files"
    return f"{importer} imports {named}, but {are}." if missing else ""


def _concerns(rule: ScopedRule, path: Path) -> bool:
    base = rule.ground.base
    if base not in path.parents:
        return False
    inner = path.relative_to(base).as_posix()
    return any(matches(glob.removeprefix("./").removeprefix("/"), inner) for glob in rule.globs)
