"""A picture that the model can be shown, and the plain value that stands for it in the journal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.images.formats import DamagedImageError, Form, form_of
from mcode.images.words import SIDE_OF_MANY, facts_of

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

MOST_BYTES = 3_750_000
"""Bytes of one image; in base64 they are 5 MB, which is what endpoints take."""

MOST_SIDE = 8_000
"""Pixels of a side."""

EXTRA = "pip install 'mcode[images]'"
"""What lets mcode scale."""


class RefusedImageError(ValueError):
    """An image that cannot be shown. The text says why, with the limit, and what helps; no name stands in it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One image within the limits."""

    name: str
    """As people know it, such as its file's name."""
    form: Form
    data: bytes
    scaled_from: tuple[int, int] | None = None
    """Its own size, where it had to be scaled."""

    @property
    def block(self) -> JsonObject:
        """What stands for it in a conversation: everything but the bytes, which its `id` finds again."""
        return {
            "type": "image",
            "id": hashlib.sha256(self.data).hexdigest(),
            "media_type": self.form.media_type,
            "width": self.form.width,
            "height": self.form.height,
            "bytes": len(self.data),
            "name": self.name,
        }

    @property
    def facts(self) -> str:
        """Format, size and bytes in a few words."""
        return facts_of(self.block)


def take_picture(data: bytes, name: str) -> Picture:
    """The image that these bytes are, scaled where it is too large and that can be. Takes a while: for a thread.

    Raises RefusedImageError.
    """
    try:
        form = form_of(data)
    except DamagedImageError as error:
        raise RefusedImageError(f"it is damaged: {error}. Make it anew") from None
    if form is None:
        raise RefusedImageError("its content is no image of a format that is known (PNG, JPEG, GIF, WebP)")
    side = max(form.width, form.height)
    if form.media_type and side <= SIDE_OF_MANY and len(data) <= MOST_BYTES:
        return Picture(name, form, data)
    from mcode.images.scaling import can_scale, scale

    if can_scale():
        scaled = scale(data, form)
        return Picture(name, scaled.form, scaled.data, scaled.was)
    if not form.media_type:
        raise RefusedImageError(f"it is {form.label}, which no endpoint takes. {_helps('converts it')}")
    if side > MOST_SIDE:
        size = f"{form.width}x{form.height} pixels, and a side may have {MOST_SIDE:,}"
        raise RefusedImageError(f"it has {size}. {_helps('has it scaled')}")
    if len(data) > MOST_BYTES:
        size = f"{len(data):,} bytes, and an image may have {MOST_BYTES:,}"
        raise RefusedImageError(f"it has {size}. {_helps('has it scaled')}")
    return Picture(name, form, data)


def _helps(how: str) -> str:
    return f"Give a smaller PNG or JPEG; mcode {how} by itself with Pillow ({EXTRA})"
