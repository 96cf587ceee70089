"""What a key is for is settled in the order in which keys were read, before any widget sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

if TYPE_CHECKING:
    from mcode.ui.tui.app import McodeApp


class KeyOrder:
    """Looks at each key and paste on its way to the main screen, and at keys on their way to an inspector."""

    def __init__(self, front: McodeApp) -> None:
        self._front = front
        self._held: list[events.Event] | None = []
        """Keys that came before the screen was complete; None from then on."""
        self._released: events.Event | None = None

    async def release(self) -> None:
        """The screen is complete: what was typed meanwhile goes on its way, and what comes now comes behind it."""
        while self._held:
            self._released = self._held.pop(0)
            await self._front.on_event(self._released)
        self._held = self._released = None

    def settles(self, event: events.Event) -> bool:
        """True where the event has done what it was for; else it goes on its way, to the prompt if it is typing."""
        front = self._front
        if self._is_for_main(event):
            if self._held is not None and event is not self._released:
                self._held.append(event)
                return True
            if isinstance(event, events.Paste):
                front.deciding.pasted()
            elif isinstance(event, events.Key):
                front.status.hint("")
                front.pump.key_pressed()
                front.deciding.key_pressed()
                front.hands.key_pressed(event.key)
                if front.deciding.takes(event):
                    return True
            self._bring_to_prompt(event)
            return False
        return isinstance(event, events.Key) and not event.is_forwarded and self._begins_search(event.key)

    def _begins_search(self, key: str) -> bool:
        from mcode.ui.tui.inspector import InspectorScreen

        screen = self._front.screen if self._front.is_running else None
        return isinstance(screen, InspectorScreen) and screen.begins_search(key)

    def _is_for_main(self, event: events.Event) -> bool:
        front = self._front
        return (
            isinstance(event, (events.Key, events.Paste))
            and not event.is_forwarded
            and front.is_running
            and front.screen is front.main
        )

    def _bring_to_prompt(self, event: events.Event) -> None:
        """What is typed while the transcript has the focus is meant for the prompt."""
        front = self._front
        typed = isinstance(event, events.Paste) or (isinstance(event, events.Key) and event.is_printable)
        if typed and not front.deciding.focused and not front.main.prompt_focused:
            front.main.focus_prompt()
