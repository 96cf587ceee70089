"""Reading one memory file, if it may be read: its text, or why there is none."""

from __future__ import annotations

import codecs
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mcode.config.plain_file import is_inside, read_plain, reason, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcode.config.memory_files import Ground

BYTE_LIMIT = 160_000
"""Bytes that are read of one file."""

ENTRY_LIMIT = 2_000
"""Entries of a directory of rules that are looked at."""

SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    "credentials",
    "credentials.json",
)
SECRET_DIRECTORIES = frozenset({".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", "gcloud"})


class NotRead(Exception):  # noqa: N818 -- no error: the message is a notice
    """The file is there but gives no text; the message says why."""


def real_file(path: Path) -> Path | None:
    """The resolved path where there is something other than a directory, else None."""
    try:
        return None if path.is_dir() or not path.exists() else resolve(path)
    except (OSError, ValueError):
        return None


def check_reach(path: Path, real: Path, ground: Ground) -> None:
    """Raise NotRead where a file leads out of its ground, or to what usually holds secrets."""
    if ground.fence is not None and not is_inside(real, ground.fence):
        raise NotRead(
            f"{path} leads to {real}, outside {ground.fence}: it was not loaded, because a project's memory files "
            "may only bring in files beside and beneath them."
        )
    secret = any(fnmatchcase(real.name.lower(), name) for name in SECRET_NAMES)
    if secret or not SECRET_DIRECTORIES.isdisjoint(real.parts[:-1]):
        raise NotRead(f"{path} was not loaded: files of this name or place usually hold secrets.")


def read_memory_text(path: Path) -> tuple[str, str]:
    """A file's text and a notice where it is not whole. Raises NotRead."""
    try:
        data = read_plain(path, BYTE_LIMIT)
    except OSError as error:
        raise NotRead(f"{path} was not loaded: {reason(error)}.") from None
    if b"\0" in data:
        raise NotRead(f"{path} was not loaded: it is not UTF-8 text.")
    cut = len(data) > BYTE_LIMIT
    notice = f"{path} is larger than {BYTE_LIMIT:,} bytes; only its beginning was read." if cut else ""
    try:
        text = _decode(data[:BYTE_LIMIT], "strict", cut=cut)
    except UnicodeDecodeError as error:
        text = _decode(data[:BYTE_LIMIT], "replace", cut=cut)
        notice = f"{path} is not valid UTF-8 (byte {error.start}); what could not be read stands as U+FFFD."
    return text, notice


def _decode(data: bytes, errors: str, *, cut: bool) -> str:
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors)
    return decoder.decode(data, final=not cut)


def rule_files(directory: Path, ground: Ground) -> Iterator[Path]:
    """The `*.md` files beneath a directory of rules, sorted; links to directories are followed once."""
    waiting = [directory]
    visited: set[Path] = set()
    left = ENTRY_LIMIT
    while waiting:
        here = waiting.pop()
        try:
            real = resolve(here)
            if real in visited or (ground.fence is not None and not is_inside(real, ground.fence)):
                continue
            visited.add(real)
            inner = sorted(here.iterdir())[:left]
            directories = [path for path in inner if path.is_dir()]
        except OSError:
            continue
        left -= len(inner)
        yield from (path for path in inner if path.suffix == ".md" and path not in directories)
        waiting += reversed(directories)
