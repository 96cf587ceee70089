"""The text of the prompt: its cursor, what is put into it and taken out, labels that go as one, what an empty one
says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from typing_extensions import override

from mcode.ui.tui.chips import Chips
from mcode.ui.tui.past import Past
from mcode.ui.tui.placeholder import Placeholder
from mcode.ui.tui.text_area import TextArea

if TYPE_CHECKING:
    from textual.events import Resize

    from mcode.ui.suggestion import Suggestion


class PromptText(TextArea, inherit_bindings=False):
    """A text of many lines. Whatever changes it by a key ends in `edited`."""

    def __init__(self) -> None:
        self._empty = Placeholder()
        super().__init__(soft_wrap=True, highlight_cursor_line=False, placeholder=Content(self._empty.text))
        self.cursor_blink = False
        self._chips = Chips()
        self._past = Past()

    def on_resize(self, event: Resize) -> None:
        """A narrow prompt says less while it is empty."""
        self._empty.width = event.size.width
        self.placeholder = Content(self._empty.text)

    def use_placeholder(self, text: str) -> None:
        """Say on an empty draft how things stand; without a text, what the prompt takes."""
        self._empty.state = text
        self.placeholder = Content(self._empty.text)

    def offer(self, text: str) -> None:
        """What Enter does on an empty draft, in place of what the prompt takes; empty text ends it."""
        if text == self._empty.offer:
            return
        self._empty.offer = text
        self.placeholder = Content(self._empty.text)

    def edited(self) -> None:
        """The text is another one, or may be."""

    @property
    def is_blank(self) -> bool:
        """True where nothing was typed that could be lost."""
        return not self.text.strip()

    @property
    def text_before_cursor(self) -> str:
        """The line up to the cursor."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    @property
    def in_first_line(self) -> bool:
        """True where the cursor stands in the first line, however many rows that takes."""
        return self.cursor_location[0] == 0

    def put_in(self, text: str) -> None:
        """Put a text in place of what is selected, or at the cursor. Letters typed in one go are undone as one."""
        self._past.leave()
        self._replace_via_keyboard(text, *self.selection)

    def complete_with(self, found: Suggestion) -> None:
        """Put a suggestion in place of what it completes."""
        row, column = self.cursor_location
        result = self.replace(f"{found.text} ", (row, column - found.replaces), (row, column))
        self.move_cursor(result.end_location)

    def put_all(self, text: str) -> None:
        """Put a text in place of everything, a long one as a label."""
        self.load_text(self._chips.fold(text))
        self.move_cursor(self.document.end)

    @override
    def action_delete_left(self) -> None:
        label = self._chips.label_before(self.text_before_cursor) if self.selection.is_empty else ""
        if label:
            row, column = self.cursor_location
            self.delete((row, column - len(label)), (row, column))
        else:
            super().action_delete_left()
        self._changed()

    @override
    def action_delete_right(self) -> None:
        row, column = self.cursor_location
        label = (
            self._chips.label_after(self.document.get_line(row)[column:]) if self.selection.is_empty else ""
        )
        if label:
            self.delete((row, column), (row, column + len(label)))
        else:
            super().action_delete_right()
        self._changed()

    @override
    def action_delete_word_left(self) -> None:
        if self._chips.label_before(self.text_before_cursor):
            self.action_delete_left()
        else:
            super().action_delete_word_left()
            self._changed()

    @override
    def action_delete_word_right(self) -> None:
        row, column = self.cursor_location
        if self._chips.label_after(self.document.get_line(row)[column:]):
            self.action_delete_right()
        else:
            super().action_delete_word_right()
            self._changed()

    @override
    def action_delete_to_start_of_line(self) -> None:
        super().action_delete_to_start_of_line()
        self._changed()

    @override
    def action_delete_to_end_of_line(self) -> None:
        super().action_delete_to_end_of_line()
        self._changed()

    @override
    def action_undo(self) -> None:
        super().action_undo()
        self._changed()

    @override
    def action_redo(self) -> None:
        super().action_redo()
        self._changed()

    def _changed(self) -> None:
        self._past.leave()
        self.edited()
