"""Lists everything that a connected server offers, page by page, however it misbehaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcode.mcp import library
from mcode.mcp.definitions import TOOL_LIMIT
from mcode.mcp.parts import OWN_CURSOR

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.jsontext import JsonObject
    from mcode.mcp.screen import Screen

PAGES = 100
"""Pages of one list that are asked for at most."""

EXTRAS = 1000
"""Prompts and resources of one server that are kept of each."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers, or a part of it; None for a list that was not asked for."""

    tools: tuple[JsonObject, ...] | None = None
    """As the server describes them."""
    prompts: tuple[JsonObject, ...] | None = None
    resources: tuple[JsonObject, ...] | None = None
    problems: tuple[str, ...] = ()
    title: str | None = None
    instructions: str | None = None


async def list_tools(client: Any, screen: Screen) -> Offer:
    """All tools, with what the server says of itself. Raises what `library.failures` names."""
    screen.begin_listing()
    problems: list[str] = []
    if _offers(client, "tools"):
        problems = await _pages(
            lambda cursor: client.list_tools(cursor=cursor),
            lambda: len(screen.listed) + len(screen.malformed) > TOOL_LIMIT,
        )
    problems += [f"{name!r} is left out: its entry is malformed" for name in screen.malformed[:20]]
    info = client.server_info
    title = getattr(info, "title", None) or getattr(info, "name", None) or ""
    return Offer(
        tools=tuple(screen.listed),
        problems=tuple(problems),
        title=str(title),
        instructions=str(client.instructions or ""),
    )


async def list_extras(client: Any) -> Offer:
    """All prompts and resources. A list that fails is None: what was known of it stays."""
    problems: list[str] = []

    async def take(what: str, ask: Callable[[str | None], Awaitable[Any]]) -> tuple[JsonObject, ...] | None:
        taken: list[JsonObject] = []

        async def page(cursor: str | None) -> Any:
            result = await ask(cursor)
            taken.extend(
                each.model_dump(by_alias=True, mode="json", exclude_none=True)
                for each in getattr(result, what)
            )
            return result

        try:
            problems.extend(await _pages(page, lambda: len(taken) >= EXTRAS))
        except library.failures() as error:
            problems.append(f"its {what} could not be listed: {library.explain(error)}")
            return None
        return tuple(taken[:EXTRAS])

    prompts: tuple[JsonObject, ...] | None = ()
    resources: tuple[JsonObject, ...] | None = ()
    if _offers(client, "prompts"):
        prompts = await take("prompts", lambda cursor: client.list_prompts(cursor=cursor))
    if _offers(client, "resources"):
        resources = await take("resources", lambda cursor: client.list_resources(cursor=cursor))
    return Offer(prompts=prompts, resources=resources, problems=tuple(problems))


def _offers(client: Any, what: str) -> bool:
    return getattr(client.server_capabilities, what, None) is not None


async def _pages(ask: Callable[[str | None], Awaitable[Any]], enough: Callable[[], bool]) -> list[str]:
    """Follow the cursors; says why it stopped before their end, where it did."""
    cursor: str | None = None
    seen: set[str] = set()
    while len(seen) < PAGES:
        cursor = (await ask(cursor)).next_cursor
        while cursor and cursor.startswith(OWN_CURSOR):
            cursor = (await ask(cursor)).next_cursor
        if not cursor or enough():
            return []
        if cursor in seen:
            return ["its list repeats a page for ever; what came before is taken"]
        seen.add(cursor)
    return [f"its list has more than {PAGES} pages; the first {PAGES} are taken"]
