"""What fits the word before the cursor: `/` commands, skills and prompts of servers, their arguments, `@` files and
resources of servers. For every front end.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.programs import kept_names
from mcode.mcp.servers import Servers
from mcode.ui.suggestion import Suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.commands.host import CommandContext
    from mcode.commands.registry import Command
    from mcode.mcp.extras import Extras
    from mcode.ui.file_names import FileNames


_MEANT = 3
"""Letters from which on a command is offered by the name that other agents have for it."""

RESOURCES_SHOWN = 20
"""Resources that are offered at once."""


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
            files = [Suggestion(_as_reference(name), len(word), name) for name in names]
            resources = self._resources(word)
            # A colon stands in mentions of servers and hardly in names of files.
            return [*resources, *files] if ":" in word else [*files, *resources]
        if before.startswith("/") and "\n" not in before:
            name, blank, rest = before[1:].partition(" ")
            return (
                await self._arguments(name, rest)
                if blank
                else [*self.names(name), *await _kept(self._context(), name)]
            )
        return ()

    def names(self, typed: str) -> Sequence[Suggestion]:
        """Commands and skills whose name begins so, or what else they are called."""
        context = self._context()
        own = [
            Suggestion(f"/{command.name}", len(typed) + 1, note=command.summary)
            for command in context.registry
            if any(name.startswith(typed.lower()) for name in _known_as(command, typed))
        ]
        return (
            own
            + [
                Suggestion(
                    f"/{skill.name}",
                    len(typed) + 1,
                    note=f"{skill.argument_hint} {skill.description}".strip(),
                )
                for skill in context.agent.skills.all
                if skill.by_user
                and skill.name.lower().startswith(typed.lower())
                and context.registry.find(skill.name) is None
            ]
            + self._prompts(typed)
        )

    def _prompts(self, typed: str) -> list[Suggestion]:
        """Prompts of servers; several hundred of them are not offered before a letter is typed."""
        extras = self._extras()
        if extras is None or not typed:
            return []
        return [
            Suggestion(f"/{prompt.name}", len(typed) + 1, note=f"{prompt.usage} {prompt.description}".strip())
            for prompt in extras.prompts()
            if typed.lower() in prompt.name.lower()
        ]

    def _resources(self, word: str) -> list[Suggestion]:
        """Resources of servers whose mention begins so, or holds what stands behind the `@`."""
        extras = self._extras()
        if extras is None or len(word) == 1:
            return []
        found = [each for each in extras.resources() if word[1:].lower() in each.mention.lower()]
        found.sort(key=lambda each: not each.mention.lower().startswith(word.lower()))
        return [
            Suggestion(each.mention, len(word), note=each.title)
            for each in found[:RESOURCES_SHOWN]
            if not any(letter.isspace() for letter in each.mention)
        ]

    def _extras(self) -> Extras | None:
        servers = self._context().agent.builder.shelf.servers
        return servers.extras if isinstance(servers, Servers) else None

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


def _known_as(command: Command, typed: str) -> Sequence[str]:
    """Names of a command; those that other agents have for it where enough was typed to mean one of them."""
    names = (command.name, *command.aliases)
    return (*names, *command.elsewhere) if len(typed) >= _MEANT else names


async def _kept(context: CommandContext, typed: str) -> Sequence[Suggestion]:
    """The user's programs whose name begins so."""
    kept = await asyncio.to_thread(kept_names, context)
    return [
        Suggestion(f"/{name}", len(typed) + 1, note=f"your program: {title}" if title else "your program")
        for name, title in kept
        if name.startswith(typed.lower())
    ]


def _as_reference(name: str) -> str:
    return f'@"{name}"' if " " in name else f"@{name}"
