"""Reads only the UI settings of the user, before all settings are read and checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from mcode.config.plain_file import read_plain
from mcode.config.ui_settings import UiSettings

if TYPE_CHECKING:
    from mcode.config.places import Places

LIMIT = 1_000_000
"""Bytes of a settings file that are looked at."""


def first_look(places: Places) -> UiSettings:
    """What the user's own file says of the screen. What is missing, unreadable or wrong stays as usual.

    All settings are read once the screen is there, faults are told then, and what they say counts.
    """
    usual = UiSettings()
    try:
        values: Any = json.loads(read_plain(places.settings_file, LIMIT))
    except (OSError, ValueError, RecursionError):
        return usual
    for key in ("mcode", "ui"):
        values = cast("dict[str, Any]", values).get(key) if isinstance(values, dict) else None
    if not isinstance(values, dict):
        return usual
    given = cast("dict[str, Any]", values)
    theme = given.get("theme")
    return UiSettings(
        theme=theme if isinstance(theme, str) else None,
        bell=_boolean(given.get("bell"), usual.bell),
        title=_boolean(given.get("title"), usual.title),
        idle_time=_seconds(given.get("idleTime"), usual.idle_time),
        arm_delay=_seconds(given.get("armDelay"), usual.arm_delay),
        glyphs="ascii" if given.get("glyphs") == "ascii" else usual.glyphs,
        mouse=_boolean(given.get("mouse"), usual.mouse),
    )


def _boolean(value: object, usual: bool) -> bool:
    return value if isinstance(value, bool) else usual


def _seconds(value: object, usual: float) -> float:
    return (
        value if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value else usual
    )
