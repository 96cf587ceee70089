"""What servers offered the last time, on disk: at the next start their tools are there before any server runs.

One file a server entry, named by the entry's hash. Its first line holds what a start needs of every tool; the rest
of each tool is a line of its own, read when it is asked for.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcode import jsontext
from mcode.errors import StorageError
from mcode.files import private_directory, replace_file
from mcode.mcp.definitions import Catalogue, Definition

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject

VERSION = 2
"""Of the files' form and of how definitions are made plain; another one is not read."""

KEPT_DAYS = 90
"""Days after which the file of a server that was not seen since is removed."""


def cache_directory(state: Path) -> Path:
    """Where the files are, beneath mcode's directory."""
    return state / "cache" / "mcp"


@dataclass(frozen=True, slots=True)
class CatalogueCache:
    """The files in one directory."""

    directory: Path

    def path(self, entry_hash: str) -> Path:
        return self.directory / f"{entry_hash[:40]}.jsonl"

    def age(self, entry_hash: str) -> float:
        """Seconds since the file was written; endless where there is none."""
        try:
            return time.time() - self.path(entry_hash).stat().st_mtime
        except OSError:
            return float("inf")

    def load(self, entry_hash: str) -> Catalogue | None:
        """The catalogue as it was kept; None where there is none or it cannot be read."""
        try:
            data = self.path(entry_hash).read_bytes()
            end = data.index(b"\n")
            head: JsonObject = json.loads(data[:end])
            if (
                head["version"] != VERSION
                or head["entry"] != entry_hash
                or head["size"] != len(data) - end - 1
            ):
                return None
            return _unpacked(head, data, end + 1)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, entry_hash: str, catalogue: Catalogue) -> None:
        """Keep a catalogue; where that cannot be, the next start does without."""
        bodies = [definition.packed for definition in catalogue.definitions]
        rows: list[list[Any]] = [
            [each.name, each.own_name, each.title, each.digest, each.tokens, each.meta, len(body)]
            for each, body in zip(catalogue.definitions, bodies, strict=True)
        ]
        head = {
            "version": VERSION,
            "entry": entry_hash,
            "size": sum(len(body) + 1 for body in bodies),
            "title": catalogue.title,
            "instructions": catalogue.instructions,
            "problems": catalogue.problems,
            "prompts": catalogue.prompts,
            "resources": catalogue.resources,
            "tools": rows,
        }
        with contextlib.suppress(StorageError, ValueError):
            private_directory(self.directory)
            content = b"".join([*(body + b"\n" for body in bodies)])
            replace_file(
                self.path(entry_hash), jsontext.dump(head).encode(errors="replace") + b"\n" + content
            )

    def prune(self) -> None:
        """Remove what was not written for KEPT_DAYS."""
        with contextlib.suppress(OSError):
            for path in self.directory.glob("*.json*"):
                if time.time() - path.stat().st_mtime > KEPT_DAYS * 86_400:
                    path.unlink()


def _unpacked(head: JsonObject, data: bytes, start: int) -> Catalogue:
    definitions: list[Definition] = []
    for name, own_name, title, digest, tokens, meta, size in head["tools"]:
        definitions.append(
            Definition(name, own_name, title, digest, tokens, meta, data[start : start + size])
        )
        start += size + 1
    return Catalogue(
        definitions=tuple(definitions),
        problems=tuple(head["problems"]),
        title=head["title"],
        instructions=head["instructions"],
        prompts=tuple(head["prompts"]),
        resources=tuple(head["resources"]),
        lookup={each.name: each for each in definitions},
    )
