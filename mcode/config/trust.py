"""What of a folder the user has approved: each item by the hash of its content, in a file of the user's alone.

An item is whatever a folder's files would have mcode start, contact or obey: a server, a hook, a rule, a setting.
Its `kind` says which; its `key` names it within the folder. Approval is for one content: a changed item is a new one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_object
from mcode.config.plain_file import is_inside, read_plain, reason
from mcode.config.written_rules import folder_number
from mcode.jsontext import JsonError, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.jsontext import JsonObject

SIZE_LIMIT = 16_000_000

MCP_SERVER = "mcp-server"
"""Kind of a server in a project's `.mcp.json`; its key is the server's name."""

COMMAND_FILE = "command-file"
"""Kind of a command file or skill that runs commands or allows tools; its key is the file, below the folder."""

MEMORY_IMPORT = "memory-import"
"""Kind of a file outside a folder that an instruction file of it brings in with `@`; the digest is of its real path."""

APPROVED, REFUSED = "approved", "refused"


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a folder that wants to be approved."""

    kind: str
    key: str
    digest: str
    """Hash (hex) of the whole content."""
    folder: Path
    """Absolute and resolved: the directory whose file brings it. Approval does not reach into folders beneath."""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the user was shown, by label: kept with the answer, so that a change can be shown later."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the user said about an item the last time."""

    answer: str
    """`approved` or `refused`."""
    digest: str
    facts: Mapping[str, str]


