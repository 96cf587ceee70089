"""The prompt's keys. Each has an id by which the settings can give it another key."""

from __future__ import annotations

from textual.binding import Binding, BindingType

PROMPT_KEYS: list[BindingType] = [
    Binding("enter", "enter", id="prompt.send", show=False),
    Binding("ctrl+j,shift+enter", "new_line", id="prompt.new-line", show=False),
    Binding("up", "up", id="prompt.up", show=False),
    Binding("down", "down", id="prompt.down", show=False),
    Binding("tab", "tab", id="prompt.complete", show=False),
    Binding("ctrl+r", "search", id="prompt.search-history", show=False),
    Binding("left", "cursor_left", id="prompt.left", show=False),
    Binding("right", "cursor_right", id="prompt.right", show=False),
    Binding("ctrl+left,alt+left", "cursor_word_left", id="prompt.word-left", show=False),
    Binding("ctrl+right,alt+right", "cursor_word_right", id="prompt.word-right", show=False),
    Binding("home,ctrl+a", "cursor_line_start", id="prompt.line-start", show=False),
    Binding("end,ctrl+e", "end", id="prompt.line-end", show=False),
    Binding("shift+left", "cursor_left(True)", id="prompt.select-left", show=False),
    Binding("shift+right", "cursor_right(True)", id="prompt.select-right", show=False),
    Binding("shift+up", "cursor_up(True)", id="prompt.select-up", show=False),
    Binding("shift+down", "cursor_down(True)", id="prompt.select-down", show=False),
    Binding("shift+home", "cursor_line_start(True)", id="prompt.select-line-start", show=False),
    Binding("shift+end", "cursor_line_end(True)", id="prompt.select-line-end", show=False),
    Binding("backspace,ctrl+h", "delete_left", id="prompt.delete-left", show=False),
    Binding("delete", "delete_right", id="prompt.delete-right", show=False),
    Binding(
        "ctrl+w,alt+backspace,ctrl+backspace", "delete_word_left", id="prompt.delete-word-left", show=False
    ),
    Binding("alt+delete,alt+d", "delete_word_right", id="prompt.delete-word-right", show=False),
    Binding("ctrl+u", "delete_to_start_of_line", id="prompt.delete-to-start", show=False),
    Binding("ctrl+k", "delete_to_end_of_line", id="prompt.delete-to-end", show=False),
    Binding("ctrl+underscore", "undo", id="prompt.undo", show=False),
    Binding("ctrl+y", "redo", id="prompt.redo", show=False),
]
