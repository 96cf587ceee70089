"""The verdict about a command of git: whether it may run unasked, and without which files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.repository import git_places
from mcode.permissions.git import config
from mcode.permissions.git.shows import leave_out, shows_content, shows_only_named, shows_unnamed
from mcode.permissions.git.table import HIDING, reading_run, shows_binary
from mcode.permissions.git.tracked import TrackedFiles
from mcode.permissions.programs import GIT_SHOWS, words_of
from mcode.permissions.shell.table import Reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcode.permissions.file_patterns import FilePattern
    from mcode.permissions.git.table import GitRead
    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place
    from mcode.permissions.shell.places import Reading
    from mcode.permissions.shell.words import Word

_SHOWS_UNNAMED = GIT_SHOWS | {"stash"}
_HIDES = words_of("log show diff grep whatchanged stash")
_SHOWS_CONFIGURATION = ("config", "remote")


class GitJudge:
    """Judges commands of git in one line."""

    def __init__(
        self,
        paths: PathPolicy,
        reading: Reading,
        permitted: Callable[[Place], bool],
        patterns: Sequence[FilePattern],
        *,
        anywhere: bool = False,
        shows_secrets: bool = False,
    ) -> None:
        """`permitted`: a rule lets a place be read. `patterns`: of the deny and ask rules about reading files.

        `anywhere`: repositories outside of the working directories are looked at too. `shows_secrets`: files with the
        names of secrets are shown where nothing else speaks against it.
        """
        self._shows_secrets = shows_secrets
        self._anywhere = anywhere
        self._paths = paths
        self._reading = reading
        self._permitted = permitted
        self._patterns = patterns
        self._tracked = TrackedFiles(paths, permitted, self._patterns)

    def by_table(self, words: Sequence[Word], directories: Sequence[str]) -> tuple[str, str] | str:
        """What one of the listed runs is run as, and what to tell of it; a sentence's end where it asks."""
        run = reading_run(words)
        if isinstance(run, str):
            return run
        for directory in directories:
            place = self._paths.locate(run.directory or ".", Path(directory))
            if place.fault or not self._paths.inside(place):
                return f"git would run in {place.resolved}, outside the working directories"
            hindrance = config.obstacle(place.resolved)
            if hindrance:
                return f"git is not run unasked here: {hindrance}"
        return self._narrowed(run, directories)

    def under_rule(self, words: Sequence[Word], directories: Sequence[str]) -> tuple[str, str] | str | None:
        """The same where a rule with a wildcard lets it run, which lifts no question about files; None: as it is."""
        run = reading_run(words)
        if not isinstance(run, str):
            theirs = (self._paths.locate(run.directory or ".", Path(each)) for each in directories)
            known = self._anywhere or all(map(self._paths.inside, theirs))
            return self._narrowed(run, directories) if known else None
        if not self._shows_secrets and any(word.value in _SHOWS_CONFIGURATION for word in words):
            return self._credentials(directories) or None
        subcommand = next((at for at, word in enumerate(words) if word.value in _SHOWS_UNNAMED), None)
        if subcommand is None:
            return None
        named = tuple(word.value for word in words[subcommand + 1 :] if not word.value.startswith("-"))
        for directory in directories:
            for place in self._named(named, directory):
                if self._paths.secret(place) is not None and not self._permitted(place):
                    return self._paths.why_reading_asks(place)
        fault = self._ruled(named, directories)
        if fault:
            return fault
        values = [word.value for word in words]
        fault = self.ruled(values, directories if self._patterns else ())
        hides = (
            not self._shows_secrets and values[subcommand] in _HIDES and shows_unnamed(values[subcommand:])
        )
        if fault or not hides:
            return fault or None
        return shows_binary(values) or (" ".join(("git", HIDING, *(word.rendered for word in words))), "")

    def ruled(self, words: Sequence[str], directories: Sequence[str]) -> str:
        """Why a run that is known roughly may show what a rule speaks of; empty where nothing says so."""
        at = next((at for at, word in enumerate(words) if word in _SHOWS_UNNAMED), None)
        if at is None or not shows_unnamed(words[at:]):
            return ""
        for directory in directories:
            guarded = self._tracked.ruled(directory)
            if guarded:
                return f"it may show {guarded}, and a rule about files speaks of that"
        return ""

    def _credentials(self, directories: Sequence[str]) -> str:
        """That the configuration of a repository here holds credentials, as a sentence's end; empty where none does."""
        for file in (f"{place}/config" for each in directories for place in git_places(Path(each))):
            if config.holds_credentials(file) and not self._permitted(self._paths.locate(file)):
                return f"it may show {file}, which holds credentials"
        return ""

    def _narrowed(self, run: GitRead, directories: Sequence[str]) -> tuple[str, str] | str:
        texts: set[tuple[str, str]] = set()
        for directory in directories:
            place = self._paths.locate(run.directory or ".", Path(directory))
            fault = self._fault(run.operands, (place.resolved,))
            if fault:
                return fault
            text = run.text, ""
            if shows_content(run.subcommand, run.taken.given):
                plain = self._shows_secrets or shows_only_named(run)
                hidden = run if plain else run.hiding_secrets()
                if isinstance(hidden, str):
                    return hidden
                text = hidden.text, ""
                guarded = self._tracked.guarded(place.resolved)
                text = guarded if isinstance(guarded, str) else leave_out(hidden, place.resolved, guarded)
            if isinstance(text, str):
                return text
            texts.add(text)
        if len(texts) > 1:
            return "it cannot be told where git runs, and what it must not show there differs"
        return texts.pop()

    def _fault(self, operands: Sequence[str], directories: Sequence[str]) -> str:
        """Why a file that an operand names is asked about: as it is, and behind the colon of a revision."""
        parts = tuple(part for text in operands for part in dict.fromkeys((text, text.rpartition(":")[2])))
        return self._ruled(operands, directories) or self._reading.fault(
            Reads(parts), tuple(directories), content=True
        )

    def _ruled(self, operands: Sequence[str], directories: Sequence[str]) -> str:
        for directory in directories if self._patterns else ():
            for place in self._named(operands, directory):
                if any(pattern.touches(place, self._paths.workspace) for pattern in self._patterns):
                    return f"a rule about files speaks of {place.given}"
        return ""

    def _named(self, operands: Sequence[str], directory: str) -> Iterator[Place]:
        """What operands may name; behind the colon of a revision a path begins at the top, else here."""
        top = self._tracked.top(directory)
        for text in operands:
            before, colon, path = text.rpartition(":")
            yield self._paths.locate(text, Path(directory))
            if colon and path:
                yield self._paths.locate(path, Path(directory))
                if before and top:
                    yield self._paths.locate(path, Path(top))
