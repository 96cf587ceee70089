"""Messages as JSON lines: text, and images, which are taken in as pasted ones are."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from mcode.errors import UsageError
from mcode.ui.stream_input import read_message
from tests.images.making import png

SHOT = png(64, 48)


def keep(data: bytes) -> tuple[str, str]:
    if data != SHOT:
        raise UsageError("The image was not taken: it is damaged.")
    return "[Image #1]", "PNG"


def read(*content: dict[str, Any]) -> str:
    line = json.dumps({"type": "user", "message": {"role": "user", "content": content}})
    return read_message(line.encode(), 1, keep)


def image(data: bytes) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def test_an_image_of_a_message_becomes_its_label() -> None:
    assert read({"type": "text", "text": "see"}, image(SHOT)) == "see\n\n[Image #1]"


def test_s_09_an_image_that_cannot_be_taken_becomes_a_note_and_the_message_goes_on() -> None:
    assert read({"type": "text", "text": "see"}, image(b"no")).startswith(
        "see\n\n[an image is left out: The image"
    )
    broken = {"type": "image", "source": {"type": "base64", "data": "%%"}}
    assert "[an image is left out" in read({"type": "text", "text": "see"}, broken)


def test_any_other_block_is_no_message() -> None:
    with pytest.raises(UsageError, match="Line 1 of the input is no user message"):
        read({"type": "hologram"})
