"""One text that can stand in place of what was typed."""

from __future__ import annotations

from typing import NamedTuple


class Suggestion(NamedTuple):
    """What a list of completions offers."""

    text: str
    replaces: int
    """How many characters before the cursor it takes the place of."""
    label: str = ""
    """What is shown; empty where it is the text itself. Not yet cleaned."""
    note: str = ""
