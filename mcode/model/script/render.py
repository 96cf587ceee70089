"""Turns a whole message into the raw events of the Messages stream, always the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.jsontext import JsonObject, JsonValue, dump

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT_SIZES = (4, 11, 7, 19, 2, 13)
_JSON_SIZES = (3, 8, 1, 13, 5, 21, 2)
"""Characters of the deltas, in turn: uneven, so that cuts fall inside words, strings and numbers."""

_FREE_ESCAPES = 64
"""So many backslashes of an input get a cut of their own; later ones are cut where the sizes fall."""


def render_events(message: JsonObject, chunk: int | None = None) -> Iterator[JsonObject]:
    """The events of one complete message, in order.

    `message` is Messages-shaped; a tool_use may hold `raw_input` (text) in place of `input`. `chunk` is the
    length of the deltas in characters; None for varied lengths. Blocks of unknown type are sent verbatim.
    """
    usage = message.get("usage")
    start: JsonObject = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    start.pop("stop_details", None)
    if isinstance(usage, dict):
        start["usage"] = {**usage, **({"output_tokens": 1} if "output_tokens" in usage else {})}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block, chunk)
    ending: JsonObject = {
        "stop_reason": message.get("stop_reason"),
        "stop_sequence": message.get("stop_sequence"),
    }
    if message.get("stop_details") is not None:
        ending["stop_details"] = message["stop_details"]
    closing: JsonObject = {"type": "message_delta", "delta": ending}
    if isinstance(usage, dict) and "output_tokens" in usage:
        closing["usage"] = {"output_tokens": usage["output_tokens"]}
    yield closing
    yield {"type": "message_stop"}


def _block_events(index: int, block: JsonObject, chunk: int | None) -> Iterator[JsonObject]:
    start: JsonObject = block
    deltas: list[JsonObject] = []
    match block["type"]:
        case "text":
            start = {**block, "text": ""}
            deltas = [
                {"type": "text_delta", "text": part} for part in pieces(block["text"], chunk, _TEXT_SIZES)
            ] or [{"type": "text_delta", "text": ""}]
        case "thinking":
            start = {**block, "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": part}
                for part in pieces(block["thinking"], chunk, _TEXT_SIZES)
            ]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use":
            start = {key: value for key, value in block.items() if key != "raw_input"} | {"input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": part}
                for part in ("", *input_pieces(_input_text(block), chunk))
            ]
        case _:
            pass
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _input_text(block: JsonObject) -> str:
    raw = block.get("raw_input")
    if isinstance(raw, str):
        return raw
    given: JsonValue = block.get("input")
    return dump(given) if given else ""


def pieces(text: str, chunk: int | None, sizes: tuple[int, ...]) -> list[str]:
    """Cut a text into deltas of `chunk` characters, or of the given sizes in turn."""
    result: list[str] = []
    at = turn = 0
    while at < len(text):
        size = chunk or sizes[turn % len(sizes)]
        result.append(text[at : at + size])
        at += size
        turn += 1
    return result


def input_pieces(text: str, chunk: int | None = None) -> list[str]:
    """Cut the JSON text of an input; besides the usual cuts, one falls right behind each backslash."""
    if chunk is not None:
        return pieces(text, chunk, _JSON_SIZES)
    result: list[str] = []
    rest = text
    for _ in range(_FREE_ESCAPES):
        before, backslash, after = rest.partition("\\")
        if not backslash:
            break
        result.extend(pieces(before + backslash, None, _JSON_SIZES))
        # The escaped character goes with what follows, and is no backslash that begins another escape.
        rest = after[1:]
        result.extend(after[:1])
    result.extend(pieces(rest, None, _JSON_SIZES))
    return result
