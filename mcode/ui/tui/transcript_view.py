"""The whole transcript as one line-API widget: rows are made for what is visible, and painted if changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.scroll_view import ScrollView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.events import Event
    from mcode.ui.tui.document import Document
    from mcode.ui.tui.look import Look


class TranscriptView(ScrollView, can_focus=True):
    """Shows a document. The app hands events to `apply`; painting follows by itself, at most ten times a second.

    Keys that the app may send on: PageUp, PageDown, Ctrl+Home, End, wheel (`action_*` of ScrollView).
    """

    def __init__(self, document: Document, look: Look, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self.document = document
        self.look = look

    def apply(self, event: Event) -> None:
        """Take one event in; what it changes is painted with the next flush."""
        raise NotImplementedError

    def replay(self, events: Iterable[Event]) -> None:
        """Take in the events of a session that is resumed, and settle what they leave open."""
        raise NotImplementedError

    def show(self, text: str, kind: str = "command") -> None:
        """Add lines of mcode's own, such as a command's answer. `kind`: `command`, `info`, `warning` or `error`."""
        raise NotImplementedError

    def toggle(self, block: int | None = None) -> None:
        """Fold or unfold a block; None: the one under the cursor, or the last card."""
        raise NotImplementedError

    def step(self, by: int) -> None:
        """Put the next (1) or previous (-1) block at the top and the cursor on it."""
        raise NotImplementedError

    def scroll_to_end(self) -> None:
        """Show the last rows and follow them from now on."""
        raise NotImplementedError

    def selected_text(self) -> str:
        """The selected text, exactly: without margins, soft-wrapped rows joined. Empty where nothing is selected."""
        raise NotImplementedError

    def whole_text(self, block: int | None = None) -> str:
        """All that a block holds, clean, for a pager or the clipboard; None: the block under the cursor or the last."""
        raise NotImplementedError

    def last_rows(self, count: int) -> list[str]:
        """The last rows as plain text, for the normal screen after the app has ended."""
        raise NotImplementedError

    def hold(self, seconds: float = 0.1) -> None:
        """A key was typed: let it be painted first, flush after that time."""
        raise NotImplementedError

    def change_look(self, look: Look) -> None:
        """Show everything in another theme or with other glyphs."""
        raise NotImplementedError
