"""The pipes between mcode and one program, made, read and fed on the loop's thread."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CALM_PAUSE = 0.05
"""Seconds between two chunks that nobody keeps any more: a job that floods for hours waits for its reader."""

_CHUNK = 64 * 1024


class Pipes:
    """Every descriptor of ours for one program."""

    def __init__(self, calm: Callable[[], bool]) -> None:
        """`calm`: whether nobody keeps what is read any more, so that a pause after each chunk costs nothing."""
        self.all_read = asyncio.Event()
        """Set when everything that is awaited is at its end."""
        self._calm = calm
        self._loop = asyncio.get_running_loop()
        self._open: set[int] = set()
        self._reading: dict[int, Callable[[bytes], None]] = {}
        """Descriptors that are read, with what takes their chunks."""
        self._awaited: set[int] = set()
        self._unsent = memoryview(b"")

    def make(self) -> tuple[int, int]:
        """A new pipe: its reading and its writing end."""
        reading, writing = os.pipe()
        self._open |= {reading, writing}
        return reading, writing

    def read(self, descriptor: int, take: Callable[[bytes], None], *, awaited: bool = True) -> None:
        """Give `take` each chunk as it comes. `awaited`: `all_read` waits for the end of this one."""
        os.set_blocking(descriptor, False)
        self._reading[descriptor] = take
        if awaited:
            self._awaited.add(descriptor)
        self._loop.add_reader(descriptor, self._read_chunk, descriptor)

    def write(self, descriptor: int, data: bytes) -> None:
        """Feed the program these bytes, and then the end of file; one descriptor only."""
        os.set_blocking(descriptor, False)
        self._unsent = memoryview(data)
        self._loop.add_writer(descriptor, self._feed, descriptor)

    def take_rest(self) -> None:
        """Take what lies in the pipes at this moment, a chunk of each."""
        for descriptor in tuple(self._reading):
            self._read_chunk(descriptor)

    def close(self, descriptor: int | None) -> None:
        """Give one descriptor back; anything but an open one of ours is left alone."""
        if descriptor is not None and descriptor in self._open:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
            self._open.discard(descriptor)
            os.close(descriptor)

    def close_all(self) -> None:
        """Give every descriptor back."""
        for descriptor in tuple(self._open):
            self.close(descriptor)

    def _read_chunk(self, descriptor: int) -> None:
        """Take one chunk only, so that a flood leaves the loop to others between any two."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._reading[descriptor](chunk)
            if self._calm():
                self._loop.remove_reader(descriptor)
                self._loop.call_later(CALM_PAUSE, self._go_on, descriptor)
            return
        del self._reading[descriptor]
        self.close(descriptor)
        self._awaited.discard(descriptor)
        if not self._awaited:
            self.all_read.set()

    def _go_on(self, descriptor: int) -> None:
        if descriptor in self._open and descriptor in self._reading:
            self._loop.add_reader(descriptor, self._read_chunk, descriptor)

    def _feed(self, descriptor: int) -> None:
        try:
            self._unsent = self._unsent[os.write(descriptor, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program does not care for the rest
            self._unsent = memoryview(b"")
        if not self._unsent:
            self.close(descriptor)
