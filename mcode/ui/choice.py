"""Which front end a terminal gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DUMB = frozenset({"", "dumb", "unknown"})

SCREEN = "MCODE_SCREEN"
"""Environment variable; `0` asks for the line front end."""


def wants_screen(environment: Mapping[str, str], *, plain: bool, terminal: bool) -> bool:
    """True where the full screen opens: on a capable terminal, unless the user wants lines.

    `plain`: the command line or MCODE_PLAIN asks for lines; `terminal`: standard input and output are one.
    """
    if plain or not terminal or environment.get("TERM", "") in _DUMB:
        return False
    return environment.get(SCREEN) != "0"
