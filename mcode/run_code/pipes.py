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

_READ = 1 << 16
"""Bytes that are read at once: what a pipe holds, and little enough that making room for it costs nothing."""

_IN_A_ROW = 16
"""Small frames that are taken without a look at what else there is to do."""

_SMALL = 64 * 1024
"""Bytes of a frame that is handed over where it was read, without waking who waits for it."""

_AT_ONCE = 508
"""Bytes of a frame that every system's pipes take as a whole or not at all, its length included: 512 in all."""

_CHUNK_IN_A_ROW = 8 * 1024
"""Bytes that count as one more frame."""


class FrameTooLargeError(ValueError):
    """The other side announced a frame over the limit."""


class FrameReader:
    """Takes whole frames from the reading end of a pipe, which it makes non-blocking and owns.

    The loop watches the pipe only while somebody waits for more, and for as long as more keeps coming.
    """

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._held = bytearray()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._ended = False
        self._in_a_row = 0
        self._take: Callable[[bytes], bool] | None = None
        """Gets the small frames that come while it is set."""

    async def follow(self, take: Callable[[bytes], bool]) -> bytes | None:
        """Hand small frames to `take` as they come, until it returns True.

        Returns the first frame that `take` was not given, which is large or one of many that came together; None
        at the end of the pipe, and empty bytes where `take` has returned True. Raises FrameTooLargeError.
        """
        self._take = None if self._held else take
        try:
            return await self.receive()
        finally:
            self._take = None

    async def receive(self) -> bytes | None:
        """The next frame; None at the end of the pipe. Raises FrameTooLargeError."""
        if self._in_a_row > _IN_A_ROW:
            self._in_a_row = 0
            await asyncio.sleep(0)  # a flood of frames must leave the loop to others as well
        if not await self._fill(4):
            return None
        size = int.from_bytes(self._held[:4], "big")
        if size > FRAME_LIMIT:
            raise FrameTooLargeError(f"a frame of {size} bytes")
        if not await self._fill(4 + size):
            return None
        self._in_a_row += 1 + size // _CHUNK_IN_A_ROW
        frame = bytes(memoryview(self._held)[4 : 4 + size])
        del self._held[: 4 + size]
        return frame

    def close(self) -> None:
        self._unwatch()
        self._ended = True
        self._wake()
        os.close(self._descriptor)

    async def _fill(self, size: int) -> bool:
        while len(self._held) < size:
            if self._ended:
                return False
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
                self._loop.add_reader(self._descriptor, self._read)
            self._in_a_row = 0
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        return True

    def _read(self) -> None:
        """Take what there is; with nobody waiting for it, the pipe is left to fill up."""
        if self._waiting is None or self._waiting.done():
            self._unwatch()
            return
        try:
            part = os.read(self._descriptor, _READ)
        except BlockingIOError:
            return
        if part:
            self._held += part
        else:
            self._ended = True
            self._unwatch()
        if part and self._take is not None:
            self._hand_over(self._take)
        else:
            self._wake()

    def _hand_over(self, take: Callable[[bytes], bool]) -> None:
        """Hand the small frames that are here to `take`; what it does not get, the one who waits gets."""
        done = False
        try:
            for _ in range(_IN_A_ROW):
                size = int.from_bytes(self._held[:4], "big")
                if len(self._held) < 4 or (size <= _SMALL and len(self._held) < 4 + size):
                    done = True
                    break
                if size > _SMALL:
                    break
                last = take(bytes(self._held[4 : 4 + size]))
                del self._held[: 4 + size]
                if last:
                    self._held[:0] = bytes(4)  # an empty frame: nothing more is taken
                    break
        finally:
            if not done:
                self._take = None
                self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _unwatch(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._descriptor)
            self._loop = None


class FrameWriter:
    """Puts frames into the writing end of a pipe, one after the other whoever sends."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._turn = asyncio.Lock()
        self._waiting: asyncio.Future[None] | None = None
        self._closed = False

    def send_now(self, *pieces: bytes) -> bool:
        """Send a short frame in one go; False, with nothing sent, where that cannot be done. Raises BrokenPipeError."""
        size = sum(map(len, pieces))
        if self._closed or self._turn.locked() or size > _AT_ONCE:
            return False
        try:
            os.write(self._descriptor, b"".join((size.to_bytes(4, "big"), *pieces)))
        except BlockingIOError:
            return False
        return True

    async def send(self, *pieces: bytes) -> None:
        """Send the pieces as one frame. Raises BrokenPipeError where nobody reads any more, or it was closed."""
        size = sum(map(len, pieces))
        if size > FRAME_LIMIT:
            raise FrameTooLargeError(f"a frame of {size} bytes")
        async with self._turn:
            for piece in _joined((size.to_bytes(4, "big"), *pieces)):
                await self._write(memoryview(piece))

    def close(self) -> None:
        self._closed = True
        if self._waiting is not None:
            asyncio.get_running_loop().remove_writer(self._descriptor)
            self._wake()
        os.close(self._descriptor)

    async def _write(self, rest: memoryview) -> None:
        while rest:
            if self._closed:
                raise BrokenPipeError
            try:
                rest = rest[os.write(self._descriptor, rest[:_CHUNK]) :]
            except BlockingIOError:
                await self._until_writable()

    async def _until_writable(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        loop.add_writer(self._descriptor, self._wake)
        try:
            await self._waiting
        finally:
            self._waiting = None
            if not self._closed:
                loop.remove_writer(self._descriptor)

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


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
