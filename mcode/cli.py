"""What `mcode` does with its arguments: a subcommand, or a front end with options."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mcode.command_line import parse
from mcode.errors import McodeError, UsageError
from mcode.streams import is_writable, write
from mcode.subcommands import SUBCOMMANDS

if TYPE_CHECKING:
    from mcode.wiring.options import Options


def run(arguments: list[str]) -> int:
    """Run mcode with these arguments; returns the exit code. Errors go to standard error, without traceback."""
    try:
        if arguments == ["--reset-terminal"]:
            return _reset_terminal()
        if arguments and arguments[0] in SUBCOMMANDS:
            return _subcommand(arguments[0], arguments[1:])
        if arguments == ["help"]:
            arguments = ["--help"]
        elif arguments[:1] == ["help"] and len(arguments) <= 3 and arguments[1] in SUBCOMMANDS:
            return _subcommand(arguments[1], [*arguments[2:], "--help"])
        return _start(parse(arguments))
    except UsageError as error:
        return _complain(error, 2)
    except McodeError as error:
        return _complain(error, 1)
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:  # argparse has shown the help
        return end.code if isinstance(end.code, int) else 0
    except Exception as error:  # noqa: BLE001 -- the screen boundary: a traceback belongs in the log
        return _confess(error)


def _reset_terminal() -> int:
    """Put a terminal back in order that a killed mcode left behind."""
    from mcode.ui.reset import reset_terminal

    return reset_terminal(sys.stdin.fileno(), sys.stdout)


def _subcommand(name: str, arguments: list[str]) -> int:
    """Each is a module of `mcode.subcommands` of the same name, with one function `main(arguments) -> int`."""
    from importlib import import_module

    return import_module(f"mcode.subcommands.{name}").main(arguments)


def _start(options: Options) -> int:
    if not is_writable(sys.stdout):
        raise UsageError("Standard output is closed: an answer has nowhere to go. Nothing was started.")
    word = _lone_word(options)
    near = _nearest(word)
    if near:
        raise UsageError(
            f"{word} is no subcommand of mcode; the nearest is `mcode {near}`. Nothing was started. To send it as a "
            f"message: mcode -p {word}, or start mcode and type it."
        )
    from mcode.start import run_headless, run_interactive

    if not options.print and sys.stdin.isatty():
        return run_interactive(options)
    try:
        return run_headless(options)
    except UsageError as error:
        if not word:
            raise
        known = ", ".join(SUBCOMMANDS)
        raise UsageError(f"{error} ({word} was taken for a message: subcommands are {known}.)") from error


def _lone_word(options: Options) -> str:
    """The one word that is all of the message, and so may be meant for a subcommand; empty where there is none."""
    prompt = options.prompt or ""
    return "" if options.print or len(prompt.split()) != 1 else prompt.strip()


def _nearest(word: str) -> str:
    """The subcommand that somebody may have mistyped; empty where none is that near."""
    if not word.isalpha():
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, SUBCOMMANDS, n=1, cutoff=0.75)), "")


def _complain(error: McodeError, code: int) -> int:
    from mcode.text import Kind, clean

    text = str(error)
    write(sys.stderr, f"mcode: {clean(text, Kind.BLOCK) if sys.stderr.isatty() else text}\n")
    return code


def _confess(error: Exception) -> int:
    """Log a fault of mcode's own and name it in one line."""
    import logging

    from mcode.config.places import find_places
    from mcode.logs import open_log
    from mcode.masking import Masker

    mark = os.urandom(4).hex()
    told = f"{type(error).__name__} in mcode itself, fault {mark}. The session is kept up to there"
    try:
        logs = find_places(os.environ).logs
    except McodeError:
        return _complain(McodeError(f"{told}. There is no directory for a log."), 1)
    with open_log(logs, Masker(os.environ)):
        logging.getLogger(__name__).critical("fault %s", mark, exc_info=error)
    return _complain(McodeError(f"{told}; the log {logs / 'mcode.log'} says more."), 1)
