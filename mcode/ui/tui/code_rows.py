"""Code as rows, coloured where that is cheap."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mcode.ui.tui.rows import Row, Span, indented
from mcode.ui.tui.wrapping import break_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygments.lexer import Lexer

COLOURED = 16_000
"""Characters of code that are coloured; more is shown plain."""

_MARGIN = (Span("  "),)
_NAME = re.compile(r"[A-Za-z0-9_+#.-]{1,30}")

_STYLES = (
    ("Token.Comment", "comment"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "literal"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Generic.Deleted", "removed"),
    ("Token.Generic.Inserted", "added"),
)
"""Kinds of words, by the beginning of their name, with the style they get."""


def code_rows(lines: Sequence[str], width: int, language: str = "") -> list[Row]:
    """Rows of code with a margin, broken where the width ends; a copy has the lines whole and without margin."""
    spans = coloured(lines, language) if language else None
    rows: list[Row] = []
    for index, line in enumerate(lines):
        rows += break_cells(spans[index] if spans is not None else (Span(line, ""),), max(8, width - 2))
    return indented(rows, _MARGIN)


def coloured(lines: Sequence[str], language: str) -> list[list[Span]] | None:
    """The spans of each line, or None where the language is not known or the code too long."""
    text = "\n".join(lines)
    if len(text) > COLOURED or not _NAME.fullmatch(language):
        return None
    lexer = _lexer(language.lower())
    if lexer is None:
        return None
    made: list[list[Span]] = [[]]
    for kind, value in lexer.get_tokens(text):
        style = _style(str(kind))
        first, *more = value.split("\n")
        if first:
            made[-1].append(Span(first, style))
        made += [[Span(part, style)] if part else [] for part in more]
    made = made[: len(lines)]
    # A lexer may drop or change characters; what is shown must be the code.
    same = len(made) == len(lines) and all(
        "".join(span.text for span in spans) == line for spans, line in zip(made, lines, strict=True)
    )
    return made if same else None


@lru_cache(maxsize=256)
def _style(kind: str) -> str:
    return next((style for name, style in _STYLES if kind.startswith(name)), "")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType] -- its options have no types
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
