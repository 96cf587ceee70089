"""Checks a request before it is sent: every deferred tool must be reachable from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.rendering import references
from mcode.catalog.placement import CALL_TOOL, RUN_CODE, TOOL_SEARCH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.catalog.placement import LoadingWay
    from mcode.jsontext import JsonObject


def unreachable(body: JsonObject, deferred: Iterable[str], way: LoadingWay) -> list[str]:
    """What is wrong with a body, a sentence each: tools that nothing leads to, references that lead nowhere."""
    tools: dict[str, JsonObject] = {str(tool["name"]): tool for tool in body.get("tools", ())}
    wrong = [
        f"the reference to {name} leads to no tool of the request"
        for name in references(tuple(body["messages"]))
        if name not in tools
    ]
    hidden = sorted(set(deferred) - tools.keys())
    if hidden and TOOL_SEARCH not in tools:
        wrong.append(f"{', '.join(hidden[:5])} cannot be found: there is no {TOOL_SEARCH}")
    if hidden and way == "call" and not tools.keys() & {CALL_TOOL, RUN_CODE}:
        wrong.append(f"{', '.join(hidden[:5])} cannot be called: there is no {CALL_TOOL}")
    if tools and all(tool.get("defer_loading") for tool in tools.values()):
        wrong.append("every tool of the request is deferred")
    return wrong
