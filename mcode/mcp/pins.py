"""Which definitions the user's permissions were given for: a server that changes a tool does not inherit them.

What a server offers when it is first seen is pinned as a whole; what it changes or adds later is pinned when the
user lets a call of it run, or makes a rule while it is there. A rule pins once: at the next start it is known.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import StorageError
from mcode.files import private_directory, replace_file
from mcode.model.reading import is_object
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.mcp.definitions import Definition

DIFFERENCE_LINES = 60
"""Lines of a difference that are shown."""


@dataclass(slots=True)
class Pins:
    """The pins of one server entry."""

    path: Path
    _digests: dict[str, str] | None = None
    """Digest by whole name; None where the server was never seen."""
    _before: dict[str, JsonObject] = field(default_factory=dict[str, "JsonObject"])
    """What a changed tool said of itself when it was pinned."""
    _rules: set[str] = field(default_factory=set[str])
    """Rules that have pinned what they were made for."""
    _read: bool = False

    def see(self, definitions: Iterable[Definition], earlier: dict[str, Definition]) -> None:
        """Take note of what a server offers now; `earlier` is what it offered before, where that is known.

        Reads and perhaps writes a file: meant for a thread.
        """
        self._load()
        if self._digests is None:
            self._digests = {each.name: each.digest for each in definitions}
            self._save()
            return
        changed = False
        for each in definitions:
            old = earlier.get(each.name)
            pinned = self._digests.get(each.name)
            if old is not None and pinned == old.digest != each.digest and each.name not in self._before:
                self._before[each.name] = _said(old)
                changed = True
        if changed:
            self._save()

    def doubt(self, server: str, definition: Definition) -> str:
        """Why a permission that was given does not cover this definition; empty where it does."""
        self._load()
        if self._digests is None:
            return ""
        pinned = self._digests.get(definition.name)
        if pinned == definition.digest:
            return ""
        if pinned is None:
            return (
                f"{definition.own_name} is new at the MCP server {server}: permissions from before it was there "
                "do not cover it"
            )
        head = (
            f"the MCP server {server} has changed what {definition.own_name} is since you permitted it: "
            "earlier permissions do not cover the new definition"
        )
        before = self._before.get(definition.name)
        return f"{head}\n{_difference(before, _said(definition))}" if before is not None else head

    def accept(self, definitions: Iterable[Definition]) -> bool:
        """Pin these definitions as they are; returns whether that is new and has to be saved."""
        self._load()
        digests = self._digests if self._digests is not None else {}
        self._digests = digests
        changed = False
        for each in definitions:
            if digests.get(each.name) != each.digest:
                digests[each.name] = each.digest
                self._before.pop(each.name, None)
                changed = True
        return changed

    def permit(self, rule: str, definitions: Iterable[Definition], *, anew: bool = False) -> bool:
        """Pin what a rule covers as it is when the rule is first seen; returns whether that has to be saved.

        `anew`: the user has made the rule just now, so it speaks of what is there, whether or not it is known.
        """
        self._load()
        known = rule in self._rules
        self._rules.add(rule)
        if known and not anew:
            return False
        # Of a server that was never seen, everything is pinned as soon as it is.
        pinned = self._digests is not None and self.accept(definitions)
        return pinned or not known

    def save(self) -> None:
        """Write the file; where that cannot be, the user is asked again the next time."""
        self._save()

    def _load(self) -> None:
        if self._read:
            return
        self._read = True
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(self.path.read_bytes())
            if is_object(kept) and isinstance(kept.get("rules"), list):
                self._rules = {str(rule) for rule in kept["rules"]}
            if is_object(kept) and is_object(kept.get("tools")):
                self._digests = {str(name): str(digest) for name, digest in kept["tools"].items()}
                before = kept.get("before")
                self._before = {
                    str(name): each
                    for name, each in (before if is_object(before) else {}).items()
                    if is_object(each)
                }

    def _save(self) -> None:
        content: JsonObject = {
            "version": 1,
            "tools": self._digests,
            "before": self._before,
            "rules": sorted(self._rules),
        }
        with contextlib.suppress(StorageError, ValueError):
            private_directory(self.path.parent)
            replace_file(self.path, jsontext.dump(content).encode(errors="replace"))


def _said(definition: Definition) -> JsonObject:
    body = definition.body
    return {
        "description": body["description"],
        "input_schema": body["input_schema"],
        "annotations": body["annotations"],
    }


def _difference(before: JsonObject, now: JsonObject) -> str:
    lines = list(difflib.unified_diff(_lines(before), _lines(now), "permitted", "now", n=1, lineterm=""))
    shown = lines[:DIFFERENCE_LINES]
    if len(lines) > len(shown):
        shown.append(f"… {len(lines) - len(shown)} more lines")
    return clean("\n".join(shown), Kind.BLOCK)


def _lines(said: JsonObject) -> list[str]:
    return json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True).replace("\\n", "\n").splitlines()
