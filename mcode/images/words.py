"""Texts about images in a conversation, and the limits on their number and size; loads with every session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

SIDE_OF_MANY = 2_000
"""Pixels of a side where a request has more than MANY images; to which what has to be scaled is scaled, too."""

MANY = 20
"""Images of a request up to which they may be as large as MOST_SIDE."""


def facts_of(block: JsonObject) -> str:
    """Format, size and bytes of an image in a conversation, in a few words: `PNG 640x480, 12 KB`."""
    kind = str(block.get("media_type", "")).removeprefix("image/").upper()
    size = int(block.get("bytes", 0))
    weight = f"{size} bytes" if size < 1_000 else f"{size / 1_000:,.0f} KB"
    return f"{kind} {block.get('width')}x{block.get('height')}, {weight}"


def described(block: JsonObject) -> str:
    """An image in a conversation, named for who cannot see it."""
    return f"image {block.get('name') or 'without a name'}, {facts_of(block)}"
