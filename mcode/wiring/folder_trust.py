"""What a folder may grant itself: asked before the session opens, shown and changed later by /trust."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from mcode.config.load import load_settings
from mcode.config.memory import load_memory
from mcode.config.plain_file import read_plain
from mcode.config.skill_places import project_directories
from mcode.config.trust import APPROVED, COMMAND_FILE, REFUSED, SIZE_LIMIT, Item, TrustStore
from mcode.errors import StorageError
from mcode.masking import Masker
from mcode.mcp.scopes import Wanted, gather, trust_item
from mcode.mcp.server_facts import facts_of
from mcode.mcp.server_files import project_files
from mcode.wiring.trust_page import masked, trust_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcode.config.memory_files import Memory
    from mcode.config.places import Places
    from mcode.config.settings import Settings
    from mcode.mcp.entries import ServerEntry
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench

EVERYWHERE = ("/**",)
"""Matches every file."""

TRUST, NEVER, LATER = "trust", "never", ""
"""What the user can answer; anything else counts as LATER."""

COUNTS = (
    "It counts in every session that is opened from now on: /clear begins one. A model that was set counts from the "
    "next start."
)


class FolderQuestion(Protocol):
    """Somebody in the terminal who can decide before the session is there."""

    async def ask(self, page: str) -> str:
        """Show the whole page; returns TRUST, NEVER or LATER."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of one start, with all that its files say."""

    options: Options
    places: Places
    start: Path
    environment: Mapping[str, str]
    trust: TrustStore

    @classmethod
    def of(cls, options: Options, places: Places, start: Path, environment: Mapping[str, str]) -> Folder:
        """With `--trust` everything in the project counts as approved for this run."""
        run = project_files(start)[-1].parent if options.trust else None
        return cls(options, places, start, environment, TrustStore(places, run=run))

    def settings(self) -> Settings:
        """Read the settings, as far as they count by now."""
        options = self.options
        settings = load_settings(
            self.places,
            self.start,
            flag=options.settings,
            sources=options.setting_sources,
            trusted=options.trust,
            trust=self.trust,
        )
        return replace(settings, deny_instead_of_prompting=True) if options.ask_nobody else settings

    def memory(self, settings: Settings) -> Memory:
        """Read the instruction files, with the imports from elsewhere that count by now; may take a while."""
        excludes = EVERYWHERE if self.options.bare else settings.claude_md_excludes
        return load_memory(self.places, self.start, excludes, approved=self.trust.is_approved)

    async def decided(self, settings: Settings, question: FolderQuestion) -> tuple[Settings, bool]:
        """Ask where the folder's settings would grant something; the settings then, and whether it was asked.

        A folder with nothing but servers is asked about in the session, which has not to wait for that.
        """
        memory = await asyncio.to_thread(self.memory, settings)
        if not unanswered(self.trust, settings) and not waiting_imports(self.trust, memory):
            return settings, False
        mask = Masker({**self.environment, **settings.env}).mask
        asking = gather(
            self.places,
            self.start,
            settings,
            environment=self.environment,
            trust=self.trust,
            wanted=Wanted(self.options.mcp_configs, self.options.strict_mcp, self.options.setting_sources),
        ).asking
        items = waiting_items(self.trust, settings, memory, asking, mask)
        page = trust_page(self.start, items, self.trust, instructions(memory))
        answer = await question.ask(page)
        if answer not in (TRUST, NEVER):
            return settings, True
        await asyncio.to_thread(answer_all, self.trust, items, answer)
        return self.settings(), True


def unanswered(trust: TrustStore, settings: Settings) -> list[Item]:
    """What the folder's settings would grant and the user has not refused."""
    return [item for item in settings.withheld if not trust.is_refused(item)]


def waiting_imports(trust: TrustStore, memory: Memory) -> list[Item]:
    """The imports from elsewhere that the user has said nothing about."""
    return [item for item in memory.imports if not trust.is_approved(item) and not trust.is_refused(item)]


def waiting_items(
    trust: TrustStore,
    settings: Settings,
    memory: Memory,
    asking: Sequence[ServerEntry],
    mask: Callable[[str], str],
) -> list[Item]:
    """All that can be approved now, as people may see it."""
    own = (*unanswered(trust, settings), *waiting_imports(trust, memory))
    return [
        *(masked(item, mask) for item in own),
        *(trust_item(each, facts_of(each, mask)) for each in asking),
    ]


