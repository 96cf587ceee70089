"""Changes a JSON file that other processes, other versions and people change too."""

from __future__ import annotations

import json
import stat
import time
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.files.disk import replace_file, storage_error
from mcode.files.locks import FileLock
from mcode.jsontext import JsonError, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.jsontext import JsonObject

LOCK_PATIENCE = 10.0
"""Seconds to wait for another process that changes the same file."""


def update_json(
    path: Path,
    change: Callable[[JsonObject], JsonObject],
    *,
    on_unreadable: Callable[[str], None] | None = None,
) -> JsonObject:
    """Change a file that holds one JSON object, and return what it now holds.

    `change` gets a copy of the present object ({} where there is no file) and returns the new one; fields that
    it does not know must stay in it. Meanwhile `<path>.lock` is held. The content before is kept as
    `<path>.bak`. A new file gets mode 0600, an existing one keeps its own; a symbolic link keeps its target.

    A file that cannot be read is never overwritten; a copy is kept as `<path>.bad-<time>`. Without
    `on_unreadable` the file stays where it is and StorageError says so: right for files that people edit. With
    `on_unreadable` it is moved there, the change starts from {}, and the callback gets the notice: right for
    files that only mcode writes and whose absence is the safe case.

    Raises StorageError also where the file cannot be locked, read or written.
    """
    path = path.resolve() if path.is_symlink() else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("The directory cannot be made", path.parent, error) from error
    with FileLock(_beside(path, ".lock"), wait=LOCK_PATIENCE):
        old, mode = _read(path)
        try:
            present = {} if not old else parse_object(old.decode("utf-8-sig"))
        except (JsonError, UnicodeDecodeError) as error:
            _put_aside(path, old or b"", str(error), on_unreadable)
            old, present = None, {}
        wanted = change(json.loads(json.dumps(present)))
        if old is None or wanted != present:
            data = _encode(wanted)
            if old is not None:
                replace_file(_beside(path, ".bak"), old, mode=mode)
            replace_file(path, data, mode=mode)
        return wanted


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _read(path: Path) -> tuple[bytes | None, int]:
    """The file's bytes, None where there is none, and the mode that it has or is to have."""
    try:
        return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None, 0o600
    except OSError as error:
        raise storage_error(
            "The file could not be read", path, error, unchanged="It is as it was."
        ) from error


def _encode(value: JsonObject) -> bytes:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates can only be written as escapes
        return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _put_aside(path: Path, content: bytes, why: str, on_unreadable: Callable[[str], None] | None) -> None:
    """Keep an unreadable file under a name of its own; raise where the caller cannot go on without it."""
    earlier = sorted(path.parent.glob(f"{path.name}.bad-*"))
    kept = next((name for name in earlier if _holds(name, content)), None)
    if kept is None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        kept = _beside(path, f".bad-{stamp}")
        count = 1
        while kept.exists():
            count += 1
            kept = _beside(path, f".bad-{stamp}-{count}")
        replace_file(kept, content)
    if on_unreadable is None:
        raise StorageError(
            f"{path} was not changed: it could not be read ({why}). A copy is kept as {kept.name}. "
            "Mend the file, or remove it to begin with an empty one, then try again."
        )
    try:
        path.unlink()
    except OSError as error:
        raise storage_error("The unreadable file could not be moved away", path, error) from error
    on_unreadable(
        f"{path} could not be read ({why}) and is kept as {kept.name}. mcode begins with an empty one."
    )


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False
