"""The words behind a subcommand: what is wrong with them is said in one line, which names the help."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from typing_extensions import override

from mcode.errors import UsageError


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
        subcommand = " ".join(self.prog.split()[:2])
        hint = f" {self._unrecognized}" if self._unrecognized and message.startswith("unrecognized") else ""
        raise UsageError(f"{message}. Nothing was {self.undone}; `{subcommand} --help` shows the use.{hint}")