def instructions(memory: Memory) -> list[Path]:
    """The folder's own files of words for the model, which it reads whether or not the folder is trusted."""
    return [file.path for file in memory.files if file.scope in ("project", "local")]


def answer_all(trust: TrustStore, items: Sequence[Item], answer: str) -> str:
    """Keep one answer about all items; where it cannot be stored it counts for this session."""
    try:
        return trust.approve_all(items) if answer == TRUST else trust.refuse_all(items)
    except StorageError as error:
        return f"The answer could not be stored and counts for this session: {error}"


@dataclass(frozen=True, slots=True)
class FolderTrust:
    """The same for /trust, in a session."""

    bench: Workbench

    def page(self) -> str:
        """What waits, as the question before the session shows it; empty where nothing waits."""
        items = self.waiting()
        if not items:
            return ""
        bench = self.bench
        return trust_page(bench.start, items, bench.trust, instructions(bench.memory))

    def granted(self) -> list[Item]:
        """What counts because the user approved it."""
        bench, mask = self.bench, self.bench.masker.mask
        entries = [entry for entry in bench.servers.entries if entry.scope == "project"]
        servers = [trust_item(entry, facts_of(entry, mask)) for entry in entries if entry.path is not None]
        approved = [item for item in servers if bench.trust.is_approved(item)]
        imports = filter(bench.trust.is_approved, bench.memory.imports)
        granted = [*bench.settings.granted, *self._command_files(APPROVED), *imports]
        return [*(masked(item, mask) for item in granted), *approved]

    def refused(self) -> list[Item]:
        """What the user refused."""
        bench = self.bench
        return [
            masked(item, bench.masker.mask)
            for item in (
                *filter(bench.trust.is_refused, bench.settings.withheld),
                *self._command_files(REFUSED),
                *filter(bench.trust.is_refused, bench.memory.imports),
            )
        ]

    def _command_files(self, answer: str) -> list[Item]:
        """Command files and skills with this answer; one that has changed since asks again at its next use."""
        return [
            Item(COMMAND_FILE, key, answered.digest, folder, answered.facts)
            for folder in self._folders()
            for key, answered in self.bench.trust.answers(folder, COMMAND_FILE).items()
            if answered.answer == answer and _is_still(folder / key, answered.digest)
        ]

    def _folders(self) -> set[Path]:
        """The folders whose files may bring something into this session."""
        bench = self.bench
        items = (*bench.settings.granted, *bench.settings.withheld, *bench.memory.imports)
        found = {item.folder for item in items}
        found |= {path.parent for path in project_files(bench.start)}
        return found.union(project_directories(bench.start))

    async def answer(self, answer: str) -> str:
        """Trust or refuse all that waits; returns what came of it."""
        bench = self.bench
        items = self.waiting()
        if not items:
            return "Nothing waits for an answer here; nothing was changed."
        said = await asyncio.to_thread(answer_all, bench.trust, items, answer)
        if answer == TRUST:
            for entry in bench.server_trust.waiting:
                bench.server_trust.approved(entry)
        bench.server_trust.waiting.clear()
        await asyncio.to_thread(bench.read_settings_again)
        count = f"{len(items)} {'item' if len(items) == 1 else 'items'}"
        done = f"Trusted: {count}. {COUNTS}" if answer == TRUST else f"Refused: {count}, until they change."
        return f"{done} {said}".rstrip()

    async def forget(self) -> str:
        """Forget every answer about this folder; returns what came of it."""
        bench = self.bench
        try:
            count = sum(
                bench.trust.forget(folder, kind)
                for folder in self._folders()
                for kind in bench.trust.kinds(folder)
            )
        except StorageError as error:
            return f"The answers could not be forgotten, nothing was changed: {error}"
        await asyncio.to_thread(bench.read_settings_again)
        return (
            f"Forgotten: {count} answers about this folder. What was trusted stays in force in this session; "
            "sessions opened from now on begin without it, and servers that run end with mcode."
        )

    def waiting(self) -> list[Item]:
        """What can be approved now."""
        bench = self.bench
        asking = bench.server_trust.waiting
        return waiting_items(bench.trust, bench.settings, bench.memory, asking, bench.masker.mask)


def _is_still(path: Path, digest: str) -> bool:
    """Whether a file is as it was when the user answered."""
    try:
        return hashlib.sha256(read_plain(path, SIZE_LIMIT)).hexdigest() == digest
    except OSError:
        return False
