"""Renders the conversation for one endpoint: the journal is provider-neutral, so provider blocks are made here.

In *call* loading the search's results say everything themselves and nothing is changed. In the other ways the
definitions in them are left out: they come in as `tool_reference` blocks, or stand at the end of the tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.catalog.found import without_definitions
from mcode.model.reading import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.catalog.placement import LoadingWay
    from mcode.catalog.seen import LoadedTool
    from mcode.jsontext import JsonObject, JsonValue


class Rendering:
    """Renders messages; what was rendered once is the same object ever after."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[JsonObject, tuple[LoadingWay, list[list[str] | None]], JsonObject]] = {}
        """By identity of a message, which is kept alive here: how it was rendered, and what of it is loaded."""

    def messages(
        self, messages: tuple[JsonObject, ...], loads: Mapping[str, LoadedTool], way: LoadingWay
    ) -> tuple[JsonObject, ...]:
        """The messages as they are sent."""
        if way == "call" or not loads:
            return messages
        by_call: dict[str, list[str]] = {}
        for load in loads.values():
            if load.call:
                by_call.setdefault(load.call, []).append(load.name)
        return tuple(self._message(message, by_call, way) for message in messages)

    def _message(self, message: JsonObject, by_call: Mapping[str, list[str]], way: LoadingWay) -> JsonObject:
        content = message.get("content")
        parts: list[JsonValue] = content if is_list(content) else []
        shown = [by_call.get(str(part.get("tool_use_id"))) for part in parts]
        known = self._done.get(id(message))
        if known is not None and known[0] is message and known[1] == (way, shown):
            return known[2]
        rendered = message
        if any(shown):
            blocks = [_block(block, names, way) for block, names in zip(parts, shown, strict=True)]
            rendered = {**message, "content": blocks}
        self._done[id(message)] = (message, (way, shown), rendered)
        return rendered


def declared(
    loads: Mapping[str, LoadedTool], messages: tuple[JsonObject, ...], way: LoadingWay
) -> list[JsonObject]:
    """Definitions of loaded tools that stand at the end of the tools, in the order of loading."""
    if way == "append":
        return [load.definition for load in loads.values()]
    if way == "reference":
        # Only what a message refers to: a deferred definition that nobody refers to does nothing.
        referred = set(references(messages))
        # What was loaded before a compaction is referred to by nothing that is left, and stands there whole.
        standing = [load.definition for load in loads.values() if not load.call]
        return standing + [
            {**load.definition, "defer_loading": True}
            for name, load in loads.items()
            if load.call and name in referred
        ]
    return []


def references(messages: tuple[JsonObject, ...]) -> list[str]:
    """Names of tools that `tool_reference` blocks bring in."""
    return [
        str(inner.get("tool_name"))
        for message in messages
        if message.get("role") == "user" and is_list(message.get("content"))
        for block in message["content"]
        if block.get("type") == "tool_result" and is_list(block.get("content"))
        for inner in block["content"]
        if inner.get("type") == "tool_reference"
    ]


def _block(block: JsonObject, names: list[str] | None, way: LoadingWay) -> JsonObject:
    text = block.get("content")
    if not names or block.get("is_error") or not isinstance(text, str):
        return block
    brief = without_definitions(text) or "(loaded)"
    if way == "append":
        return {**block, "content": brief}
    found: list[JsonObject] = [{"type": "tool_reference", "tool_name": name} for name in names]
    return {**block, "content": [{"type": "text", "text": brief}, *found]}
