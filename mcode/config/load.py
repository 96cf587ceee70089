"""Reading all settings of one start, the strongest source first. Bad files become problems, no exceptions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.config.git_index import is_tracked
from mcode.config.hint_file import judged_hints
from mcode.config.merge import merge
from mcode.config.plain_file import resolve
from mcode.config.read_settings import SettingsFile, read_file, read_text
from mcode.config.repository import find_repository
from mcode.config.restrict import ignored_notice, restrict, untrusted_text
from mcode.config.settings import Problem, Settings, Source
from mcode.config.trust import TrustStore
from mcode.config.written_rules import read_marks, rule_mark
from mcode.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.repository import Repository
    from mcode.config.settings import RuleText
    from mcode.config.trust import Item

SETTING_SOURCES = frozenset({"user", "project", "local"})
"""What `--setting-sources` can name."""

OWN, CLAUDE = ".mcode", ".claude"
NAME, LOCAL_NAME = "settings.json", "settings.local.json"


def load_settings(
    places: Places,
    start: Path,
    *,
    flag: str | None = None,
    sources: frozenset[str] = SETTING_SOURCES,
    trusted: bool = False,
    trust: TrustStore | None = None,
) -> Settings:
    """Read and merge every file.

    `start` is absolute and resolved. `flag` is the argument of `--settings`: JSON, or the path of a file.
    `sources` are the scopes to read besides managed files and the flag. Of the folder's own files everything
    counts that the user has approved in `trust`, by default the stored answers; with `trusted` everything that
    was not refused. Starts no process and opens plain files only.
    """
    answers = trust or TrustStore(places)
    repository = find_repository(start)
    root = repository.root if repository else start
    own, claude = places.managed
    files = [
        _read("managed", own / "managed-settings.json", own, loud=True),
        _read("managed", claude / "managed-settings.json", claude),
    ]
    if flag is not None:
        files.append(_read_flag(flag, start, places.home))
    if "local" in sources:
        files.append(_read("local", root / OWN / LOCAL_NAME, start, trusted=trusted, loud=True))
        files.append(_read("local", root / CLAUDE / LOCAL_NAME, start, trusted=trusted))
    if "project" in sources:
        # Started in the home directory, the folder's files are the user's own and are read as such.
        known = {_identity(places.state / NAME), _identity(places.claude / NAME)}
        paths = [path for path in (start / OWN / NAME, start / CLAUDE / NAME) if _identity(path) not in known]
        files += [
            _read("project", path, start, trusted=trusted, loud=OWN in path.parts[-2:]) for path in paths
        ]
    if "user" in sources:
        files.append(_read("user", places.state / NAME, places.state, loud=True))
        files.append(_read("user", places.claude / NAME, places.claude))
    written = _WrittenByMcode(places, root, repository)

    def approved(item: Item) -> bool:
        return answers.is_approved(item, anyway=trusted)

    restricted = [restrict(file, written, approved) for file in files]
    judged = list(restricted)
    if "project" in sources and _identity(start / OWN) != _identity(places.state):
        judged += judged_hints(start, approved, trusted=trusted)
    problems = [*ignored_notice(judged), *written.problems]
    return replace(
        merge([each.file for each in restricted], start, places.home, problems),
        granted=tuple(item for each in judged for item in each.granted),
        withheld=tuple(item for each in judged for item in each.withheld),
        untrusted=untrusted_text(judged),
    )


def check_flag(flag: str | None, start: Path, home: Path) -> None:
    """Raise UsageError where what `--settings` gives cannot be used: what it denies would be lost unnoticed."""
    file = _read_flag(flag, start, home) if flag is not None else None
    if file is not None and not file.found:
        raise unusable("--settings", file.source.path, file.fault)


def unusable(option: str, path: Path | None, fault: str) -> UsageError:
    """What is said of a file, or of JSON text, that an option names in vain; without a fault it is not there."""
    if path is None:
        return UsageError(f"The text behind {option} {fault}. Nothing was started.")
    said = fault or "is not there"
    return UsageError(
        f"The file {path} that {option} names {said}. Nothing was started; mend it or leave it out."
    )


def settings_files(places: Places, start: Path) -> tuple[tuple[str, Path], ...]:
    """Where settings may stand, by scope, whether or not the files are there."""
    repository = find_repository(start)
    root = repository.root if repository else start
    own, claude = places.managed
    return (
        *(("managed", each / "managed-settings.json") for each in (own, claude)),
        *(("local", root / each / LOCAL_NAME) for each in (OWN, CLAUDE)),
        *(("project", start / each / NAME) for each in (OWN, CLAUDE)),
        *(("user", each / NAME) for each in (places.state, places.claude)),
    )


def local_settings_file(start: Path) -> Path:
    """Where rules that the user allows always are kept: in the main checkout, or in `start` outside any."""
    repository = find_repository(start)
    return (repository.root if repository else start) / OWN / LOCAL_NAME


def _read(scope: str, path: Path, base: Path, *, trusted: bool = True, loud: bool = False) -> SettingsFile:
    return read_file(Source(scope, path, base, trusted), path, loud=loud)


def _read_flag(flag: str, start: Path, home: Path) -> SettingsFile:
    if flag.lstrip().startswith("{"):
        return read_text(Source("flag", None, start, trusted=True), flag, loud=True)
    path = home / flag[2:] if flag.startswith("~/") else start / flag
    source = Source("flag", path, path.parent, trusted=True)
    file = read_file(source, path, loud=False)
    if file.found or file.problems:
        return file
    text = "--settings names this file, but there is none; it is skipped, all other files count"
    return SettingsFile(source, problems=(Problem(path, "", text, "error"),))


def _identity(path: Path) -> Path:
    try:
        return resolve(path)
    except OSError:
        return path


class _WrittenByMcode:
    """Tells which allow rules of the local file mcode wrote for this very folder. Reads only when asked."""

    def __init__(self, places: Places, root: Path, repository: Repository | None) -> None:
        self.problems: list[Problem] = []
        self._record = places.written_rules_file
        self._root = root
        self._repository = repository
        self._marks: frozenset[str] | None = None

    def __call__(self, rule: RuleText) -> bool:
        path = rule.source.path
        if path is None or path.parent.name != OWN:
            return False
        if self._marks is None:
            self._marks = self._read_marks(path)
        return rule_mark(rule.behavior, rule.text) in self._marks

    def _read_marks(self, path: Path) -> frozenset[str]:
        marks, fault = read_marks(self._record, self._root)
        if fault:
            text = f"the record of the rules that you allowed always {fault}, so none of them counts"
            self.problems.append(Problem(self._record, "", text, "error"))
        git = self._repository.git if marks and self._repository else None
        if git is not None and is_tracked(git, f"{OWN}/{LOCAL_NAME}"):
            text = "git tracks this file, so its allow rules count as the repository's, not as yours"
            self.problems.append(Problem(path, "permissions.allow", text, "warning"))
            return frozenset()
        return marks
