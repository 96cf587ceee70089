"""The prompt: a draft of many lines, its history, completion, pastes, and for a while another question's answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from typing_extensions import override

from mcode.ui.suggestion import Suggestion
from mcode.ui.tui.chips import Chips
from mcode.ui.tui.enter_guard import EnterGuard
from mcode.ui.tui.past import Past, as_row, found_in
from mcode.ui.tui.paste_guard import UnmarkedPaste
from mcode.ui.tui.placeholder import KEYS_HINT, UNMARKED, Placeholder
from mcode.ui.tui.prompt_keys import PROMPT_KEYS
from mcode.ui.tui.stashed import Stashed
from mcode.ui.tui.text_area import TextArea

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType
    from textual.events import Key, Paste, Resize

    from mcode.ui.tui.prompt_actions import PromptActions
    from mcode.ui.tui.suggestions import Suggestions


class PromptArea(TextArea, inherit_bindings=False):
    """The one place that is typed into."""

    DEFAULT_CSS = """
    PromptArea {
        height: auto;
        min-height: 3;
        max-height: 12;
        border: solid $primary;
        border-title-align: right;
        border-title-color: $foreground;
        background: transparent;
        padding: 0 1;
        scrollbar-size-vertical: 1;
        &:focus { border: solid $primary; background: transparent; }
        &.asks { border: heavy $warning; }
        &.ascii { border: ascii $primary; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = PROMPT_KEYS

    def __init__(self, actions: PromptActions, suggestions: Suggestions, keys: str = KEYS_HINT) -> None:
        """`keys`: what Enter does, for the border."""
        self._empty = Placeholder()
        super().__init__(soft_wrap=True, highlight_cursor_line=False, placeholder=Content(self._empty.text))
        self.cursor_blink = False
        self._actions = actions
        self._suggestions = suggestions
        self._chips = Chips()
        self._past = Past()
        self._guard = EnterGuard(send=self._send, keep=self._pasted_enter)
        self._query: str | None = None
        """What is searched for in the history; None while nothing is searched."""
        self._stashed: Stashed | None = None
        self._looking: asyncio.Task[None] | None = None
        self._keys = self._title = keys
        self.border_title = Content(keys)

    @property
    def draft(self) -> str:
        """The draft as it would be sent, also while the prompt serves another question."""
        stashed = self._stashed
        return stashed.chips.expand(stashed.text) if stashed else self._chips.expand(self.text)

    @property
    def is_blank(self) -> bool:
        """True where nothing was typed that could be lost."""
        return not self.text.strip()

    @property
    def asking(self) -> bool:
        """True while the prompt serves another question than the draft."""
        return self._stashed is not None

    @property
    def at_rest(self) -> bool:
        """True where the prompt does nothing but hold the draft: no list, no search, no other question."""
        return self._stashed is None and self._query is None and not self._suggestions.open

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

    def use_draft(self, text: str) -> None:
        """Put a text in place of the draft; a long one as a label."""
        if self._stashed is not None:
            self._stashed.text = self._stashed.chips.fold(text)
            return
        self._set(self._chips.fold(text))

    def show_title(self, text: str = "") -> None:
        """Say in the border where keys go; without a text what Enter does."""
        self._title = text or self._keys
        if self._stashed is None:
            self.border_title = Content(self._title)

    def ask(self, title: str, done: Callable[[str | None], None], empty: str = "") -> None:
        """Serve another question (`empty`: said before anything is typed); Esc hands over None. The draft is kept."""
        self.end_list()
        selection = (self.selection.start, self.selection.end)
        self._stashed = Stashed(self.text, selection, self._chips, self._title, done)
        self._chips = Chips()
        self.border_title = Content(title)
        self._empty.asked = empty
        self.placeholder = Content(empty)
        self.add_class("asks")
        self.load_text("")

    def end_asking(self) -> str:
        """Bring the draft back, caret and all; returns what was typed for the question."""
        stashed = self._stashed
        if stashed is None:
            return ""
        typed = self._chips.expand(self.text)
        self._stashed = None
        self._chips = stashed.chips
        self._empty.asked = None
        self.placeholder = Content(self._empty.text)
        self.remove_class("asks")
        self.load_text(stashed.text)
        self.selection = type(self.selection)(*stashed.selection)
        self.border_title = Content(self._title)
        self._actions.draft_changed()
        return typed

    def escape(self) -> bool:
        """Close the list, end the search, or leave the question; False where there was nothing of these."""
        if self._query is not None or self._suggestions.open:
            self.end_list()
            return True
        if self._stashed is not None:
            self._stashed.done(None)
            return True
        return False

    def end_list(self) -> None:
        """Close whatever list is open."""
        self._query = None
        self._suggestions.close()
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    @override
    async def _on_key(self, event: Key) -> None:
        """Every key is done with before the next one is looked at: what it means must not come after it."""
        event.stop()
        event.prevent_default()
        self._guard.key(event.time, printable=event.is_printable)
        if event.is_printable and event.character:
            self._typed(event.character)
        elif self._query is not None and self._search_key(event.key):
            pass
        else:
            await self._actions.press(event.key)

    @override
    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.end_list()
        self._insert(self._chips.paste(event.text))
        if isinstance(event, UnmarkedPaste):
            self._actions.hint(UNMARKED)

    def _typed(self, letter: str) -> None:
        if self._query is not None:
            self._query += letter
            self._show_found()
        elif letter == "?" and not self.text and self._stashed is None:
            self._actions.keys_help()
        else:
            self._insert(letter)
            self._look_for_completions()

    def _insert(self, text: str) -> None:
        self._past.leave()
        result = self._replace_via_keyboard(text, *self.selection)
        if result is not None:
            self.move_cursor(result.end_location)
        self._actions.draft_changed()

    def _set(self, text: str) -> None:
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._actions.draft_changed()

    def action_enter(self) -> None:
        """Accept the picked suggestion, or send; an Enter right behind a key waits for what follows it."""
        picked = self._suggestions.picked
        if picked is not None:
            self._accept(picked)
        elif self.text_before_cursor.endswith("\\"):
            self.action_delete_left()
            self._insert("\n")
        else:
            self._guard.enter()

    def _pasted_enter(self) -> None:
        self._insert("\n")
        self._actions.hint(UNMARKED)

    def _send(self) -> None:
        self.end_list()
        text = self._chips.expand(self.text)
        if self._stashed is not None:
            self._stashed.done(text)
        elif text.strip():
            self.clear_draft()
            self._actions.draft_entered(text)
        elif not self.text:
            self._actions.empty_entered()

    def clear_draft(self) -> None:
        """Empty the prompt."""
        self._past.leave()
        self._chips.forget()
        self.end_list()
        self.load_text("")
        self._actions.draft_changed()

    def action_new_line(self) -> None:
        """A line end in the draft."""
        self.end_list()
        self._insert("\n")

    def action_up(self) -> None:
        """Up in the list, in the draft, or to the queue and the history."""
        if self._suggestions.open:
            self._suggestions.move(-1)
        elif not self.cursor_at_first_line or self._stashed is not None:
            self.action_cursor_up()
        elif not self.text and (taken := self._actions.take_back()) is not None:
            self.use_draft(taken)
        else:
            self._recall(self._past.older(self._actions.earlier(), self.text))

    def action_down(self) -> None:
        """Down in the list, in the draft, or back towards it."""
        if self._suggestions.open:
            self._suggestions.move(1)
        elif not self.cursor_at_last_line or self._stashed is not None:
            self.action_cursor_down()
        else:
            self._recall(self._past.newer())

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self._set(self._chips.fold(text))

    def action_search(self) -> None:
        """Search the history; again: the next one found."""
        if self._query is not None:
            self._suggestions.move(1)
        elif self._stashed is None:
            self.end_list()
            self._query = ""
            self._show_found()

    def _search_key(self, key: str) -> bool:
        if key == "backspace" and self._query is not None:
            self._query = self._query[:-1]
            self._show_found()
        elif key in {"enter", "tab"}:
            picked = self._suggestions.picked
            self.end_list()
            if picked is not None:
                self._past.leave()
                self.use_draft(picked.text)
        else:
            return False
        return True

    def _show_found(self) -> None:
        query = self._query or ""
        found = [Suggestion(text, 0, as_row(text)) for text in found_in(self._actions.earlier(), query)]
        title = f"search the history: {as_row(query)}_   {'' if found else 'nothing found'}"
        self._suggestions.show(found, title=title, pick_first=True, above=self._rows_below)

    @property
    def text_before_cursor(self) -> str:
        """The line up to the cursor; the whole draft up to it on the first line."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    @property
    def _rows_below(self) -> int:
        return self.outer_size.height + 1

    def action_tab(self) -> None:
        """Accept the picked or the best suggestion; without a list the tab goes elsewhere."""
        best = self._suggestions.best
        if best is not None:
            self._accept(best)
        else:
            self._actions.tab()

    def action_end(self) -> None:
        """End of the line; in an empty prompt the transcript's."""
        if self.text:
            self.action_cursor_line_end()
        else:
            self._actions.follow()

    def _accept(self, found: Suggestion) -> None:
        self._suggestions.close()
        row, column = self.cursor_location
        result = self.replace(f"{found.text} ", (row, column - found.replaces), (row, column))
        self.move_cursor(result.end_location)
        self._look_for_completions()
        self._actions.draft_changed()

    def _look_for_completions(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        before = self.text_before_cursor
        word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
        in_command = before.startswith("/") and self.cursor_location[0] == 0
        if self._stashed is not None or not (in_command or word.startswith("@")):
            self._suggestions.close()
            return
        self._looking = asyncio.create_task(self._complete(before))

    async def _complete(self, before: str) -> None:
        found = await self._actions.complete(before)
        if before != self.text_before_cursor:
            return
        # What stands there already in full needs no list; Enter must mean what it says.
        if len(found) == 1 and before.endswith(found[0].text):
            found = ()
        self._suggestions.show(found, above=self._rows_below)

    @override
    def action_delete_left(self) -> None:
        label = self._chips.label_before(self.text_before_cursor) if self.selection.is_empty else ""
        if label:
            row, column = self.cursor_location
            self.delete((row, column - len(label)), (row, column))
        else:
            super().action_delete_left()
        self._edited()

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
        self._edited()

    @override
    def action_delete_word_left(self) -> None:
        if self._chips.label_before(self.text_before_cursor):
            self.action_delete_left()
        else:
            super().action_delete_word_left()
            self._edited()

    def _edited(self) -> None:
        self._past.leave()
        self._look_for_completions()
        self._actions.draft_changed()
