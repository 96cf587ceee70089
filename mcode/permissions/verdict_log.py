"""The log of verdicts: one JSON line for every decision, appended to a private file, secrets masked."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from mcode import jsontext
from mcode.files import storage_error

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.call import Call
    from mcode.errors import StorageError
    from mcode.jsontext import JsonObject
    from mcode.permissions.verdict import Verdict

TEXT_LIMIT = 2_000
"""Characters of a call that are kept in words; a longer one is kept as its length and hash."""


class Masks(Protocol):
    """What replaces secrets in text; `masking.Masker` is one."""

    def mask(self, text: str) -> str: ...


class VerdictLog:
    """Appends to one file. Several processes may write to the same file: each line is one write."""

    def __init__(self, path: Path, masker: Masks, *, session: str = "") -> None:
        """Opens the file, creating it (mode 0600) and its directory (0700). Raises StorageError."""
        self.path = path
        self._masker = masker
        self._session = session
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(path, flags, 0o600)
            os.fchmod(self._file, 0o600)
        except OSError as error:
            raise self._failure("be opened", error) from None

    def write(self, call: Call, verdict: Verdict, *, decided_by: str, duration: float) -> None:
        """Append one decision; `duration` is the seconds until it stood. Raises StorageError."""
        record: JsonObject = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "session": self._session,
            "call": call.id,
            "parent": call.parent,
            "origin": str(call.origin),
            "tool": call.tool,
            **self._subject(call),
            "verdict": str(verdict.behavior),
            "kind": verdict.kind,
            "reason": self._masker.mask(verdict.reason),
            "rule": None if verdict.rule is None else self._masker.mask(verdict.rule.text),
            "rule_from": None if verdict.rule is None else verdict.rule.place,
            "decided_by": self._masker.mask(decided_by),
            "duration_ms": round(duration * 1000),
        }
        line = (jsontext.dump(record) + "\n").encode("utf-8", "backslashreplace")
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise self._failure("be written", error) from None
        if written != len(line):
            raise self._failure("be written", OSError("only a part of the line was taken; is the disk full?"))

    def close(self) -> None:
        """Close the file; nothing can be written afterwards."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _subject(self, call: Call) -> JsonObject:
        """What the call is about: the shell line or the arguments, in words or as a hash."""
        command = call.arguments.get("command")
        text = command if isinstance(command, str) else jsontext.canonical(call.arguments)
        if len(text) <= TEXT_LIMIT:
            return {"text": self._masker.mask(text)}
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return {"sha256": digest, "characters": len(text)}

    def _failure(self, what: str, error: OSError) -> StorageError:
        unchanged = "A call whose decision is not recorded does not run; nothing was changed."
        return storage_error(
            f"The log of permission decisions cannot {what}", self.path, error, unchanged=unchanged
        )
