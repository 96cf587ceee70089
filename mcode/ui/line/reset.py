"""Sequences that put a terminal back in order after a program that could not do so itself."""

from __future__ import annotations

RESET_SEQUENCES = (
    "\x1b[?2004l"  # bracketed paste off
    "\x1b[?7h"  # lines wrap
    "\x1b[?25h"  # the cursor shows
    "\x1b[?1l"  # cursor keys in their normal form
    "\x1b[0m"  # no colour
)
"""What the line front end may have changed. It never uses the mouse, focus reports or the other screen."""
