"""The subcommands of git that only read, with their options, and how they are run so that no configured program is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.permissions.shell.options import Options, Takes, long_options, take_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.permissions.shell.options import Arguments
    from mcode.permissions.shell.words import Word

_TEXT, _NUMBER, _MAYBE = Takes.TEXT, Takes.NUMBER, Takes.MAYBE

INERT_RUN = "-c core.fsmonitor=false -c core.hooksPath=/dev/null --no-pager --no-optional-locks"
"""Options for every such run: no monitor, no hooks, no pager, no lock of the index."""

_SECRETS = Path(__file__).with_name("secrets.gitattributes")
HIDING = f"-c {shlex.quote(f'core.attributesFile={_SECRETS}')}"
"""An option by which what has the name of a secret counts as binary, also where only the history knows the file."""

_SHAPE = (
    "patch no-patch raw stat shortstat numstat name-only name-status summary compact-summary cumulative "
    "patch-with-stat patch-with-raw minimal patience histogram full-index binary no-color no-renames check exit-code "
    "quiet "
    "ignore-all-space ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines function-context "
    "text no-prefix no-ext-diff no-textconv pickaxe-all pickaxe-regex no-color-moved no-indent-heuristic"
)
_SHAPE_TEXT = "diff-filter diff-algorithm src-prefix dst-prefix line-prefix ws-error-highlight anchored"
_SHAPE_MAYBE = (
    "unified inter-hunk-context color color-moved word-diff find-renames find-copies abbrev dirstat stat "
    "relative"
)
_SHAPE_FLAGS = "pusRabwWz"
_SHAPE_VALUED = {"U": _NUMBER, "S": _TEXT, "G": _TEXT, "M": _MAYBE, "C": _MAYBE, "l": _NUMBER}

_WALK = (
    "oneline graph all merges no-merges first-parent reverse follow abbrev-commit no-abbrev-commit full-history "
    "topo-order date-order author-date-order cherry-pick cherry-mark left-right left-only right-only cherry "
    "regexp-ignore-case extended-regexp fixed-strings all-match invert-grep boundary simplify-merges walk-reflogs "
    "relative-date show-pulls parents children no-decorate dense sparse no-notes ancestry-path log-size use-mailmap"
)
_WALK_TEXT = "since after until before author committer grep max-count skip date min-parents max-parents"
_WALK_MAYBE = "branches tags remotes decorate pretty format no-walk"

LISTED: dict[str, Options] = {
    "status": Options(
        "sbz",
        {"u": _MAYBE},
        long_options(
            "short branch long show-stash no-column ahead-behind no-ahead-behind renames no-renames null",
            maybe="porcelain untracked-files ignored column find-renames",
        ),
    ),
    "log": Options(
        _SHAPE_FLAGS + "iEFg",
        {**_SHAPE_VALUED, "n": _NUMBER, "L": Takes.PATH},
        long_options(
            f"{_SHAPE} {_WALK}", text=f"{_SHAPE_TEXT} {_WALK_TEXT}", maybe=f"{_SHAPE_MAYBE} {_WALK_MAYBE}"
        ),
        numbers=True,
    ),
    "diff": Options(
        _SHAPE_FLAGS,
        _SHAPE_VALUED,
        long_options(f"{_SHAPE} cached staged merge-base", text=_SHAPE_TEXT, maybe=_SHAPE_MAYBE),
    ),
    "show": Options(
        _SHAPE_FLAGS,
        {**_SHAPE_VALUED, "n": _NUMBER},
        long_options(
            f"{_SHAPE} {_WALK}", text=f"{_SHAPE_TEXT} {_WALK_TEXT}", maybe=f"{_SHAPE_MAYBE} {_WALK_MAYBE}"
        ),
        numbers=True,
    ),
    "branch": Options("arv", {}, long_options("show-current all remotes list verbose no-color no-column")),
    "rev-parse": Options(
        "q",
        {},
        long_options(
            "verify quiet show-toplevel show-prefix show-cdup is-inside-work-tree is-inside-git-dir "
            "is-bare-repository is-shallow-repository symbolic symbolic-full-name absolute-git-dir git-common-dir all",
            maybe="abbrev-ref short branches tags remotes",
        ),
    ),
    "ls-files": Options(
        "cdmostiukvz",
        {"x": _TEXT},
        long_options(
            "cached deleted modified others ignored stage unmerged killed exclude-standard directory "
            "no-empty-directory full-name error-unmatch deduplicate eol",
            text="exclude",
            maybe="abbrev",
        ),
    ),
    "blame": Options(
        "ltsewfnpb",
        {"L": _TEXT, "M": _MAYBE, "C": _MAYBE},
        long_options(
            "root show-email show-name show-number show-stats porcelain line-porcelain incremental first-parent",
            text="since date abbrev",
            maybe="color",
        ),
    ),
    "shortlog": Options(
        "snec",
        {},
        long_options(
            "summary numbered email committer no-merges merges all first-parent",
            text="group since until after before author grep max-count",
            maybe="branches tags remotes format",
        ),
    ),
    "describe": Options(
        "",
        {},
        long_options(
            "all tags contains exact-match always long first-parent debug",
            text="abbrev candidates match exclude",
            maybe="dirty broken",
        ),
    ),
}
_ADDED = {
    "status": ("--ignore-submodules=dirty",),
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"),
    "log": ("--no-ext-diff", "--no-textconv"),
    "show": ("--no-ext-diff", "--no-textconv"),
}


@dataclass(frozen=True, slots=True)
class GitRead:
    """A reading run of git."""

    text: str
    """Its words as they are rendered."""
    directory: str
    """Where it runs, seen from the shell's directory; empty for there."""
    operands: tuple[str, ...]
    """Paths, revisions and what is both."""
    subcommand: str
    taken: Arguments
    """The words behind the subcommand, taken apart."""
    beginning: str
    """What is rendered in front of them."""

    def hiding_secrets(self) -> GitRead | str:
        """The run with what has the name of a secret shown as binary, also where only the history knows the file.

        A sentence's end for options that show what is binary.
        """
        fault = shows_binary("-a" if name == "a" else f"--{name}" for name in self.taken.given)
        if fault:
            return fault
        hidden = f"{INERT_RUN} {HIDING}"
        return replace(
            self,
            text=self.text.replace(INERT_RUN, hidden, 1),
            beginning=self.beginning.replace(INERT_RUN, hidden, 1),
        )


