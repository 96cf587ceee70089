"""Frames on the two pipes between the agent and a worker: a length in four bytes, then that many bytes."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FRAME_LIMIT = 64 * 1024 * 1024
"""Bytes of one frame, either way."""

_CHUNK = 1 << 18


class FrameTooLargeError(ValueError):
    """The other side announced a frame over the limit."""


class FrameReader:
    """Takes whole frames from the reading end of a pipe, which it makes non-blocking and owns."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._held = bytearray()

    async def receive(self) -> bytes | None:
        """The next frame; None at the end of the pipe. Raises FrameTooLargeError."""
        await asyncio.sleep(0)  # a flood of frames must leave the loop to others as well
        if not await self._fill(4):
            return None
        size = int.from_bytes(self._held[:4], "big")
        if size > FRAME_LIMIT:
            raise FrameTooLargeError(f"a frame of {size} bytes")
        if not await self._fill(4 + size):
            return None
        frame = bytes(memoryview(self._held)[4 : 4 + size])
        del self._held[: 4 + size]
        return frame

    def close(self) -> None:
        os.close(self._descriptor)

    async def _fill(self, size: int) -> bool:
        while len(self._held) < size:
            try:
                part = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await _signalled(loop.add_reader, loop.remove_reader, self._descriptor)
                continue
            if not part:
                return False
            self._held += part
        return True


class FrameWriter:
    """Puts frames into the writing end of a pipe, one after the other whoever sends."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._turn = asyncio.Lock()

    async def send(self, *pieces: bytes) -> None:
        """Send the pieces as one frame. Raises BrokenPipeError where nobody reads any more."""
        size = sum(map(len, pieces))
        if size > FRAME_LIMIT:
            raise FrameTooLargeError(f"a frame of {size} bytes")
        async with self._turn:
            await self._write((size.to_bytes(4, "big"), *pieces))

    def close(self) -> None:
        os.close(self._descriptor)

    async def _write(self, pieces: Iterable[bytes]) -> None:
        for piece in _joined(pieces):
            rest = memoryview(piece)
            while rest:
                try:
                    rest = rest[os.write(self._descriptor, rest[:_CHUNK]) :]
                except BlockingIOError:
                    loop = asyncio.get_running_loop()
                    await _signalled(loop.add_writer, loop.remove_writer, self._descriptor)


def _joined(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """The same bytes in few pieces: small ones joined, so that a short frame is one write."""
    small: list[bytes] = []
    for piece in pieces:
        if len(piece) < _CHUNK:
            small.append(piece)
            continue
        yield b"".join(small)
        small.clear()
        yield piece
    yield b"".join(small)


async def _signalled(
    watch: Callable[[int, Callable[[], None]], None], end: Callable[[int], bool], descriptor: int
) -> None:
    """Wait until the loop says that the descriptor is ready."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    watch(descriptor, wake)
    try:
        await ready
    finally:
        end(descriptor)
