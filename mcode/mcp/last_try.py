"""How the last attempt to connect a server ended: kept on disk, so that a list of servers starts none to tell."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import StorageError
from mcode.files import private_directory
from mcode.model.reading import is_object

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.catalog.servers import ServerStatus
    from mcode.jsontext import JsonObject

SUFFIX = ".last.json"

UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


@dataclass(frozen=True, slots=True)
class LastTry:
    """The end of one attempt."""

    state: str
    """`connected`, `failed` or `needs sign-in`."""
    at: float
    """Seconds since the epoch."""
    tools: int
    error: str
    """Clean and masked; empty where it worked."""

    @property
    def worked(self) -> bool:
        return self.state == "connected"

    def as_object(self) -> JsonObject:
        """For scripts, and for the file."""
        return {"state": self.state, "at": self.at, "tools": self.tools, "error": self.error}

    def in_words(self, now: float) -> str:
        """`connected 2 hours ago, 12 tools`, with the time in epoch seconds."""
        when = f"{self.state} {_ago(now - self.at)}"
        return f"{when}, {self.tools} tool{'' if self.tools == 1 else 's'}" if self.worked else when


def keep_try(directory: Path, entry_hash: str, status: ServerStatus) -> None:
    """Note how it ended, under the entry's hash; where that cannot be written, nothing is known of it later."""
    last = LastTry(status.state, time.time(), status.tools, status.error)
    path = _path(directory, entry_hash)
    with contextlib.suppress(OSError, StorageError, ValueError):
        private_directory(directory)
        path.touch(mode=0o600)
        # A moment of the event loop: nothing is lost with it, so nobody waits for the disk.
        path.write_text(jsontext.dump(last.as_object()), errors="replace")


def last_try(directory: Path, entry_hash: str) -> LastTry | None:
    """How the entry's last attempt ended; None where there was none that is known."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(_path(directory, entry_hash).read_bytes())
        if is_object(kept):
            return LastTry(str(kept["state"]), float(kept["at"]), int(kept["tools"]), str(kept["error"]))
    return None


def _path(directory: Path, entry_hash: str) -> Path:
    return directory / f"{entry_hash[:40]}{SUFFIX}"


def _ago(seconds: float) -> str:
    for length, unit in UNITS:
        count = int(seconds // length)
        if count > 0:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