def shows_binary(options: Iterable[str]) -> str:
    """Why `HIDING` is not enough with these options, as a sentence's end; empty where it is."""
    shown = next((each for each in options if each in ("-a", "--text", "--binary")), "")
    return f"with `{shown}` it may show files of secrets that only the history knows" if shown else ""


def reading_run(words: Sequence[Word]) -> GitRead | str:
    """The run that the arguments of git ask for; a sentence's end where it is not in the list."""
    rest = list(words)
    directory = ""
    while rest and rest[0].value.startswith("-"):
        option = rest.pop(0).value
        if option == "-C" and rest and not directory:
            directory = rest.pop(0).value
        elif option not in ("--no-pager", "-P", "--no-optional-locks"):
            return f"`{option[:60]}` is not in the list of reading options of git"
    if not rest or any(word.glob for word in words):
        return (
            "a pattern among its arguments may turn out to be an option"
            if rest
            else "git without a subcommand"
        )
    subcommand = rest.pop(0)
    name = subcommand.value
    if name not in LISTED or not subcommand.bare:
        return f"`git {name[:60]}` is not in the list of reading subcommands"
    taken = take_apart(rest, LISTED[name])
    if taken.fault:
        return f"`{taken.fault[:60]}` is not in the list of reading options of git {name}"
    if name == "branch" and taken.operands:
        return "git branch with a name may make or move a branch"
    if any("%G" in taken.given.get(option, "") for option in ("pretty", "format")):
        return "a format with %G runs a program that verifies signatures"
    place = f" -C {shlex.quote(directory)}" if directory else ""
    beginning = " ".join((f"git{place} {INERT_RUN} {name}", *_ADDED.get(name, ())))
    text = " ".join((beginning, *(word.rendered for word in rest)))
    operands = (*(word.value for word in taken.operands), *taken.paths)
    return GitRead(text, directory, operands, name, taken, beginning)
