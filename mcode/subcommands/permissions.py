"""`mcode permissions check`: what would happen to a shell line, part by part. Nothing is run and no session opened."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.config.load import check_flag, load_settings
from mcode.config.places import find_places
from mcode.errors import UsageError
from mcode.permissions.check import as_object, as_text, judged_line, waiting_rules
from mcode.permissions.decide import Policy
from mcode.permissions.modes import Mode, parse_mode
from mcode.streams import write
from mcode.subcommands.parser import SubcommandParser
from mcode.text import Kind, clean
from mcode.tool import Workspace
from mcode.wiring.workbench import working_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.config.settings import Settings

WORDS = ("check",)


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns 0 once every line is judged, whatever the verdicts. Raises UsageError."""
    parser = _parser()
    parser.check_word(arguments, WORDS)
    given = parser.parse_args(arguments)
    words: list[str] = given.command[1:] if given.command[:1] == ["--"] else given.command
    if given.stdin == bool(words):
        raise UsageError(
            "Give either one command line behind `--`, or --stdin for one on each line of the input. "
            "Nothing was judged."
        )
    policy, trusting = _policies(given.mode, given.settings)
    for line in _lines_of_input() if given.stdin else (_line(words),):
        verdict = judged_line(policy, line)
        waiting = waiting_rules(verdict, judged_line(trusting, line)) if trusting is not None else ()
        if given.json:
            _say(jsontext.dump(as_object(line, verdict, waiting)))
        else:
            _say(clean(as_text(line, verdict, waiting), Kind.DECISION))
    return 0


def _parser() -> SubcommandParser:
    parser = SubcommandParser("mcode permissions", undone="judged", description=__doc__)
    words = parser.add_subparsers(dest="what", required=True, metavar="|".join(WORDS))
    about = "the verdict about a shell line, by the rules in force here"
    check = words.add_parser("check", help=about, description=f"What would happen: {about}. Nothing is run.")
    check.undone = parser.undone
    check.add_argument("--json", action="store_true", help="one JSON object for each line")
    check.add_argument("--stdin", action="store_true", help="judge each line of the standard input")
    check.add_argument(
        "--mode", default=None, help="the permission mode; without, the one that sessions here begin in"
    )
    check.add_argument("--settings", metavar="FILE", default=None, help="further settings: a file, or JSON")
    check.add_argument(
        "command", nargs="*", metavar="-- COMMAND", help="the line, as one argument or as words"
    )
    return parser


def _policies(mode: str | None, flag: str | None) -> tuple[Policy, Policy | None]:
    """The rules of this folder as a session that starts here has them, and as they are once it is trusted.

    None where nothing waits for that.
    """
    places, start = find_places(os.environ), working_directory()
    check_flag(flag, start, places.home)
    settings = load_settings(places, start, flag=flag)
    try:
        chosen, _ = parse_mode(mode or settings.default_mode or "default")
    except ValueError as error:
        raise UsageError(f"{error} Nothing was judged.") from None
    workspace = Workspace(start, settings.additional_directories, home=places.home)
    own = (places.state, places.claude)

    def policy(settings: Settings) -> Policy:
        return Policy(settings, workspace, chosen, can_bypass=chosen is Mode.BYPASS, own=own)

    trusted = load_settings(places, start, flag=flag, trusted=True) if settings.withheld else None
    return policy(settings), policy(trusted) if trusted is not None else None


def _line(words: Sequence[str]) -> str:
    """One argument is the line itself; several are words that the caller's shell has taken apart."""
    if len(words) == 1:
        return words[0]
    import shlex

    return shlex.join(words)


def _lines_of_input() -> Sequence[str]:
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    return [line for line in text.split("\n") if line]


def _say(text: str) -> None:
    write(sys.stdout, f"{text}\n")
