"""The parser of shell lines: tree-sitter with its grammar of bash, loaded when the first line is read."""

from __future__ import annotations

import time
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

TIME_LIMIT = 0.02
"""Seconds of work that one line may cost; a line that takes longer counts as one that cannot be parsed.

It is the thread's own time: a busy machine does not make an ordinary line one that cannot be parsed.
"""

_CHUNK = 4096


class ParserMissingError(Exception):
    """The parser cannot be loaded; the text says why."""


def parse(source: bytes) -> Node | None:
    """Parse a line and return the root of its tree; None where that takes too long.

    Raises ParserMissingError where the parser cannot be loaded.
    """
    parser = _parser()
    if isinstance(parser, str):
        raise ParserMissingError(parser)
    end = time.thread_time() + TIME_LIMIT

    def read(offset: int, point: object) -> bytes:
        del point
        return source[offset : offset + _CHUNK]

    def is_late(offset: int, failed: bool) -> bool:
        del offset, failed
        return time.thread_time() > end

    try:
        return parser.parse(read, encoding="utf8", progress_callback=is_late).root_node
    except ValueError:
        parser.reset()
        return None


def load() -> str:
    """Load the parser now; returns why it cannot be loaded, or nothing."""
    parser = _parser()
    return parser if isinstance(parser, str) else ""


def is_installed() -> bool:
    """True where the parser's packages are there; loads nothing."""
    try:
        return find_spec("tree_sitter") is not None and find_spec("tree_sitter_bash") is not None
    except (ImportError, ValueError):
        return False


@cache
def _parser() -> Parser | str:
    try:
        import tree_sitter
        import tree_sitter_bash

        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    except (ImportError, OSError, TypeError, ValueError) as error:
        return str(error) or type(error).__name__
