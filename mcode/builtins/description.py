"""The descriptions of tools, kept as text beside their code."""

from __future__ import annotations

from pathlib import Path


def read_description(name: str) -> str:
    """Text of the file `<name>.md` in this package, without blanks at its ends."""
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()
