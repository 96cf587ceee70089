"""Messages that another program sends on standard input, one JSON object a line."""

from __future__ import annotations

from typing import cast

from mcode import jsontext
from mcode.errors import UsageError

EXPECTED = '{"type":"user","message":{"role":"user","content":"…"}}'


def read_message(line: bytes, number: int) -> str:
    """The text of one line; raises UsageError that names the line and what it should be."""
    try:
        body = jsontext.parse_object(line.decode("utf-8"))
    except (UnicodeDecodeError, jsontext.JsonError) as error:
        raise UsageError(
            f"Line {number} of the input is not JSON: {error}. It was not sent. Expected {EXPECTED}."
        ) from None
    message = body.get("message")
    content: object = (
        cast("jsontext.JsonObject", message).get("content") if isinstance(message, dict) else None
    )
    text = _text_of(content)
    if body.get("type") != "user" or text is None:
        raise UsageError(
            f"Line {number} of the input is no user message. It was not sent. Expected {EXPECTED}."
        )
    return text


def _text_of(content: object) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = cast("list[jsontext.JsonObject]", content)
    if not all(isinstance(block.get("text"), str) for block in blocks):
        return None
    return "\n\n".join(str(block["text"]) for block in blocks)
