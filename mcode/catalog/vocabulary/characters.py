"""Traditional Chinese characters and their simplified forms, as far as the glossary needs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "traditional.txt"


@cache
def _table() -> dict[int, str]:
    pairs = (
        pair
        for line in TABLE.read_text("utf-8").splitlines()
        if not line.startswith("#")
        for pair in line.split()
    )
    return {ord(pair[0]): pair[1] for pair in pairs if pair[0] != pair[1]}


def simplified(text: str) -> str:
    """A text with simplified characters, of the same length."""
    return text.translate(_table())
