"""What stays on the normal screen after the full screen is gone, whatever made it go."""

from __future__ import annotations

import logging
import sys
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.ui.tui.app import McodeApp

_log = logging.getLogger("mcode.ui")

_ROWS = 20
"""Rows of the transcript that are left."""


class Farewell:
    """Collects last words and prints them once the terminal is back in order."""

    def __init__(self, front: McodeApp) -> None:
        self._front = front
        self._words: list[str] = []

    def say(self, text: str) -> None:
        """A clean line for the end."""
        self._words.append(text)

    def fault(self, error: BaseException) -> None:
        """The screen itself failed: the details go to the log, one sentence to the user."""
        number = uuid.uuid4().hex[:8]
        _log.error("fault %s", number, exc_info=error)
        what = (
            f"A fault in mcode itself ({type(error).__name__}), number {number} in the log, ended the screen."
        )
        self.say(f"error: {what} {self.go_on()}")

    def go_on(self) -> str:
        """How to go on with the session, where there is one yet."""
        sessions = self._front.sessions
        if not sessions.opened:
            return "No session was open yet."
        return f"The session is kept. Go on with: mcode --resume {sessions.agent.session.id}"

    def print_all(self) -> None:
        """What is left of the transcript, and the last words so far."""
        if self._front.is_headless:
            return
        self._words[:0] = self.left()
        self.print_last()

    def left(self) -> list[str]:
        """The last rows of the transcript, where all of it is, and how to go on, unless that is said already."""
        from mcode.commands.quit import last_words

        sessions = self._front.sessions
        goes_on = self._front.key or self._front.unsent.demo
        if goes_on and sessions.opened and not sessions.agent.transcript():
            return []
        words = last_words(sessions.agent.session) if sessions.opened else ()
        said = any("mcode --resume " in each for each in self._words)
        kept = [each for each in words if not (said and "mcode --resume " in each)]
        return [*self._front.transcript.last_rows(_ROWS), *kept]

    def print_last(self) -> None:
        """What was said since."""
        words, self._words = self._words, []
        out = sys.__stdout__
        if out is None or self._front.is_headless:
            return
        try:
            out.write("".join(f"{row}\n" for row in words))
            out.flush()
        except OSError:
            _log.info("the terminal is gone; nothing is left on it")
