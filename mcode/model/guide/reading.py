"""Reads what tools answered. Only their text is known here, so everything is read tolerantly."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.model.script import Result

_REMARK = re.compile(r"(?i)\s*(?:[(\[<…]|no (?:files?|match|line)|note:|nothing\b)")
"""A line that is a remark of the tool and not a path."""

_SENTENCE = re.compile(r"\s*[^\s\d]\S*( \S+){3,}[.\]…)]\s*")
_CUT = re.compile(
    r"(?i)\b(?:truncated|omitted|left out|cut\b|first [\d,]+ of\b|[\d,]+ more\b|limit\b|not shown|incomplete)"
)
"""How tools say that a result is not the whole."""

_EXIT_CODE = re.compile(r"(?m)^Exit code (\d+)\b")
_DENIED = re.compile(r"(?i)\s*denied\b")
_STOPPED = re.compile(r"(?i)\s*(?:interrupted|not started)\b")
_NUMBERED = re.compile(r"\s*(\d+)(?:\t|→|:|\|| {1,2})(.*)")
_MATCH = re.compile(r"(.+?):(\d+):(.*)")
_BELOW = re.compile(r"(\d+):(.*)")
_CONTEXT = re.compile(r"\d+-|--\s*\Z")
_TOTAL = re.compile(r"(?i)\bfirst [\d,]+ of ([\d,]+)\b")
_COUNT = re.compile(r"(.+):\s*(\d+)\s*")

LANGUAGES = {
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".css": "CSS",
    ".go": "Go", ".hs": "Haskell", ".html": "HTML", ".ini": "INI", ".java": "Java", ".js": "JavaScript",
    ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript", ".json": "JSON", ".kt": "Kotlin",
    ".lua": "Lua", ".md": "Markdown", ".php": "PHP", ".pl": "Perl", ".py": "Python", ".pyi": "Python",
    ".r": "R", ".rb": "Ruby", ".rs": "Rust", ".rst": "reStructuredText", ".scala": "Scala", ".sh": "Shell",
    ".bash": "Shell", ".sql": "SQL", ".svg": "SVG", ".swift": "Swift", ".tex": "TeX", ".toml": "TOML",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".txt": "plain text", ".xml": "XML", ".yaml": "YAML",
    ".yml": "YAML", ".zig": "Zig",
}  # fmt: skip
"""Language by the ending of a file's name."""

_NAMED = {"makefile": "Make", "dockerfile": "Docker", "cmakelists.txt": "CMake"}


@dataclass(frozen=True, slots=True)
class Match:
    """One line that Grep found."""

    path: str
    line: int
    text: str


def was_denied(result: Result) -> bool:
    """True where the user, a rule or the mode said no: the call did not run."""
    return result.is_error and _DENIED.match(result.text) is not None


def was_stopped(result: Result) -> bool:
    """True where the user interrupted the call."""
    return result.is_error and _STOPPED.match(result.text) is not None


def was_cut(text: str) -> bool:
    """True where a remark in a result says that it is not the whole of it."""
    return cut_remark(text) != ""


def cut_remark(text: str) -> str:
    """The remark in a result that says that it is not the whole of it; empty where there is none."""
    return next((line.strip() for line in _remarks(text) if _CUT.search(line)), "")


def total_of(text: str, shown: int) -> tuple[int, bool]:
    """How many there are by a listing that shows so many, and whether that is only the least."""
    for line in _remarks(text):
        found = _TOTAL.search(line)
        if found is not None:
            return int(found[1].replace(",", "")), "incomplete" in text
    return shown, was_cut(text)


def went_wrong(result: Result) -> bool:
    """True where a call failed, or a command ended with another exit code than 0."""
    return result.is_error or (result.tool == "Bash" and (_exit_code(result.text) or 0) != 0)


def reason_of(result: Result, width: int = 240) -> str:
    """The first line of a failed result, shortened."""
    line = next((line.strip() for line in result.text.splitlines() if line.strip()), "no reason was given")
    return line if len(line) <= width else line[: width - 1] + "…"


def _exit_code(text: str) -> int | None:
    found = _EXIT_CODE.findall(text)
    return int(found[-1]) if found else None


def _remarks(text: str) -> list[str]:
    lines = (line for line in text.splitlines() if not _MATCH.match(line))
    return [line for line in lines if _REMARK.match(line) or _SENTENCE.fullmatch(line)]


def listed_paths(text: str) -> tuple[str, ...]:
    """The paths of a listing, one a line."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not _REMARK.match(line) and not _SENTENCE.fullmatch(line))


def found_matches(text: str) -> tuple[Match, ...]:
    """The lines of a search: `path:line:text`, or `line:text` below a line with the path."""
    found: list[Match] = []
    path = ""
    for line in text.splitlines():
        if path and (below := _BELOW.fullmatch(line)):
            found.append(Match(path, int(below[1]), below[2].strip()))
        elif match := _MATCH.fullmatch(line):
            found.append(Match(match[1], int(match[2]), match[3].strip()))
        elif not _CONTEXT.match(line):
            path = line.strip()
    return tuple(found)


def counts_by_path(text: str) -> dict[str, int]:
    """The lines `path:count` of a search."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        match = None if _REMARK.match(line) else _COUNT.fullmatch(line)
        if match is not None:
            counts[match[1].strip()] = int(match[2])
    return counts


def read_lines(text: str) -> tuple[str, ...]:
    """The lines of a file as Read numbers them, without their numbers."""
    found = (_NUMBERED.fullmatch(line) for line in text.splitlines())
    return tuple(match[2] for match in found if match is not None)


def lines_by_language(counts: dict[str, int]) -> list[tuple[str, int, int]]:
    """Language, lines and files, most lines first; what has no known ending goes by the ending itself."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path, count in counts.items():
        language = language_of(path)
        lines[language] += count
        files[language] += 1
    return sorted(
        ((language, lines[language], files[language]) for language in files),
        key=lambda row: (-row[1], row[0]),
    )


def language_of(path: str) -> str:
    """The language that a file's name tells."""
    name = PurePath(path).name.lower()
    ending = PurePath(name).suffix
    return _NAMED.get(name) or LANGUAGES.get(ending) or (f"other ({ending})" if ending else "other")


_WORTH_READING = (
    re.compile(r"readme(\.\w+)?"),
    re.compile(r".*\.(md|rst)"),
    re.compile(r"pyproject\.toml|package\.json|cargo\.toml|go\.mod|makefile|dockerfile"),
    re.compile(r".*\.(py|js|ts|go|rs|c|h|cpp|java|rb|php|sh|html|css|toml|yaml|yml)"),
    re.compile(r".*\.txt"),
)
_PRIVATE = re.compile(
    r"(?i)secret|credential|passw|token|private|(?<![a-z])keys?(?![a-z])|id_rsa|\.env|\.pem|\.netrc|\.npmrc"
)


def file_worth_reading(paths: Iterable[str]) -> str | None:
    """A file that a newcomer would look at first: a readme, else what describes or makes up the project.

    Never one whose name sounds private.
    """
    open_ones = [path for path in paths if not _PRIVATE.search(PurePath(path).name)]
    for pattern in _WORTH_READING:
        fitting = [path for path in open_ones if pattern.fullmatch(PurePath(path).name.lower())]
        if fitting:
            return min(fitting, key=lambda path: (len(PurePath(path).parts), path))
    return None
