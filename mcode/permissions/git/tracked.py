"""Files that a repository tracks and that are not read unasked: git shows them without being given their names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.git_index import IndexNotUnderstood, tracked_files
from mcode.config.repository import git_directory
from mcode.permissions.resolve import parents
from mcode.permissions.secret_names import secrets_among

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mcode.permissions.file_patterns import FilePattern
    from mcode.permissions.paths import PathPolicy
    from mcode.permissions.resolve import Place

TRACKED_LIMIT = 20_000
"""Files of a repository whose names are looked at; of a larger one all names of secrets are left out."""

NAMED_LIMIT = 20
"""Files that are left out one by one; of more, whole directories where nothing else is in them."""

COMPARED_LIMIT = 200
"""Files and directories that are left out at most."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """What of a repository is not shown unasked."""

    top: str = ""
    """Where the repository's files begin."""
    names: tuple[str, ...] | None = ()
    """Files and, with a slash at the end, directories, from the top; None for whatever has the name of a secret."""
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """The id of what each of the files holds."""

    @property
    def is_empty(self) -> bool:
        return self.names == ()


class TrackedFiles:
    """What git must not show unasked, as far as names tell. Files that only the history knows are not looked for."""

    def __init__(
        self, paths: PathPolicy, permitted: Callable[[Place], bool], restrictions: Sequence[FilePattern]
    ) -> None:
        """`permitted`: a rule lets a place be read. `restrictions`: patterns of the deny and ask rules about files."""
        self._paths = paths
        self._permitted = permitted
        self._restrictions = restrictions

    def top(self, directory: str) -> str:
        """Where the files of a directory's repository begin; empty where it lies in none."""
        return next((each for each in parents(directory) if git_directory(Path(each)) is not None), "")

    def ruled(self, directory: str) -> str:
        """A file of which a rule speaks in the repository of a directory, or why that cannot be told."""
        guarded = self.guarded(directory)
        if isinstance(guarded, str):
            return guarded
        places = ((name, self._paths.locate(f"{guarded.top}/{name}")) for name in guarded.ids)
        return next(
            (
                name
                for name, place in places
                if any(pattern.touches(place, self._paths.workspace) for pattern in self._restrictions)
            ),
            "",
        )

    def guarded(self, directory: str) -> Guarded | str:
        """What is guarded in the repository of a directory; a sentence's end where that cannot be told."""
        top = self.top(directory)
        if not top:
            return Guarded()
        try:
            known = _known(*_state(top))
        except OSError as error:
            return f"which files {top} tracks cannot be told ({error.strerror})"
        except IndexNotUnderstood:
            return f"which files {top} tracks cannot be told: its index has a form that is not read here"
        if known is None:
            if self._restrictions:
                return f"more than {TRACKED_LIMIT} files would have to be compared with the rules about files"
            return Guarded(top, None)
        files, secrets = known
        found = dict.fromkeys(secrets)
        for pattern in self._restrictions:
            found.update(dict.fromkeys(pattern.touched_among(files, top, self._paths.workspace)))
        if len(found) > COMPARED_LIMIT and not self._restrictions:
            return Guarded(top, None)
        ids = {
            name: files[name]
            for name in found
            if len(found) > COMPARED_LIMIT or not self._permitted(self._paths.locate(f"{top}/{name}"))
        }
        names = tuple(ids) if len(ids) <= NAMED_LIMIT else _together(ids, files)
        if len(names) > COMPARED_LIMIT:
            return f"it would show more than {COMPARED_LIMIT} files that are not read unasked"
        return Guarded(top, names, ids)


def _together(names: Iterable[str], files: Iterable[str]) -> tuple[str, ...]:
    """The same files, with directories in place of all that is in them."""
    all_in, these_in = (Counter(above for name in each for above in _above(name)) for each in (files, names))
    found = (
        next((folder for folder in _above(name) if all_in[folder] == these_in[folder]), name)
        for name in names
    )
    return tuple(dict.fromkeys(found))


def _above(name: str) -> Iterator[str]:
    """The directories that a file lies in, the highest first, each with a slash at its end."""
    at = name.find("/")
    while at >= 0:
        yield name[: at + 1]
        at = name.find("/", at + 1)


def _state(top: str) -> tuple[str, int, int, int, int]:
    """What the index is known by as long as nobody writes it."""
    git = git_directory(Path(top))
    if git is None:
        raise FileNotFoundError(2, "there is no git directory")
    try:
        status = (git / "index").stat()
    except FileNotFoundError:
        return str(git), 0, 0, 0, 0
    return str(git), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@lru_cache(maxsize=4)
def _known(git: str, *state: int) -> tuple[dict[str, str], tuple[str, ...]] | None:
    """All tracked files with their ids, and those with the names of secrets; None for too many."""
    del state
    listed = tracked_files(Path(git), TRACKED_LIMIT)
    if listed is None:
        return None
    names = dict(listed)
    return names, tuple(secrets_among(names))
