"""Images in a request: which of them may be sent, and the text that replaces those that may not.

In the journal and in the history an image is a value without bytes; the bytes are in a file of the session and come in
here, when a body is built.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from mcode.images.words import MANY, SIDE_OF_MANY, described
from mcode.model.per_message import PerMessage
from mcode.model.reading import objects_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcode.jsontext import JsonObject

MOST_IMAGES = 100
"""Images of one request; endpoints take no more."""

MOST_BYTES = 20_000_000
"""Bytes of all images of a request; in base64 they are 27 MB, and endpoints take 32 of everything."""


class Pictures:
    """Renders images. A message without any, and one rendered before, is the same object ever after."""

    def __init__(self, load: Callable[[JsonObject], bytes | None], *, accepted: bool = True) -> None:
        """`load` gives the bytes of an image, or None. `accepted`: False where the endpoint is known to take none."""
        self.accepted = accepted
        self._load = load
        self._noted = PerMessage(lambda message: each_image(message, _unaccepted))
        self._encoded = PerMessage(lambda message: each_image(message, self._encode))
        self._images = PerMessage(lambda message: tuple(_images_of(message)))

    def noted(self, messages: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
        """The messages for an endpoint that takes no images: a note stands for each."""
        return tuple(self._noted.of(messages))

    def encoded(self, messages: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
        """The messages with the bytes of their images, as endpoints want them."""
        return tuple(self._encoded.of(messages))

    def within(self, messages: Sequence[JsonObject]) -> list[JsonObject]:
        """The images of a conversation, oldest first."""
        return [image for images in self._images.of(messages) for image in images]

    def _encode(self, block: JsonObject) -> JsonObject:
        data = self._load(block)
        if data is None:
            return note(f"{described(block)}: its file is gone from the session")
        source = {
            "type": "base64",
            "media_type": block["media_type"],
            "data": base64.b64encode(data).decode(),
        }
        return {"type": "image", "source": source}


def note(text: str) -> JsonObject:
    """What stands in the place of an image."""
    return {"type": "text", "text": f"[{text}]"}


def _unaccepted(block: JsonObject) -> JsonObject:
    return note(f"{described(block)}: this endpoint takes no images, so it is not shown")


def each_image(message: JsonObject, change: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """A message with each of its images changed; the same object where it has none."""
    if message.get("role") != "user" or next(_images_of(message), None) is None:
        return message
    return {**message, "content": [_changed(block, change) for block in objects_in(message["content"])]}


def _changed(block: JsonObject, change: Callable[[JsonObject], JsonObject]) -> JsonObject:
    if block.get("type") == "image":
        return change(block)
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        return {**block, "content": [_changed(inner, change) for inner in objects_in(block["content"])]}
    return block


def _images_of(message: JsonObject) -> Iterator[JsonObject]:
    if message.get("role") != "user":
        return
    for block in objects_in(message.get("content")):
        if block.get("type") == "image":
            yield block
        elif block.get("type") == "tool_result":
            yield from (inner for inner in objects_in(block.get("content")) if inner.get("type") == "image")


def without_images(message: JsonObject, notes: Mapping[str, str]) -> JsonObject:
    """A message in which a note stands for each image whose id is in `notes`."""
    return each_image(
        message, lambda block: note(notes[str(block.get("id"))]) if block.get("id") in notes else block
    )


def over_limit(images: Sequence[JsonObject]) -> dict[str, str]:
    """Notes, by id, for images that cannot go out together with the others; empty where all can.

    Where there are too many, or too much of them, the oldest half goes: not one at each new image, for whatever
    changes what was sent costs the endpoint's cache.
    """
    notes: dict[str, str] = {}
    if len(images) > MANY:
        for image in images:
            if max(int(image.get("width", 0)), int(image.get("height", 0))) > SIDE_OF_MANY:
                why = f"more than {MANY} images are here, and then none may have a side over {SIDE_OF_MANY:,} pixels"
                notes[str(image.get("id"))] = f"{described(image)}: left out, for {why}"
    left = [image for image in images if str(image.get("id")) not in notes]
    if len(left) > MOST_IMAGES or _weight(left) > MOST_BYTES:
        while left and (len(left) > MOST_IMAGES // 2 or _weight(left) > MOST_BYTES // 2):
            oldest = left.pop(0)
            notes[str(oldest.get("id"))] = f"{described(oldest)}: left out to make room for newer ones"
            left = [image for image in left if image.get("id") != oldest.get("id")]
    return notes


def _weight(images: Sequence[JsonObject]) -> int:
    return sum(int(image.get("bytes", 0)) for image in images)
