"""What a reading run of git shows of files, and how files are left out of it."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from mcode.permissions.programs import words_of
from mcode.permissions.resolve import is_directory
from mcode.permissions.secret_names import WIDE_FOLDERS, WIDE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcode.permissions.git.table import GitRead
    from mcode.permissions.git.tracked import Guarded
    from mcode.permissions.shell.words import Word

_CONTENT = words_of("p u patch U unified patch-with-stat patch-with-raw binary word-diff check S G")
"""Options with which lines of files are shown, or told by what is found."""

_FIGURES = words_of(
    "s no-patch stat shortstat numstat dirstat summary compact-summary cumulative name-only name-status raw quiet"
)
"""Options with which names and figures take the place of lines."""

_ROUGH_CONTENT = re.compile(r"-[a-zA-Z]*[pu]|-[SGU]|--(?:patch|unified|word-diff)")
_OBJECT = re.compile(r"[0-9a-f]{4,64}")
_PATTERN = re.compile(r"[*?\[]")
_FILE_OF_REVISION = re.compile(r"(?!.*\.\.[^/])(?:[\w./~^@-]*:[^/({][^{}]*|[\w./~^@-]+:)")
_SHOWN = 5


def shows_content(subcommand: str, given: Mapping[str, str]) -> bool:
    """True where a run may show lines of files that no argument names."""
    if "L" in given:
        return False  # it shows the file that is named with it, and no paths may stand beside it
    has_content = not _CONTENT.isdisjoint(given)
    if subcommand == "log":
        return has_content
    return subcommand in ("diff", "show") and (has_content or _FIGURES.isdisjoint(given))


def shows_only_named(run: GitRead) -> bool:
    """True for a run that shows files of revisions, each by its name, and no difference."""
    return bool(run.operands) and all(map(_FILE_OF_REVISION.fullmatch, run.operands))


def shows_unnamed(words: Sequence[str]) -> bool:
    """Roughly: True where a subcommand with its arguments may show lines of files that no argument names."""
    subcommand, options = words[0], words[1:]
    if subcommand == "stash":
        return any(_ROUGH_CONTENT.match(word) or word == "show" for word in options)
    if subcommand == "log":
        return any(_ROUGH_CONTENT.match(word) for word in options)
    if subcommand in ("diff", "show"):
        figures = any(word.lstrip("-").partition("=")[0] in _FIGURES for word in options if word[:1] == "-")
        return not figures or any(_ROUGH_CONTENT.match(word) for word in options)
    return subcommand not in ("blame", "annotate", "cat-file")


def leave_out(run: GitRead, directory: str, guarded: Guarded) -> tuple[str, str] | str:
    """The run without files that are not to be shown, and what to tell of it; a sentence's end where it asks."""
    if guarded.is_empty:
        return run.text, ""
    before, after = _sorted(run, directory)
    for word in before:
        name = _content_of(word.value, guarded.ids)
        if name:
            return f"`{word.value[:60]}` is what {name} holds, which is not read unasked"
    if before and not after and all(_FILE_OF_REVISION.fullmatch(word.value) for word in before):
        return run.text, ""
    if guarded.names is None:
        if after and not any(_may_hold_more(word.value, directory) for word in after):
            return run.text, ""
        exclusions = [f":(top,exclude,icase,glob)**/{pattern}" for pattern in WIDE_NAMES]
        exclusions += [f":(top,exclude,icase,glob)**/{folder}/**" for folder in WIDE_FOLDERS]
        return _text(run, before, after, exclusions), _NOTE_OF_ALL
    names = [
        name for name in guarded.names if not after or _is_below(f"{guarded.top}/{name}", after, directory)
    ]
    if not names:
        return run.text, ""
    odd = next((name for name in names if not name.isprintable()), None)
    if odd is not None:
        return f"it would show {odd!r}, which is not read unasked"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    note = f"Left out, since reading it asks or is denied (name it to be asked): {', '.join(names[:_SHOWN])}{more}."
    return _text(run, before, after, [f":(top,exclude,literal){name}" for name in names]), note


_NOTE_OF_ALL = "Files with the names of secrets (.env, *.pem and the like) were left out."


def _sorted(run: GitRead, directory: str) -> tuple[Sequence[Word], Sequence[Word]]:
    """The operands that are revisions, and those that are paths: as git tells them apart."""
    operands, end = run.taken.operands, run.taken.before_end
    if end is None:
        paths = (at for at, word in enumerate(operands) if _is_path(word.value, directory))
        end = next(paths, len(operands))
    return operands[:end], operands[end:]


def _is_path(text: str, directory: str) -> bool:
    is_pattern = _PATTERN.search(text) is not None or text.startswith((":(", ":!", ":^"))
    return is_pattern or os.path.lexists(os.path.join(directory, text))  # noqa: PTH118 -- the paths here are text


def _may_hold_more(text: str, directory: str) -> bool:
    """True where a path stands for more than the one file that is named."""
    if text.startswith(":") or _PATTERN.search(text):
        return True
    return is_directory(os.path.join(directory, text))  # noqa: PTH118 -- the paths here are text


def _is_below(path: str, words: Iterable[Word], directory: str) -> bool:
    for word in words:
        text = word.value
        if text.startswith(":") or _PATTERN.search(text):
            return True
        named = os.path.realpath(os.path.join(directory, text)).rstrip("/") + "/"  # noqa: PTH118 -- as above
        if path.startswith(named) or (path.endswith("/") and named.startswith(path)):
            return True
    return False


def _content_of(operand: str, ids: Mapping[str, str]) -> str:
    """The file whose present content an operand names by its id; empty for none."""
    for piece in re.split(r"\.{2,3}", operand.lower()):
        if _OBJECT.fullmatch(piece):
            for name, identifier in ids.items():
                if identifier.startswith(piece):
                    return name
    return ""


def _text(run: GitRead, before: Sequence[Word], after: Sequence[Word], exclusions: Sequence[str]) -> str:
    words = (word.rendered for group in (run.taken.options, before) for word in group)
    paths = (word.rendered for word in after)
    return " ".join((run.beginning, *words, "--", *paths, *map(shlex.quote, exclusions)))
