"""Large images made smaller, and foreign formats converted, with Pillow where it is installed."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mcode.images.formats import JPEG, PNG, Form
from mcode.images.picture import MOST_BYTES, SIDE_OF_MANY, RefusedImageError

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 100_000_000
"""Pixels that are unpacked at all: some hundred megabytes of memory."""

QUALITIES = (90, 75, 60)
"""Of JPEG, the first of them that is small enough."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """An image within the limits, made from another one."""

    form: Form
    data: bytes
    was: tuple[int, int]
    """Size of the other one."""


def can_scale() -> bool:
    """True where Pillow is installed."""
    return find_spec("PIL") is not None


def scale(data: bytes, form: Form) -> Scaled:
    """The image with sides up to SIDE_OF_MANY, in a format that endpoints take. Raises RefusedImageError."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit is our own
            opened = Image.open(io.BytesIO(data))
        was = opened.size
        if was[0] * was[1] > MOST_PIXELS:
            raise RefusedImageError(
                f"it has {was[0]}x{was[1]} pixels, and at most {MOST_PIXELS:,} are unpacked. Give a smaller one"
            )
        opened.draft("RGB", (SIDE_OF_MANY, SIDE_OF_MANY))
        image = ImageOps.exif_transpose(opened)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, UnidentifiedImageError) as error:
        if isinstance(error, RefusedImageError):
            raise
        raise RefusedImageError(f"it could not be scaled: {error}. Make it anew") from None
    image.thumbnail((SIDE_OF_MANY, SIDE_OF_MANY))
    return _written(image, was, lossless=form.media_type != JPEG)


def _written(image: Image, was: tuple[int, int], *, lossless: bool) -> Scaled:
    """The first way of writing it that is small enough."""
    if lossless:
        data = _bytes_of(
            image if image.mode in {"1", "L", "LA", "P", "RGB", "RGBA"} else image.convert("RGBA"), "PNG"
        )
        if len(data) <= MOST_BYTES:
            return Scaled(Form("PNG", PNG, *image.size), data, was)
    plain = image.convert("RGB")
    while True:
        for quality in QUALITIES:
            data = _bytes_of(plain, "JPEG", quality=quality)
            if len(data) <= MOST_BYTES:
                return Scaled(Form("JPEG", JPEG, *plain.size), data, was)
        plain = plain.resize((max(1, plain.width // 2), max(1, plain.height // 2)))


def _bytes_of(image: Image, format: str, **options: int) -> bytes:  # noqa: A002 -- Pillow's own word
    written = io.BytesIO()
    image.save(written, format, **options)
    return written.getvalue()
