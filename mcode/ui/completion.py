"""What fits the word before the cursor: `/` commands, their arguments, and `@` files. For every front end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.commands.host import CommandContext
    from mcode.ui.line.file_names import FileNames


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One text that can stand in place of what was typed."""

    text: str
    replaces: int
    """How many characters before the cursor it takes the place of."""
    label: str = ""
    """What is shown; empty where it is the text itself. Not yet cleaned."""
    note: str = ""


class Completer:
    """Looks for what fits."""

    def __init__(self, context: Callable[[], CommandContext], files: FileNames) -> None:
        self._context = context
        self._files = files

    async def matching(self, before: str) -> Sequence[Suggestion]:
        """What fits the text before the cursor, the best first; files are looked for in a thread."""
        word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            names = await self._files.matching(word[1:].removeprefix('"'))
            return [Suggestion(_as_reference(name), len(word), name) for name in names]
        if before.startswith("/") and "\n" not in before:
            name, blank, rest = before[1:].partition(" ")
            return await self._arguments(name, rest) if blank else self.names(name)
        return ()

    def names(self, typed: str) -> Sequence[Suggestion]:
        """Commands and skills whose name or alias begins so."""
        context = self._context()
        own = [
            Suggestion(f"/{command.name}", len(typed) + 1, note=command.summary)
            for command in context.registry
            if any(name.startswith(typed.lower()) for name in (command.name, *command.aliases))
        ]
        return own + [
            Suggestion(
                f"/{skill.name}", len(typed) + 1, note=f"{skill.argument_hint} {skill.description}".strip()
            )
            for skill in context.agent.skills.all
            if skill.by_user
            and skill.name.lower().startswith(typed.lower())
            and context.registry.find(skill.name) is None
        ]

    async def _arguments(self, name: str, typed: str) -> Sequence[Suggestion]:
        context = self._context()
        command = context.registry.find(name)
        if command is None or command.complete is None:
            return ()
        # A list of sessions is read from the disk.
        words = await asyncio.to_thread(command.complete, context)
        return [
            Suggestion(word, len(typed))
            for word in words
            if word.lower().startswith(typed.lower()) and word.isprintable()
        ]


def _as_reference(name: str) -> str:
    return f'@"{name}"' if " " in name else f"@{name}"
