"""What the passes share: the mark that stands where a secret was, and patterns compiled at first use."""

from __future__ import annotations

import re
from functools import cache

OPEN, CLOSE = "\u2039", "\u203a"
"""Single angle quotes around every mark."""

BEGIN = f"{OPEN}secret:"


def mark(kind: str, secret: str) -> str:
    """The mark for a secret. Of a secret so short that four characters are much of it, none is shown."""
    return f"{BEGIN}{kind}:{secret[-4:] if len(secret) >= 12 else '****'}{CLOSE}"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile at first use: start-up would pay some 20 ms for patterns that most sessions never need."""
    return re.compile(pattern)


def lower(text: str) -> str:
    """A text in lower case in which every character is where it was."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(character.lower()[0] for character in text)  # some letters would become two
