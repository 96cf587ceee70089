"""What all words of `mcode mcp` work with: the servers of this folder, the user's answers, and the terminal."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.load import load_settings
from mcode.config.places import find_places
from mcode.config.trust import TrustStore
from mcode.errors import UsageError
from mcode.masking import Masker
from mcode.mcp.cache import cache_directory
from mcode.mcp.last_try import last_try
from mcode.mcp.scopes import gather, trust_item
from mcode.mcp.server_facts import facts_of
from mcode.streams import write
from mcode.text import Kind, clean
from mcode.wiring.workbench import working_directory

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.places import Places
    from mcode.config.settings import Settings
    from mcode.jsontext import JsonObject
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.last_try import LastTry
    from mcode.mcp.scopes import Gathered


@dataclass(frozen=True, slots=True)
class ServerDesk:
    """The servers of the folder that mcode was started in."""

    places: Places
    start: Path
    settings: Settings
    trust: TrustStore
    gathered: Gathered
    masker: Masker

    @classmethod
    def here(cls) -> ServerDesk:
        """Read the files; raises UsageError where there is no folder or no home."""
        places, start = find_places(os.environ), working_directory()
        settings = load_settings(places, start)
        trust = TrustStore(places)
        gathered = gather(places, start, settings, environment=os.environ, trust=trust)
        return cls(places, start, settings, trust, gathered, Masker({**os.environ, **settings.env}))

    @property
    def listed(self) -> tuple[ServerEntry, ...]:
        """The servers that count, and those that wait to count."""
        return (
            *self.gathered.entries,
            *(entry for entry in self.gathered.asking if entry not in self.gathered.entries),
        )

    @property
    def everything(self) -> tuple[ServerEntry, ...]:
        """Also what a stronger entry stands over."""
        return (*self.listed, *self.gathered.shadowed)

    def entry(self, name: str) -> ServerEntry:
        """The server of this name; raises UsageError."""
        for entry in self.listed:
            if entry.name == name:
                return entry
        names = ", ".join(entry.name for entry in self.listed) or "none"
        raise UsageError(f'There is no server "{name}" here; there are: {names}. Nothing was done.')

    def state(self, entry: ServerEntry) -> str:
        """Whether it may run, in words."""
        if entry.disabled:
            return f"off: {entry.why_disabled}"
        if entry.needs_approval:
            return f"needs approval ({entry.why_unapproved})"
        last = self.last_try(entry)
        return last.in_words(time.time()) if last else "not tried yet"

    def last_try(self, entry: ServerEntry) -> LastTry | None:
        """How the last attempt to connect it ended, in a session or by `mcode mcp test`."""
        return last_try(cache_directory(self.places.state), entry.hash)

    def as_json(self, entry: ServerEntry) -> JsonObject:
        """One server for scripts; secrets are masked."""
        last = self.last_try(entry)
        state = "disabled" if entry.disabled else "needs approval" if entry.needs_approval else "ready"
        if state == "ready" and last is not None and not last.worked:
            state = last.state
        return {
            "name": entry.name,
            "scope": entry.scope,
            "type": entry.kind,
            "file": str(entry.path) if entry.path else None,
            "state": state,
            "why": entry.why_disabled or entry.why_unapproved,
            "last": last.as_object() if last else None,
            "hash": entry.hash,
            "entry": self.masker.mask_value(entry.written),
        }

    def approve(self, entry: ServerEntry) -> str:
        """Remember that the user approves a project's server; returns what they should know, mostly nothing."""
        return self.trust.approve(trust_item(entry, facts_of(entry, self.masker.mask)))

    def refuse(self, entry: ServerEntry) -> str:
        """Remember that the user refuses it."""
        return self.trust.refuse(trust_item(entry, facts_of(entry, self.masker.mask)))

    def say_problems(self) -> None:
        """Name what is wrong with the files."""
        for problem in self.gathered.problems:
            if problem.severity != "info":
                remark(problem.message)


def say(text: str) -> None:
    """A line, or several, on standard output."""
    write(sys.stdout, f"{clean(text, Kind.BLOCK) if sys.stdout.isatty() else text}\n")


def remark(text: str) -> None:
    """A line on standard error."""
    write(sys.stderr, f"mcode: {clean(text, Kind.BLOCK) if sys.stderr.isatty() else text}\n")
