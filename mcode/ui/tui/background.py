"""The theme where the user named none: the terminal's own colours, for a dark or a light background."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DARK, LIGHT = "ansi-dark", "ansi-light"

_LIGHT_COLOURS = frozenset({"7", "11", "14", "15"})
"""Numbers of the sixteen colours that are light as a background."""


def default_theme(environment: Mapping[str, str], dark: bool | None) -> str:
    """By what the terminal answered (`dark`), else by what it tells in COLORFGBG, else dark."""
    _, _, background = environment.get("COLORFGBG", "").rpartition(";")
    light = background in _LIGHT_COLOURS if dark is None else not dark
    return LIGHT if light else DARK
