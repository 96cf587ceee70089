"""The words behind a subcommand: what is wrong with them is said in one line, which names the help.

A subcommand that is nothing without a further word shows its use: on standard error and with exit code 2 where none
is given, on standard output and with 0 where it was asked for.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import override

from mcode.errors import UsageError
from mcode.streams import write
from mcode.subcommands import nearest_option

if TYPE_CHECKING:
    from collections.abc import Sequence


class SubcommandParser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print the use and exit; options are written in full."""

    def __init__(
        self, prog: str | None = None, *, undone: str = "done", unrecognized: str = "", **options: Any
    ) -> None:
        """`undone` says what has not happened after an error; `unrecognized` is a hint for options nobody knows."""
        options.setdefault("allow_abbrev", False)
        super().__init__(prog, **options)
        self.undone = undone
        self._unrecognized = unrecognized

    @override
    def error(self, message: str) -> NoReturn:
        hint = f" {self._unrecognized}" if self._unrecognized and message.startswith("unrecognized") else ""
        near = nearest_option(message, self._option_string_actions)
        raise UsageError(
            f"{message}.{near} Nothing was {self.undone}; `{self.prog} --help` shows the use.{hint}"
        )

    def check_word(self, arguments: Sequence[str], words: Sequence[str] = ()) -> None:
        """Look at the first argument: it has to be one of the `words`, or any where those are none.

        Shows the use and raises SystemExit where there is none, or where it asks for help; raises UsageError, which
        names the nearest word.
        """
        if not arguments:
            write(sys.stderr, self.format_help())
            raise SystemExit(2)
        word = arguments[0]
        if not words or word in words or word.startswith("-"):
            return
        if word == "help":
            write(sys.stdout, self.format_help())
            raise SystemExit(0)
        from difflib import get_close_matches

        near = get_close_matches(word, words, 1)
        hint = f"the nearest is {near[0]}" if near else f"there are: {', '.join(words)}"
        raise UsageError(
            f"There is no `{self.prog} {word}`; {hint}. Nothing was {self.undone}; `{self.prog} --help` shows the use."
        )
