"""The mark that stands where a secret was."""

from __future__ import annotations

OPEN, CLOSE = "\u2039", "\u203a"
"""Single angle quotes around every mark."""

BEGIN = f"{OPEN}secret:"


def mark(kind: str, secret: str) -> str:
    """The mark for a secret. Of a secret so short that four characters are much of it, none is shown."""
    return f"{BEGIN}{kind}:{secret[-4:] if len(secret) >= 12 else '****'}{CLOSE}"
