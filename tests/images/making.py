"""Small images, made byte by byte so that a test knows what is in them."""

from __future__ import annotations

import os
import struct
import zlib


def png(width: int = 4, height: int = 3, *, noise: bool = False, red: int = 200) -> bytes:
    """A PNG; with `noise` its bytes are about as many as its pixels times three."""
    row = width * 3
    lines = (b"\0" + (os.urandom(row) if noise else bytes((red, 0, 0)) * width) for _ in range(height))
    pixels = zlib.compress(b"".join(lines), 1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", pixels), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def jpeg(width: int, height: int) -> bytes:
    """The frame of a JPEG: what says its size, and an end."""
    comment = b"\xff\xfe" + struct.pack(">H", 2 + 5) + b"hello"
    size = b"\xff\xc0" + struct.pack(">HBHHB", 8, 8, height, width, 0)
    return b"\xff\xd8\xff\xe0\x00\x04ab" + comment + size + b"\xff\xda\x00\x02\x01\x02\xff\xd9"


def gif(width: int, height: int) -> bytes:
    """The frame of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0,\0\0;"


def webp(width: int, height: int) -> bytes:
    """The frame of a WebP of the extended kind."""
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0"
    body += (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", len(body)) + body