class TrustStore:
    """The user's answers. They are read once, when the first is asked for."""

    def __init__(self, places: Places, *, run: Path | None = None) -> None:
        """`run`: a folder in which everything is approved for this run (`--trust`); nothing of that is stored."""
        self._path = places.state / "trust.json"
        self._state = places.state
        self._home = places.home
        self._run = run
        self._session: dict[tuple[Path, str, str], Answered] = {}
        self._content: JsonObject | None = None
        self._fault = ""

    @property
    def fault(self) -> str:
        """Why no stored answer counts; empty where the file is well, or was not needed."""
        return self._fault

    def is_approved(self, item: Item, *, anyway: bool = False) -> bool:
        """True where the user approved this very content, or the whole folder for this run. A refusal stands.

        `anyway`: everything counts as approved that was not refused.
        """
        answered = self.earlier(item)
        if answered is not None and answered.digest == item.digest:
            return answered.answer == APPROVED
        return anyway or (self._run is not None and is_inside(item.folder, self._run))

    def is_refused(self, item: Item) -> bool:
        """True where the user refused this very content."""
        answered = self.earlier(item)
        return answered is not None and answered.digest == item.digest and answered.answer == REFUSED

    def earlier(self, item: Item) -> Answered | None:
        """The last answer about the item of this kind and key, whatever its content was; None where there is none."""
        now = self._session.get((item.folder, item.kind, item.key))
        if now is not None:
            return now
        items = _items(self._read(), item.folder).get(item.kind)
        entry = as_object((as_object(items) or {}).get(item.key))
        if entry is None or entry.get("answer") not in (APPROVED, REFUSED):
            return None
        facts = as_object(entry.get("facts")) or {}
        shown = {label: text for label, text in facts.items() if isinstance(text, str)}
        return Answered(entry["answer"], str(entry.get("digest", "")), shown)

    def difference(self, item: Item) -> tuple[str, ...]:
        """What has changed since the last answer, a line a fact, `-` before and `+` now; empty where none is kept."""
        answered = self.earlier(item)
        if answered is None:
            return ()
        lines: list[str] = []
        for label in dict.fromkeys((*answered.facts, *item.facts)):
            before, now = answered.facts.get(label), item.facts.get(label)
            if before != now:
                lines += [f"- {label}: {before}"] if before is not None else []
                lines += [f"+ {label}: {now}"] if now is not None else []
        return tuple(lines)

    def approve(self, item: Item) -> str:
        """Remember that the user approved the item.

        In the home directory and in `/` that is for this session only. Returns what the user should know, mostly
        nothing (""). Raises StorageError; the answer then counts for this session.
        """
        return self._keep((item,), APPROVED)

    def refuse(self, item: Item) -> str:
        """Remember that the user refused the item; returns and raises as `approve`."""
        return self._keep((item,), REFUSED)

    def approve_all(self, items: Sequence[Item]) -> str:
        """Remember that the user approved all of these, in one step; returns and raises as `approve`."""
        return self._keep(items, APPROVED)

    def refuse_all(self, items: Sequence[Item]) -> str:
        """Remember that the user refused all of these, in one step; returns and raises as `approve`."""
        return self._keep(items, REFUSED)

    def kinds(self, folder: Path) -> frozenset[str]:
        """The kinds of a folder's items that there are answers about."""
        now = {kind for owner, kind, _ in self._session if owner == folder}
        return frozenset(_items(self._read(), folder)) | now

    def answers(self, folder: Path, kind: str) -> dict[str, Answered]:
        """The last answer about each of a folder's items of one kind, by key."""
        stored = as_object(_items(self._read(), folder).get(kind)) or {}
        keys = (*stored, *(key for owner, which, key in self._session if (owner, which) == (folder, kind)))
        found = {key: self.earlier(Item(kind, key, "", folder)) for key in dict.fromkeys(keys)}
        return {key: answered for key, answered in found.items() if answered is not None}

    def forget(self, folder: Path, kind: str) -> int:
        """Forget the answers about a folder's items of one kind; returns how many. Raises StorageError."""
        held = set(as_object(_items(self._read(), folder).get(kind)) or {})
        held |= {key for owner, which, key in self._session if (owner, which) == (folder, kind)}
        self._session = {key: one for key, one in self._session.items() if key[:2] != (folder, kind)}
        if held:
            self._change(lambda content: _without(content, folder, kind))
        return len(held)

    def _keep(self, items: Sequence[Item], answer: str) -> str:
        for item in items:
            self._session[item.folder, item.kind, item.key] = Answered(answer, item.digest, item.facts)
        passing = [item for item in items if item.folder in (self._home, item.folder.parent)]
        stored = [item for item in items if item not in passing]
        said = self._change(lambda content: _with_all(content, stored, answer)) if stored else ""
        if passing:
            where = passing[0].folder
            said = f"{where} is not a project's folder: the answer counts for this session. {said}".rstrip()
        return said

    def _change(self, change: Callable[[JsonObject], JsonObject]) -> str:
        from mcode.files import private_directory, update_json  # not needed where answers are only read

        notices: list[str] = []
        private_directory(self._state)
        self._content = update_json(self._path, change, on_unreadable=notices.append)
        return " ".join(notices)

    def _read(self) -> JsonObject:
        if self._content is None:
            self._content = self._load()
        return self._content

    def _load(self) -> JsonObject:
        try:
            return parse_object(read_plain(self._path, SIZE_LIMIT).decode())
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._fault = f"{self._path} cannot be read ({reason(error)}): nothing in it counts as approved"
        except (UnicodeDecodeError, JsonError) as error:
            self._fault = f"{self._path} is damaged ({error}): nothing in it counts as approved"
        return {}


def _items(content: JsonObject, folder: Path) -> JsonObject:
    """The answers about a folder by kind; none where another folder has taken its place."""
    entry = as_object((as_object(content.get("folders")) or {}).get(str(folder))) or {}
    if entry.get("folder") != folder_number(folder):
        return {}
    return as_object(entry.get("items")) or {}


def _with_all(content: JsonObject, items: Sequence[Item], answer: str) -> JsonObject:
    for item in items:
        content = _with(content, item, answer)
    return content


def _with(content: JsonObject, item: Item, answer: str) -> JsonObject:
    kinds = dict(_items(content, item.folder))
    entry = {
        "answer": answer,
        "digest": item.digest,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "facts": dict(item.facts),
    }
    kinds[item.kind] = {**(as_object(kinds.get(item.kind)) or {}), item.key: entry}
    return _put(content, item.folder, kinds)


def _without(content: JsonObject, folder: Path, kind: str) -> JsonObject:
    return _put(content, folder, {name: one for name, one in _items(content, folder).items() if name != kind})


def _put(content: JsonObject, folder: Path, kinds: JsonObject) -> JsonObject:
    folders = dict(as_object(content.get("folders")) or {})
    folders[str(folder)] = {"folder": folder_number(folder), "items": kinds}
    return {**content, "folders": folders}
