"""What servers offer beside tools: resources to read, and prompts to send."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcode.errors import UsageError
from mcode.mcp.connection import UnavailableError
from mcode.mcp.names import plain_name
from mcode.mcp.results import contents_text
from mcode.model.reading import is_object, objects_in, text_field
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcode.images.picture import Picture
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.mcp.server import Server


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource in a server's list. All text is clean."""

    server: str
    uri: str
    title: str
    description: str = ""
    mime: str = ""

    @property
    def mention(self) -> str:
        """How a message names it."""
        return f"@{self.server}:{self.uri}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a server, as a command."""

    server: str
    own_name: str
    """As the server calls it."""
    description: str
    arguments: tuple[tuple[str, bool], ...]
    """Name and necessity of each, in the server's order."""

    @property
    def name(self) -> str:
        """The command without its slash."""
        return f"mcp__{plain_name(self.server)}__{plain_name(self.own_name)}"

    @property
    def usage(self) -> str:
        """The arguments as /help shows them."""
        return " ".join(name if needed else f"[{name}]" for name, needed in self.arguments)


class Extras:
    """Resources and prompts of all servers."""

    def __init__(self, servers: Mapping[str, Server]) -> None:
        self._servers = servers

    def resources(self) -> tuple[Resource, ...]:
        """What the servers list, as far as it is known."""
        return tuple(
            Resource(
                server.name,
                _line(each, "uri", 500),
                _line(each, "title", 100) or _line(each, "name", 100),
                _line(each, "description", 200),
                _line(each, "mimeType", 60),
            )
            for server in self._servers.values()
            if server.usable and server.catalogue is not None
            for each in server.catalogue.resources
        )

    def prompts(self) -> tuple[Prompt, ...]:
        """The prompts that are known; of two with the same command the first counts."""
        found: dict[str, Prompt] = {}
        for server in self._servers.values():
            if server.usable and server.catalogue is not None:
                for each in server.catalogue.prompts:
                    prompt = _prompt(server.name, each)
                    found.setdefault(prompt.name, prompt)
        return tuple(found.values())

    async def read(
        self, server: str, uri: str, spill: Callable[[str], Path]
    ) -> tuple[str, tuple[Picture, ...]]:
        """The text of a resource, and the images in it. Raises UnavailableError and TimeoutError."""
        known = self._usable(server)

        async def ask(client: Any) -> Any:
            return await client.read_resource(uri)

        result = await known.connection.request(ask)
        dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        images: list[Picture] = []
        text = await asyncio.to_thread(contents_text, dumped.get("contents"), spill, images)
        return text, tuple(images)

    async def learn_prompt(self, name: str, seconds: float) -> None:
        """Where the command is one of a server here, connect that, and wait, so long at most, for its prompts.

        Raises UsageError where the server is not to be had.
        """
        for server in self._servers.values():
            if not name.lower().startswith(f"mcp__{plain_name(server.name)}__".lower()):
                continue
            try:
                async with asyncio.timeout(seconds):
                    await self._usable(server.name).connection.ask_for_extras()
            except TimeoutError:
                raise _late(name, server.name) from None
            except UnavailableError as error:
                raise _not_had(name, server.name, error) from None

    async def prompt_text(self, name: str, words: Sequence[str]) -> str | None:
        """What a prompt makes of its arguments; None where no server has it. Raises UsageError."""
        prompt = next((each for each in self.prompts() if each.name.lower() == name.lower()), None)
        if prompt is None:
            return None
        arguments = _arguments(prompt, words)

        async def ask(client: Any) -> Any:
            return await client.get_prompt(prompt.own_name, arguments)

        try:
            result = await self._usable(prompt.server).connection.request(ask)
        except TimeoutError:
            raise _late(name, prompt.server) from None
        except UnavailableError as error:
            raise _not_had(name, prompt.server, error) from None
        return _said(result.model_dump(by_alias=True, mode="json", exclude_none=True))

    def _usable(self, name: str) -> Server:
        server = self._servers.get(name)
        if server is None:
            known = ", ".join(self._servers) or "none"
            raise UnavailableError(f"there is no such server; configured are: {known}")
        if not server.usable:
            status = server.status()
            raise UnavailableError(f"it is not available: {status.error or status.state}")
        return server


def _late(name: str, server: str) -> UsageError:
    return UsageError(
        f"The server {server} gave no answer for /{name} in time; nothing was sent. Try it again."
    )


def _not_had(name: str, server: str, error: UnavailableError) -> UsageError:
    return UsageError(
        f"/{name} could not be had from the server {server}: {error}. Nothing was sent; /mcp shows how the "
        "server stands."
    )


def _prompt(server: str, listed: JsonObject) -> Prompt:
    arguments = tuple(
        (_line(each, "name", 60), each.get("required") is True)
        for each in objects_in(listed.get("arguments"))
    )
    about = _line(listed, "description", 200) or _line(listed, "title", 100)
    return Prompt(server, text_field(listed, "name"), about, arguments)


def _arguments(prompt: Prompt, words: Sequence[str]) -> dict[str, str]:
    """Words in the order of the arguments; the last argument takes what is left."""
    names = [name for name, _ in prompt.arguments]
    if len(words) > len(names):
        if not names:
            raise UsageError(f"/{prompt.name} takes no arguments; nothing was sent.")
        words = [*words[: len(names) - 1], " ".join(words[len(names) - 1 :])]
    given = dict(zip(names, words, strict=False))
    missing = [name for name, needed in prompt.arguments if needed and name not in given]
    if missing:
        raise UsageError(
            f"/{prompt.name} needs {', '.join(missing)}; nothing was sent. Usage: /{prompt.name} {prompt.usage}"
        )
    return given


def _said(result: JsonObject) -> str:
    """The messages of a prompt as one text."""
    parts: list[str] = []
    for message in objects_in(result.get("messages")):
        content = message.get("content")
        text = text_field(content, "text") or contents_text(_resource_of(content), _no_file, [])
        if text_field(message, "role") == "assistant":
            text = f"(as if you had answered) {text}"
        parts.append(text)
    return clean("\n\n".join(part for part in parts if part), Kind.MODEL)


def _resource_of(content: JsonValue) -> list[JsonValue]:
    return [content.get("resource")] if is_object(content) else []


def _no_file(suffix: str) -> Path:
    raise UsageError(f"The prompt holds a file ({suffix}), which a message cannot carry; nothing was sent.")


def _line(value: JsonObject, key: str, limit: int) -> str:
    return clean(text_field(value, key)[: 4 * limit], Kind.LINE)[:limit]
