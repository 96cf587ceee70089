"""The log file: what went wrong inside mcode, masked, never on the screen."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from mcode.masking import Masker

SIZE_LIMIT = 5 * 1024 * 1024
"""Bytes at which the log is put aside as `mcode.log.1` when mcode starts."""


class _MaskingFormatter(logging.Formatter):
    def __init__(self, masker: Masker) -> None:
        super().__init__("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
        self._masker = masker

    @override
    def format(self, record: logging.LogRecord) -> str:
        return self._masker.mask(super().format(record))


@contextlib.contextmanager
def open_log(directory: Path, masker: Masker, *, detailed: bool = False) -> Generator[None]:
    """Send the log to `directory`/mcode.log while the block runs; a log that cannot be written is done without."""
    root = logging.getLogger()
    handler = _handler(directory, masker)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if detailed else logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


def _handler(directory: Path, masker: Masker) -> logging.Handler:
    path = directory / "mcode.log"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > SIZE_LIMIT:
            path.replace(path.with_name("mcode.log.1"))
        path.touch(mode=0o600)
        handler: logging.Handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return logging.NullHandler()
    handler.setFormatter(_MaskingFormatter(masker))
    return handler
