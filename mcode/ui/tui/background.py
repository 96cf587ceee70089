"""The theme where the user named none: the terminal's own colours, dark or light; and a screen without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.filter import Monochrome, NoColor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.filter import LineFilter

DARK, LIGHT = "ansi-dark", "ansi-light"

_LIGHT_COLOURS = frozenset({"7", "11", "14", "15"})
"""Numbers of the sixteen colours that are light as a background."""


def default_theme(environment: Mapping[str, str], dark: bool | None) -> str:
    """By what the terminal answered (`dark`), else by what it tells in COLORFGBG, else dark."""
    _, _, background = environment.get("COLORFGBG", "").rpartition(";")
    light = background in _LIGHT_COLOURS if dark is None else not dark
    return LIGHT if light else DARK


def without_colour(filters: Sequence[LineFilter]) -> list[LineFilter]:
    """What Textual makes of each line, and then no colour at all.

    Its shades of grey go: it chooses them before the theme is known, and the terminal's own two become black on black.
    """
    return [*(each for each in filters if not isinstance(each, Monochrome)), NoColor()]
