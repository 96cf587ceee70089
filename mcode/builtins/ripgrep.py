"""ripgrep as the search program: where it is, how it is called, and how its errors are read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.process.environment import child_environment, find_program

if TYPE_CHECKING:
    from collections.abc import Sequence

OLDEST = 13
"""Major version from which on ripgrep understands what it is asked here."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, for either search program."""

    mode: str
    """`list`: every file; `names`: files with a match; `lines`: matching lines."""
    only: str | None = None
    """Name of the one file in the directory to search; None for all below it."""
    glob: str | None = None
    """Which files, by a pattern for the whole path from the directory."""
    excluding: bool = False
    """True where `glob` says which files are left out instead."""
    hidden: bool = False
    pattern: str = ""
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    """Lines of context before a match."""
    after: int = 0


@dataclass(slots=True)
class Complaints:
    """What a search program could not do."""

    stopped: str = ""
    pattern: str = ""
    """Why the pattern cannot be used; nothing was searched then."""
    unreadable: list[str] = field(default_factory=list[str])
    bad_rules: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    too_large: list[str] = field(default_factory=list[str])


def find_ripgrep(workspace: Sequence[Path]) -> Path | None:
    """ripgrep on the PATH outside the workspace, else beside mcode's own scripts; None where it is missing or old."""
    scripts = Path(sysconfig.get_path("scripts"), "rg")
    candidates = (find_program("rg", os.environ.get("PATH", ""), workspace), scripts)
    return next((path for path in candidates if path is not None and _is_usable(path)), None)


def _is_usable(path: Path) -> bool:
    try:
        asked = subprocess.run(
            (path, "--version"),
            capture_output=True,
            timeout=5,
            check=True,
            stdin=subprocess.DEVNULL,
            env=child_environment(os.environ),
        )
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.match(rb"ripgrep (\d+)\.", asked.stdout)
    return version is not None and int(version[1]) >= OLDEST


def ripgrep_command(program: Path, query: Query) -> tuple[list[str], bytes]:
    """The arguments for ripgrep and its standard input, which is an ignore file that carries the glob.

    ripgrep's own `--glob` would bring ignored and hidden files back. An ignore file ranks below .gitignore, so
    that the glob selects only from what is not ignored.
    """
    command = [str(program), "--no-config", "--color=never", "--no-ignore-global", "--no-ignore-dot"]
    if query.hidden:
        command += ["--hidden", "--glob", "!.git"]
    if query.mode == "list":
        command += ["--files", "--null"]
    else:
        command += _matching(query)
    ignore_file = b""
    if query.glob is not None and query.only is None:
        command += ["--ignore-file", "/dev/stdin"]
        ignore_file = _ignore_file(query)
    return [*command, "--", f"./{query.only or ''}"], ignore_file


def _matching(query: Query) -> list[str]:
    pattern = query.pattern
    options = ["--no-mmap", "--engine", "auto", "--crlf"]
    if query.ignore_case:
        options.append("--ignore-case")
    if query.multiline:
        options += ["--multiline", "--multiline-dotall"]
        pattern = re.sub(r"(\\.)|\n", lambda found: _line_end(found[0]), pattern)
    if query.mode == "names":
        options += ["--files-with-matches", "--null"]
    else:
        options += ["--json", f"--before-context={query.before}", f"--after-context={query.after}"]
    return [*options, f"--regexp={pattern}"]


def _line_end(escape: str) -> str:
    r"""A line end in a pattern also stands for `\r\n`, as it does for Read and Edit."""
    return r"\r?\n" if escape in {"\n", r"\n"} else escape


def _ignore_file(query: Query) -> bytes:
    glob = query.glob or ""
    glob = f"{glob[:-1]}\\ " if glob.endswith(" ") else glob
    lines = [f"/{glob}"] if query.excluding else ["*", "!*/", f"!/{glob}"]
    if not query.hidden:
        lines.append(".*")
    return os.fsencode("\n".join(lines) + "\n")


def ripgrep_complaints(errors: bytes, exit_code: int | None) -> Complaints:
    """Read what ripgrep wrote to standard error."""
    complaints = Complaints()
    text = errors.decode("utf-8", "replace")
    if exit_code == 2 and re.search(r"^(rg: )?(regex|compiled regex|error:)", text, re.MULTILINE):
        reasons = re.findall(r"^error: (.+)|(PCRE2: .+)", text, re.MULTILINE)
        complaints.pattern = "; ".join(part for reason in reasons for part in reason if part) or text.strip()
        return complaints
    for line in text.splitlines():
        rule = re.match(r"rg: (?:\./)?(.+?): line (\d+): error parsing glob '(.*)': ", line)
        if rule is not None:
            complaints.bad_rules.append((rule[1], int(rule[2]), rule[3]))
        elif (failed := re.match(r"rg: (?:\./)?(.+?): ", line)) is not None:
            complaints.unreadable.append(failed[1])
    if exit_code == 2 and not (complaints.bad_rules or complaints.unreadable):
        complaints.stopped = f"when ripgrep failed: {text.strip()}"
    return complaints


def worker_command(query: Query, pattern: str, entries: int, seconds: float) -> tuple[list[str], bytes]:
    """The arguments for mcode's own search program and its standard input; `pattern` is in Python's dialect."""
    flags = (re.IGNORECASE if query.ignore_case else 0) | (
        re.MULTILINE | re.DOTALL if query.multiline else re.NOFLAG
    )
    task = {
        "mode": query.mode,
        "only": query.only,
        "hidden": query.hidden,
        "glob": query.glob,
        "excluding": query.excluding,
        "pattern": pattern,
        "flags": int(flags),
        "multiline": query.multiline,
        "before": query.before,
        "after": query.after,
        "entries": entries,
        "seconds": seconds,
    }
    start = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from mcode.builtins import search_worker; search_worker.main()"
    )
    package = str(Path(__file__).resolve().parents[2])
    return [sys.executable, "-I", "-S", "-c", start, package], json.dumps(task, ensure_ascii=False).encode()


def worker_complaints(errors: bytes) -> Complaints:
    """Read the report of mcode's own search program."""
    try:
        report = json.loads(errors)
    except ValueError:
        return Complaints(stopped="before its end")
    rules = [(str(file), int(line), str(text)) for file, line, text in report["bad_rules"]]
    return Complaints(report["stopped"], "", report["unreadable"], rules, report["too_large"])
