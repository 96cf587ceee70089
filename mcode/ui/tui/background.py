"""The theme where the user named none: the terminal's own colours, for a dark or a light background."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DARK, LIGHT = "ansi-dark", "ansi-light"

_LIGHT_COLOURS = frozenset({"7", "11", "14", "15"})
"""Numbers of the sixteen colours that are light as a background."""


def default_theme(environment: Mapping[str, str]) -> str:
    """By what the terminal tells in COLORFGBG (`foreground;background`), else dark."""
    _, _, background = environment.get("COLORFGBG", "").rpartition(";")
    return LIGHT if background in _LIGHT_COLOURS else DARK
