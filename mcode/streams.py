"""The three standard streams: there from the start, unable to lose a character, and silent once they are gone."""

from __future__ import annotations

import fcntl
import io
import os
import sys
from typing import TextIO

_MISSING = ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY))
"""What stands in for a stream that was closed at the start: nothing to read; a standard output that can be told
from one that somebody reads, because it cannot be written; an error stream that swallows."""


def open_streams() -> None:
    """Put something in the place of streams that were closed at the start, before another file takes their number.

    What the locale's encoding cannot show is written as `\\u…`.
    """
    for descriptor, name, flags in _MISSING:
        if getattr(sys, name) is None:
            _occupy(descriptor, flags)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 -- for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def speak_utf8(stream: TextIO) -> None:
    """Write UTF-8 whatever the locale says: what JSON is written in."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def is_writable(stream: TextIO) -> bool:
    """Whether the stream was opened for writing; one that was closed at the start was not."""
    return fcntl.fcntl(stream.fileno(), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


def write(stream: TextIO, text: str) -> OSError | None:
    """Write and flush. After a failure, which is returned, the stream swallows whatever else is written to it."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        _silence(stream)
        return error
    return None


def finish_streams(code: int) -> int:
    """Flush what is still held, so that nothing fails while the interpreter ends; returns the exit code."""
    failure = write(sys.stdout, "")
    if failure is not None and not isinstance(failure, BrokenPipeError):
        write(sys.stderr, f"mcode: Standard output could not be written: {failure.strerror}.\n")
        code = code or 1
    write(sys.stderr, "")
    return code


def _occupy(descriptor: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)
    os.set_inheritable(descriptor, True)


def _silence(stream: TextIO) -> None:
    """Point the descriptor at nothing: what is still in the buffers would fail again at every flush."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
