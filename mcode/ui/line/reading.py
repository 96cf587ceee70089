"""A session that is only looked at: the whole conversation as lines, and nothing can be answered."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from mcode.streams import write
from mcode.ui.line.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.events import Event
    from mcode.ui.look import Look


def print_conversation(events: Iterable[Event], look: Look) -> None:
    """Print a conversation as it stood on the screen when it was held."""
    transcript = Transcript(look, lambda: shutil.get_terminal_size().columns)
    for event in events:
        for line in transcript.receive(event):
            write(sys.stdout, f"{line}\n")
    for line in transcript.end_stream():
        write(sys.stdout, f"{line}\n")
