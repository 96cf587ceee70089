"""What a picture's bytes say of themselves: its format and its size, found by content and never by a name."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass


class DamagedImageError(ValueError):
    """Bytes that begin as an image does and are none that can be shown. The text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Form:
    """Format and size of an image."""

    label: str
    """For people: `PNG`, `JPEG` ..."""
    media_type: str
    """Empty for formats that endpoints do not take."""
    width: int = 0
    """Pixels; 0 for formats that endpoints do not take."""
    height: int = 0


PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"

SUFFIXES = {PNG: ".png", JPEG: ".jpg", GIF: ".gif", WEBP: ".webp"}
"""Of files, by media type."""

_PNG_BEGINNING = b"\x89PNG\r\n\x1a\n"
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG segments that hold the size."""
_FOREIGN = (
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
)
"""Formats that have to be converted first."""


def label_of(beginning: bytes) -> str:
    """The format that these first bytes (12 or more) are of; empty where it is none that is known."""
    if beginning.startswith(_PNG_BEGINNING):
        return "PNG"
    if beginning.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if beginning.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "WebP"
    if beginning.startswith(b"BM") and beginning[6:10] != b"\0\0\0\0":
        return ""
    return next((label for mark, label in _FOREIGN if beginning.startswith(mark)), "")


def form_of(data: bytes) -> Form | None:
    """The form of a whole image; None where the bytes are none. Raises DamagedImageError."""
    label = label_of(data[:16])
    try:
        match label:
            case "PNG":
                form = Form(label, PNG, *_size_of_png(data))
            case "JPEG":
                form = Form(label, JPEG, *_size_of_jpeg(data))
            case "GIF":
                form = Form(label, GIF, *_size_of_gif(data))
            case "WebP":
                form = Form(label, WEBP, *_size_of_webp(data))
            case "":
                return None
            case _:
                return Form(label, "")
    except (struct.error, IndexError):
        raise DamagedImageError("it ends before it says its size") from None
    if form.width < 1 or form.height < 1:
        raise DamagedImageError(f"its size is {form.width}x{form.height}")
    return form


def _size_of_png(data: bytes) -> tuple[int, int]:
    """Every part is checked, for what stands behind the size may be cut off or mixed up as well."""
    width, height = struct.unpack(">II", data[16:24])
    at, pixels = len(_PNG_BEGINNING), False
    while True:
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        end = at + 12 + length
        if end > len(data):
            raise DamagedImageError("its end is missing")
        if zlib.crc32(memoryview(data)[at + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            raise DamagedImageError("its bytes are damaged")
        pixels = pixels or kind == b"IDAT"
        if kind == b"IEND":
            break
        at = end
    if not pixels:
        raise DamagedImageError("it has no pixels")
    return width, height


def _size_of_jpeg(data: bytes) -> tuple[int, int]:
    if data.rfind(b"\xff\xd9") < 0:
        raise DamagedImageError("its end is missing")
    at = 2
    while True:
        while data[at] == 0xFF and data[at + 1] == 0xFF:  # filling
            at += 1
        if data[at] != 0xFF:
            raise DamagedImageError("its bytes are damaged")
        marker = data[at + 1]
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker in {0xD9, 0xDA}:
            raise DamagedImageError("it does not say its size")
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]


def _size_of_gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack("<HH", data[6:10])
    if not data.rstrip(b"\0").endswith(b";"):
        raise DamagedImageError("its end is missing")
    return width, height


def _size_of_webp(data: bytes) -> tuple[int, int]:
    if len(data) < 8 + struct.unpack("<I", data[4:8])[0]:
        raise DamagedImageError("its end is missing")
    match data[12:16]:
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            packed = struct.unpack("<I", data[21:25])[0]
            return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case _:
            raise DamagedImageError("it does not say its size")
