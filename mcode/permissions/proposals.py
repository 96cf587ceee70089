"""The rules that a question offers to remember: never broader than the words on the screen."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.permissions.needs import NeedKind
from mcode.permissions.programs import DESTRUCTIVE, DESTRUCTIVE_GIT, RUNS_CODE
from mcode.permissions.resolve import is_directory, parents
from mcode.permissions.verdict import Proposal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.needs import Need
    from mcode.permissions.resolve import Place
    from mcode.permissions.subject import Subject
    from mcode.permissions.verdict import PartVerdict
    from mcode.tool import Workspace

_PLAIN_WORD = r"""(?:[A-Za-z0-9_./:=@%+,^-]|'[^'\n*]*'|"[^"\n*\\$`!]*")+"""
_PLAIN_LINE = re.compile(f"{_PLAIN_WORD}(?: {_PLAIN_WORD})*")
_PLAIN_PATH = re.compile(r"/[\w./@%+,=-]*(?: [\w./@%+,=-]+)*")


PARTS_LIMIT = 5
"""Rules that one answer adds for the commands of a line."""


def proposals_for(
    subject: Subject, unmet: Sequence[Need], parts: Sequence[PartVerdict] = ()
) -> tuple[Proposal, ...]:
    """Offers for a call that is asked about, by what it still needs; none where one rule could not say it all."""
    if len(unmet) != 1:
        unmet = [need for need in unmet if not need.also_written]
    if len(unmet) != 1:
        return ()
    need = unmet[0]
    match need.kind:
        case NeedKind.COMMAND:
            return _for_parts(parts) if len(parts) > 1 else _for_command(subject.command or "")
        case NeedKind.WRITE:
            return _for_writing(need.place, subject) if need.place else ()
        case NeedKind.READ:
            return _for_reading(need.place, subject) if need.place else ()
        case NeedKind.DOMAIN:
            return _for_domain(need.what) if subject.tool == "WebFetch" else ()
        case NeedKind.TOOL:
            return _both(subject.tool, f"every call of {subject.tool}")


def _both(rule: str, what: str) -> tuple[Proposal, ...]:
    return (
        Proposal(rule, "session", f"Allow {what} for this session"),
        Proposal(rule, "local", f"Always allow {what} in this project"),
    )


def _for_command(line: str) -> tuple[Proposal, ...]:
    return _both(f"Bash({line})", f"exactly `{line}`") if _may_be_offered(line) else ()


def _for_parts(parts: Sequence[PartVerdict]) -> tuple[Proposal, ...]:
    """One rule for each command that needs approval; none where one of them could not be offered alone."""
    missing = list(dict.fromkeys(part.text for part in parts if not part.allowed))
    if not 0 < len(missing) <= PARTS_LIMIT or not all(map(_may_be_offered, missing)):
        return ()
    rules = [f"Bash({text})" for text in missing]
    what = "exactly " + " and ".join(f"`{text}`" for text in missing)
    further = tuple(rules[1:])
    return tuple(replace(proposal, further=further) for proposal in _both(rules[0], what))


def _may_be_offered(line: str) -> bool:
    """True for one plain command whose words show what it does, and that can be taken back."""
    if not _PLAIN_LINE.fullmatch(line) or len(line) > 300:
        return False
    words = line.split(" ")
    program = re.sub(r"[\d.]+$", "", words[0].rpartition("/")[2].casefold()) or words[0]
    if "=" in words[0] or ":" in words[0] or program in RUNS_CODE or program.split(".")[0] in DESTRUCTIVE:
        return False
    return not (
        program == "git" and (words[1:2] == [] or words[1].startswith("-") or words[1] in DESTRUCTIVE_GIT)
    )


def _for_writing(place: Place, subject: Subject) -> tuple[Proposal, ...]:
    workspace = subject.paths.workspace
    directory, _, name = place.resolved.rpartition("/")
    if not _PLAIN_PATH.fullmatch(place.resolved) or not name or place.resolved != place.spellings[0]:
        return ()
    start = str(workspace.start)
    if workspace.tree is not None and f"{directory}/".startswith(f"{start}/"):
        return (_edits(f"/{directory}/**", f"edits under {directory}/"),)
    if directory == start:
        return (_edits("/*", f"edits of files directly in {start}, not in its folders"),)
    if directory.startswith(start + "/"):
        below = directory[len(start) :]
        return (_edits(f"{below}/**", f"edits under {below[1:]}/"),)
    return (_edits(f"/{place.resolved}", f"edits of {place.resolved}"),)


def _edits(pattern: str, what: str) -> Proposal:
    return Proposal(f"Edit({pattern})", "session", f"Allow {what} for this session")


def _for_reading(place: Place, subject: Subject) -> tuple[Proposal, ...]:
    """The directory of a file outside the workspace, or the file alone where the directory is a wide one."""
    if (
        not _PLAIN_PATH.fullmatch(place.resolved)
        or place.resolved == "/"
        or place.resolved != place.spellings[0]
    ):
        return ()
    is_file = not is_directory(place.resolved)
    directory = place.resolved.rpartition("/")[0] if is_file else place.resolved
    wide = directory.count("/") < 2 or directory in _crossroads(subject.paths.workspace)
    if wide and not is_file:
        return ()
    if wide or subject.paths.secret(place) is not None:
        rule, what = f"Read(/{place.resolved})", f"reading {place.resolved}"
    else:
        rule, what = f"Read(/{directory}/**)", f"reading under {directory}/"
    return (Proposal(rule, "session", f"Allow {what} for this session"),)


def _crossroads(workspace: Workspace) -> frozenset[str]:
    """The home directory, the working directories' parents: too much lies below them."""
    return frozenset(
        parent for path in (workspace.home, *workspace.roots) for parent in parents(str(path)) if parent
    )


def _for_domain(host: str) -> tuple[Proposal, ...]:
    if not re.fullmatch(r"[a-z0-9.-]+", host):
        return ()
    return _both(f"WebFetch(domain:{host})", f"fetching from {host}")
