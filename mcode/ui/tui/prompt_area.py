"""The prompt: a draft, what its keys do, and for a while another question's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from typing_extensions import override

from mcode.ui.tui.chips import Chips
from mcode.ui.tui.enter_guard import EnterGuard
from mcode.ui.tui.paste_guard import UnmarkedPaste
from mcode.ui.tui.placeholder import KEYS_HINT, UNMARKED
from mcode.ui.tui.prompt_keys import PROMPT_KEYS
from mcode.ui.tui.prompt_lists import PromptLists
from mcode.ui.tui.prompt_text import PromptText
from mcode.ui.tui.stashed import Stashed

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType
    from textual.events import Key, Paste

    from mcode.ui.suggestion import Suggestion
    from mcode.ui.tui.prompt_actions import PromptActions
    from mcode.ui.tui.suggestions import Suggestions


class PromptArea(PromptText, inherit_bindings=False):
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
        &.beside-panel { max-height: 5; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = PROMPT_KEYS

    def __init__(self, actions: PromptActions, suggestions: Suggestions, keys: str = KEYS_HINT) -> None:
        """`keys`: what Enter does, for the border."""
        super().__init__()
        self._actions = actions
        self._lists = PromptLists(self, actions, suggestions)
        self._guard = EnterGuard(send=self._send, keep=self._pasted_enter)
        self._stashed: Stashed | None = None
        self._keys = self._title = keys
        self.border_title = Content(keys)

    @property
    def draft(self) -> str:
        """The draft as it would be sent, also while the prompt serves another question."""
        stashed = self._stashed
        return stashed.chips.expand(stashed.text) if stashed else self._chips.expand(self.text)

    @property
    def asking(self) -> bool:
        """True while the prompt serves another question than the draft."""
        return self._stashed is not None

    @property
    def at_rest(self) -> bool:
        """True where the prompt does nothing but hold the draft: no list, no search, no other question."""
        return self._stashed is None and not self._lists.open

    def use_draft(self, text: str) -> None:
        """Put a text in place of the draft; a long one as a label."""
        if self._stashed is not None:
            self._stashed.text = self._stashed.chips.fold(text)
            return
        self.put_all(text)
        self._actions.draft_changed()

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

    def ask_again(self, problem: str) -> None:
        """What was typed for the question is no answer to it; it stays."""
        self.border_title = Content(problem)

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
        if self._lists.open:
            self.end_list()
            return True
        if self._stashed is not None:
            typed = self._chips.expand(self.text)
            if typed.strip():
                self._actions.given_up(typed)
            self._stashed.done(None)
            return True
        return False

    def end_list(self) -> None:
        """Close whatever list is open."""
        self._lists.close()

    @override
    async def _on_key(self, event: Key) -> None:
        """Every key is done with before the next one is looked at: what it means must not come after it."""
        event.stop()
        event.prevent_default()
        self._guard.key(event.time, printable=event.is_printable)
        if event.is_printable and event.character:
            self._typed(event.character)
        elif self._lists.searching and self._search_key(event.key):
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
        if self._lists.searching:
            self._lists.narrow(letter)
        elif letter == "?" and not self.text and self._stashed is None:
            self._actions.keys_help()
        else:
            self._insert(letter)
            self._look_for_completions()

    def _insert(self, text: str) -> None:
        self.put_in(text)
        self._actions.draft_changed()

    @override
    def edited(self) -> None:
        self._look_for_completions()
        self._actions.draft_changed()

    def action_enter(self) -> None:
        """Accept the picked suggestion, or send; an Enter right behind a key waits for what follows it."""
        picked = self._lists.picked
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
        if self._lists.shown:
            self._lists.move(-1)
        elif not self.cursor_at_first_line or self._stashed is not None:
            self.action_cursor_up()
        elif not self.text and (taken := self._actions.take_back()) is not None:
            self.use_draft(taken)
        else:
            self._recall(self._past.older(self._actions.earlier(), self.text))

    def action_down(self) -> None:
        """Down in the list, in the draft, or back towards it."""
        if self._lists.shown:
            self._lists.move(1)
        elif not self.cursor_at_last_line or self._stashed is not None:
            self.action_cursor_down()
        else:
            self._recall(self._past.newer())

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.use_draft(text)

    def action_search(self) -> None:
        """Search the history; again: the next one found."""
        if self._stashed is None:
            self._lists.search()

    def _search_key(self, key: str) -> bool:
        if key == "backspace":
            self._lists.widen()
        elif key in {"enter", "tab"}:
            picked = self._lists.picked
            self.end_list()
            if picked is not None:
                self._past.leave()
                self.use_draft(picked.text)
        else:
            return False
        return True

    def action_tab(self) -> None:
        """Accept the picked or the best suggestion; without a list the tab goes elsewhere."""
        best = self._lists.best
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
        self.end_list()
        self.complete_with(found)
        self.edited()

    def _look_for_completions(self) -> None:
        if self._stashed is None:
            self._lists.look()
        else:
            self.end_list()
