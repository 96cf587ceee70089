"""Putting a terminal back in order that a killed mcode has left: its modes, its screen, its keys."""

from __future__ import annotations

import termios
from typing import TextIO

from mcode.streams import write

SEQUENCES = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l"  # no mouse reports
    "\x1b[?1004l"  # no focus reports
    "\x1b[?2004l"  # bracketed paste off
    "\x1b[?2026l"  # what is written shows at once
    "\x1b[<u"  # the keyboard's own protocol
    "\x1b[?1l\x1b>"  # cursor keys and keypad in their normal form
    "\x1b[?1049l"  # the normal screen
    "\x1b[?7h"  # lines wrap
    "\x1b[?25h"  # the cursor shows
    "\x1b[0m"  # no colour
    "\x1b]2;\x1b\\"  # no title
)
"""Everything that a front end of mcode may have switched, switched back."""


def reset_terminal(descriptor: int, screen: TextIO) -> int:
    """Reset the modes of the terminal at `descriptor` and what `screen` shows; returns the exit code."""
    if not screen.isatty():
        write(screen, "mcode: Standard output is not a terminal, so there is nothing to put in order.\n")
        return 2
    try:
        _cook(descriptor)
    except termios.error:
        _cook(screen.fileno())
    write(screen, f"{SEQUENCES}\r\nThe terminal is back in order.\r\n")
    return 0


def _cook(descriptor: int) -> None:
    """Lines are edited, echoed and ended as in a shell, and Ctrl+C interrupts. Raises termios.error."""
    modes = termios.tcgetattr(descriptor)
    modes[0] |= termios.ICRNL | termios.IXON | termios.BRKINT
    modes[0] &= ~(termios.INLCR | termios.IGNCR)
    modes[1] |= termios.OPOST | termios.ONLCR
    modes[3] |= termios.ICANON | termios.ECHO | termios.ECHOE | termios.ECHOK | termios.ISIG | termios.IEXTEN
    for key, value in ((termios.VINTR, b"\x03"), (termios.VEOF, b"\x04"), (termios.VEOL, b"\x00")):
        modes[6][key] = value
    termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
