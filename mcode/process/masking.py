"""Masks secrets in one of mcode's own files once the program that wrote it has ended."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from mcode.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MASK_LIMIT = 1024 * 1024
"""Bytes of kept output that are searched for what looks like a secret, which takes about a second."""


def mask_file(path: Path, mask: Callable[[str], str]) -> None:
    """Replace what a private file of ours holds by its masked text, unless it is larger than MASK_LIMIT."""
    with contextlib.suppress(
        OSError
    ):  # a file that cannot be read or replaced stays as it is, for its owner alone
        if path.stat().st_size > MASK_LIMIT:
            return
        data = path.read_bytes()
        text = data.decode("utf-8", "surrogateescape")
        if data.decode("utf-8", "replace").count("\ufffd") > len(text) / 50:
            return  # noise, a picture, an archive: what it says is not in letters
        masked = mask(text)
        if masked != text:
            replace_file(path, masked.encode("utf-8", "surrogateescape"))
