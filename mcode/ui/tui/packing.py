"""The fields that hold a block's source text, as bytes and back.

JSON, and no form of Python's own that can do more than hold values when it is read.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from mcode import jsontext
from mcode.call import Call, Origin
from mcode.ui.tui.markdown_stream import Chunk, MarkdownStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcode.jsontext import JsonObject, JsonValue

SHORT = 100
"""Characters of a field, as JSON, that are not worth their way: remembering where they lie takes as much."""

LOST = "(This text could not be read back from mcode's own file. /export has what the session file holds.)"


def packed(values: Mapping[str, object]) -> tuple[bytes, list[str]]:
    """The fields that are long as bytes, and their names; none where no field is.

    Raises ValueError, TypeError or RecursionError where a value is none that JSON has.
    """
    long = {
        name: text
        for name, value in values.items()
        if value is not None and len(text := jsontext.dump(_plain(value))) > SHORT
    }
    joined = ",".join(f'"{name}":{text}' for name, text in long.items())
    return f"{{{joined}}}".encode("utf-8", "surrogatepass"), list(long)


def unpacked(data: bytes) -> dict[str, object]:
    """The fields that `packed` made the bytes of."""
    found: JsonObject = json.loads(data.decode("utf-8", "surrogatepass"))
    return {name: _restored(name, value) for name, value in found.items()}


def lost(names: Iterable[str]) -> dict[str, object]:
    """What stands for fields that cannot be read any more."""
    made: dict[str, object] = {"diff": None, "todos": (), "pieces": [LOST], "call": Call("", "lost", {})}
    stream = MarkdownStream()
    stream.feed(LOST)
    stream.finish()
    return {name: stream if name == "source" else made.get(name, LOST) for name in names}


def _plain(value: object) -> JsonValue:
    match value:
        case Call():
            return _fields_of(value)
        case MarkdownStream():
            return [_fields_of(chunk) for chunk in value.chunks]
        case _:
            return value


def _restored(name: str, value: JsonValue) -> object:
    match name:
        case "call":
            values: JsonObject = {**value, "origin": Origin(value["origin"])}
            return Call(**values)
        case "source":
            return MarkdownStream.of(Chunk(**each) for each in cast("list[JsonObject]", value))
        case "todos":
            return tuple(value)
        case _:
            return value


def _fields_of(value: Any) -> JsonObject:
    return {each.name: getattr(value, each.name) for each in fields(value)}
