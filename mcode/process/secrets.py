"""Replacing exact secrets in a stream of bytes, also where one lies across the border of two chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class SecretFilter:
    """Replaces secrets in one stream. What may be the beginning of one is held back until the next chunk."""

    def __init__(self, secrets: Sequence[tuple[bytes, bytes]]) -> None:
        """`secrets`: each exact value with what stands in its place."""
        pairs = [pair for pair in secrets if pair[0]]
        self._secrets = sorted(pairs, key=lambda pair: -len(pair[0]))
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What can be passed on now, secrets replaced."""
        if not self._secrets:
            return chunk
        passed = self._replaced(self._held + chunk)
        kept = self._beginning_at_end(passed)
        self._held = passed[len(passed) - kept :]
        return passed[: len(passed) - kept]

    def finish(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held

    def _replaced(self, data: bytes) -> bytes:
        for secret, replacement in self._secrets:
            data = data.replace(secret, replacement)
        return data

    def _beginning_at_end(self, data: bytes) -> int:
        """Length of the longest end of the data with which a secret begins."""
        longest = min(len(self._secrets[0][0]) - 1, len(data))
        for length in range(longest, 0, -1):
            end = data[-length:]
            if any(len(secret) > length and secret.startswith(end) for secret, _ in self._secrets):
                return length
        return 0
