"""Completion of `/` commands, their arguments, and `@` files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from typing_extensions import override

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from prompt_toolkit.document import Document

    from mcode.commands.host import CommandContext
    from mcode.ui.line.file_names import FileNames


class DraftCompleter(Completer):
    """Offers what fits the word before the cursor."""

    def __init__(self, context: Callable[[], CommandContext], files: FileNames) -> None:
        self._context = context
        self._files = files

    @override
    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Not used: looking for files takes long enough to need the other form."""
        return ()

    @override
    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        before = document.text_before_cursor
        word = document.get_word_before_cursor(WORD=True)
        if word.startswith("@"):
            for name in await self._files.matching(word[1:].removeprefix('"')):
                yield Completion(_as_reference(name), -len(word), display=clean(name, Kind.LINE))
        elif before.startswith("/") and "\n" not in before:
            name, blank, rest = before[1:].partition(" ")
            for completion in await self._arguments(name, rest) if blank else self._names(name):
                yield completion

    def _names(self, typed: str) -> list[Completion]:
        return [
            Completion(f"/{command.name}", -len(typed) - 1, display_meta=clean(command.summary, Kind.LINE))
            for command in self._context().registry
            if any(name.startswith(typed.lower()) for name in (command.name, *command.aliases))
        ]

    async def _arguments(self, name: str, typed: str) -> list[Completion]:
        context = self._context()
        command = context.registry.find(name)
        if command is None or command.complete is None:
            return []
        # A list of sessions is read from the disk.
        words = await asyncio.to_thread(command.complete, context)
        return [
            Completion(word, -len(typed), display=clean(word, Kind.LINE))
            for word in words
            if word.lower().startswith(typed.lower()) and word.isprintable()
        ]


def _as_reference(name: str) -> str:
    return f'@"{name}"' if " " in name else f"@{name}"
