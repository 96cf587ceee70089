"""What the model is told before the conversation: the system prompt, and the facts of the day.

The system prompt holds nothing that changes, so that it stays the same from request to request; what does
change (date, branch) goes into the first message.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.repository import branch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from mcode.config.memory import MemoryFile

_TEXT = Path(__file__).with_name("system.md")


def system_prompt(memory: Iterable[MemoryFile], *, replaced: str | None = None, appended: str = "") -> str:
    """The system prompt: our own text (or the one given instead), then the user's instruction files in order."""
    parts = [(replaced if replaced is not None else _TEXT.read_text("utf-8")).strip()]
    parts += [memory_text(file) for file in memory]
    if appended:
        parts.append(appended.strip())
    return "\n\n".join(parts)


def memory_text(file: MemoryFile) -> str:
    """One instruction file as the model reads it."""
    return f"Instructions from {file.path}:\n\n{file.text.strip()}"


def environment(start: Path, today: date) -> str:
    """The facts of the session, for its first message."""
    lines = [f"Working directory: {start}", f"Platform: {sys.platform}", f"Date: {today.isoformat()}"]
    checked_out = branch(start)
    if checked_out:
        lines.append(f"Git branch: {checked_out}")
    return "<environment>\n" + "\n".join(lines) + "\n</environment>"
