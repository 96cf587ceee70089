"""Encrypts bytes with a key that only this process has: what goes to the disk unmasked must not be readable there.

The key is in memory alone and ends with the process, so what is left on the disk cannot be read.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

_MARK = 16
"""Bytes in front that tell whether the others are as they were written."""


class Seal:
    """A key of its own. Each text needs another number; with the same number it is opened."""

    def __init__(self) -> None:
        self._hiding, self._marking = secrets.token_bytes(32), secrets.token_bytes(32)

    def close(self, data: bytes, number: int) -> bytes:
        """The bytes to write."""
        hidden = self._turned(data, number)
        return self._mark(hidden, number) + hidden

    def open(self, sealed: bytes, number: int) -> bytes | None:
        """What was closed with that number; None where these bytes are no longer that."""
        hidden = sealed[_MARK:]
        if not hmac.compare_digest(sealed[:_MARK], self._mark(hidden, number)):
            return None
        return self._turned(hidden, number)

    def _turned(self, data: bytes, number: int) -> bytes:
        """Plain bytes hidden, hidden ones plain: over them lies a stream that the key gives for this number alone."""
        stream = hashlib.shake_256(self._hiding + number.to_bytes(8, "big")).digest(len(data))
        laid_over = int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")
        return laid_over.to_bytes(len(data), "big")

    def _mark(self, hidden: bytes, number: int) -> bytes:
        made = hashlib.blake2b(number.to_bytes(8, "big"), key=self._marking, digest_size=_MARK)
        made.update(hidden)
        return made.digest()
