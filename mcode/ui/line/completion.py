"""Completion at the line front end's prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from typing_extensions import override

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from prompt_toolkit.document import Document

    from mcode.ui.completion import Completer as Source


class DraftCompleter(Completer):
    """Offers what fits the word before the cursor."""

    def __init__(self, source: Callable[[], Source | None]) -> None:
        """`source` is None as long as there is no session."""
        self._source = source

    @override
    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Not used: looking for files takes long enough to need the other form."""
        return ()

    @override
    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        source = self._source()
        if source is None:
            return
        for found in await source.matching(document.text_before_cursor):
            label = clean(found.label or found.text, Kind.LINE)
            yield Completion(
                found.text, -found.replaces, display=label, display_meta=clean(found.note, Kind.LINE)
            )
