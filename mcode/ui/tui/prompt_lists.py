"""What lists itself over the prompt: completions of the word before the cursor, and the history that is searched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.ui.suggestion import Suggestion
from mcode.ui.tui.past import as_row, found_in

if TYPE_CHECKING:
    from mcode.ui.tui.prompt_actions import PromptActions
    from mcode.ui.tui.prompt_text import PromptText
    from mcode.ui.tui.suggestions import Suggestions


class PromptLists:
    """At most one list is open; the prompt tells it what keys mean."""

    def __init__(self, prompt: PromptText, actions: PromptActions, suggestions: Suggestions) -> None:
        self._prompt = prompt
        self._actions = actions
        self._suggestions = suggestions
        self._query: str | None = None
        """What is searched for in the history; None while nothing is searched."""
        self._looking: asyncio.Task[None] | None = None

    @property
    def open(self) -> bool:
        """True while a list is open."""
        return self._query is not None or self._suggestions.open

    @property
    def searching(self) -> bool:
        """True while the history is searched: what is typed is looked for in it."""
        return self._query is not None

    @property
    def shown(self) -> bool:
        """True while there are rows to go through."""
        return self._suggestions.open

    @property
    def picked(self) -> Suggestion | None:
        """The one that the user went to."""
        return self._suggestions.picked

    @property
    def best(self) -> Suggestion | None:
        """The picked one, else the first."""
        return self._suggestions.best

    def move(self, by: int) -> None:
        """Go to the next or the one before."""
        self._suggestions.move(by)

    def close(self) -> None:
        """Close whatever list is open."""
        self._query = None
        self._suggestions.close()
        self._stop_looking()

    def look(self) -> None:
        """Look for what completes the word before the cursor; where nothing can, the list closes."""
        self._stop_looking()
        self._query = None
        before = self._prompt.text_before_cursor
        word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
        in_command = before.startswith("/") and self._prompt.in_first_line
        if in_command or word.startswith("@"):
            self._looking = asyncio.create_task(self._complete(before))
        else:
            self._suggestions.close()

    def search(self) -> None:
        """Search the history; again: the next one found."""
        if self._query is not None:
            self._suggestions.move(1)
            return
        self.close()
        self._query = ""
        self._show_found()

    def narrow(self, letter: str) -> None:
        """One more letter of what is searched for."""
        self._query = (self._query or "") + letter
        self._show_found()

    def widen(self) -> None:
        """One letter less."""
        self._query = (self._query or "")[:-1]
        self._show_found()

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _complete(self, before: str) -> None:
        found = await self._actions.complete(before)
        if before != self._prompt.text_before_cursor:
            return
        # What stands there already in full needs no list; Enter must mean what it says.
        if len(found) == 1 and before.endswith(found[0].text):
            found = ()
        self._suggestions.show(found, above=self._rows_below)

    def _show_found(self) -> None:
        query = self._query or ""
        found = [Suggestion(text, 0, as_row(text)) for text in found_in(self._actions.earlier(), query)]
        title = f"search the history: {as_row(query)}_   {'' if found else 'nothing found'}"
        self._suggestions.show(found, title=title, pick_first=True, above=self._rows_below)

    @property
    def _rows_below(self) -> int:
        return self._prompt.outer_size.height + 1
