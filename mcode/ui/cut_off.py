"""An answer that broke off: whether the last turn ended so, and what asks for the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.events import Event

GO_ON = "Your answer was cut off. Go on from where it ends."
"""What Enter on an empty prompt sends then."""

_OFFER = "Enter asks for the rest of the answer that was cut off"


class CutOff:
    """Follows the events. True from the end of a turn whose last answer broke off, until the next one begins."""

    def __init__(self) -> None:
        self._broken = False
        self._over = False

    def __bool__(self) -> bool:
        return self._broken and self._over

    @property
    def offer(self) -> str:
        """What Enter on an empty prompt does now; empty where it does nothing."""
        return _OFFER if self else ""

    def receive(self, event: Event) -> None:
        """Take an event in."""
        from mcode.events import AssistantMessage, TurnFinished, TurnStarted

        match event:
            case TurnStarted():
                self._broken = self._over = False
            case AssistantMessage(complete=complete, begun=begun, parent=None):
                self._broken = begun and not complete
            case TurnFinished(reason=reason):
                self._over = True
                self._broken = self._broken and reason == "error"  # who interrupts has had enough of it
            case _:
                pass
