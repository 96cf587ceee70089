"""Everything that outlives a session: places, settings, endpoint. It opens sessions as agents."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcode import __version__
from mcode.commands.host import Surroundings
from mcode.config.load import check_flag
from mcode.config.memory_files import Memory
from mcode.config.places import find_places
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.masking import Masker
from mcode.mcp.scopes import check_configs
from mcode.mcp.server_facts import secret_values
from mcode.session.listing import is_interactive
from mcode.session.store import SessionStore
from mcode.wiring.assembly import Assembly
from mcode.wiring.budget import check_budget
from mcode.wiring.endpoint import choose_endpoint
from mcode.wiring.folder_trust import Folder, FolderTrust, unanswered
from mcode.wiring.opening import check_session
from mcode.wiring.policy import check_mode
from mcode.wiring.server_trust import ServerTrust, find_servers
from mcode.wiring.servers import open_servers
from mcode.wiring.trust_page import untrusted_summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcode.agent.agent import Agent
    from mcode.config.places import Places
    from mcode.config.settings import Problem, Settings
    from mcode.config.trust import TrustStore
    from mcode.files import Holder
    from mcode.mcp.scopes import Gathered
    from mcode.mcp.servers import Servers
    from mcode.session.store import OpenSession
    from mcode.wiring.endpoint import Endpoint
    from mcode.wiring.folder_trust import FolderQuestion
    from mcode.wiring.options import Options


@dataclass(slots=True)
class Workbench:
    """What every session of this start shares."""

    options: Options
    environment: Mapping[str, str]
    places: Places
    start: Path
    settings: Settings
    endpoint: Endpoint
    masker: Masker
    store: SessionStore
    memory: Memory
    """The instruction files as they were read when the present session was opened."""
    interactive: bool = True
    """Whether somebody sits at a terminal; False for `-p`."""
    folder: Folder | None = None
    """What the folder's own files say, as it was read; None: it is read anew."""
    asked: bool = False
    """Whether the user was asked about the folder before the session."""
    trust: TrustStore = field(init=False)
    servers: Gathered = field(init=False)
    """The servers that the files name, and which of them may run."""
    server_trust: ServerTrust = field(init=False)
    pool: Servers = field(init=False)
    """The servers themselves; they outlive a session."""
    verdict_log: Path = field(init=False)
    """Where the decisions about calls are written down."""
    _unsaid: tuple[str, ...] = field(init=False)
    _neighbours: set[str] = field(default_factory=set[str], init=False)

    def __post_init__(self) -> None:
        self._unsaid = self.endpoint.notices
        self.verdict_log = self.places.logs / "verdicts.jsonl"
        self.folder = self.folder or Folder.of(self.options, self.places, self.start, self.environment)
        self.trust = self.folder.trust
        self.servers = find_servers(self)
        self._learn_secrets()
        self.server_trust = ServerTrust(self.trust, self.masker, list(self.servers.asking), asked=self.asked)
        self.server_trust.untrusted = self._untrusted()
        self.pool = open_servers(self)

    def read_settings_again(self) -> None:
        """Read the settings after the user's word on the folder has changed; sessions opened from now on have them."""
        if self.folder is not None:
            self.settings = self.folder.settings()
            self.masker = make_masker(self.environment, self.settings, self.endpoint)
            self._learn_secrets()
            self.server_trust.untrusted = self._untrusted()

    def _learn_secrets(self) -> None:
        """What entries of servers hold is known to the masker before the first line is written."""
        for entry in (*self.servers.entries, *self.servers.asking):
            self.masker.learn(secret_values(entry))

    def _untrusted(self) -> str:
        waiting = unanswered(self.trust, self.settings)
        if not waiting:
            return ""
        return untrusted_summary(waiting) if self.interactive else self.settings.untrusted

    async def open_agent(self, source: str, reference: str | None = None) -> Agent:
        """Open a session: `startup` or `clear` a new one, `resume` or `fork` an earlier one by id or name.

        Without a reference the latest one is meant. The agent has not started yet. Raises UsageError where there
        is no such session, StorageError where it cannot be opened or written.
        """
        session = self._open_session(source, reference)
        if not session.journal.records:
            body = {"id": session.id, "cwd": str(self.start), "version": __version__}
            session.journal.append("session", {**body, "interactive": self.interactive})
        elif self.interactive and not is_interactive(session.journal.records):
            session.journal.append("session", {"id": session.id, "interactive": True})
        self.memory = await asyncio.to_thread(self.read_memory)
        assembly = Assembly(self, session)
        await assembly.read()
        return assembly.agent

    def read_memory(self) -> Memory:
        """The instruction files as they are now; may take a while."""
        folder = self.folder or Folder.of(self.options, self.places, self.start, self.environment)
        return folder.memory(self.settings)

    def remember(self, memory: Memory) -> None:
        """The instruction files were read anew for the present session."""
        self.memory = memory

    def surroundings(self) -> Surroundings:
        """What slash commands need beside the conversation."""
        return Surroundings(
            version=__version__,
            places=self.places,
            endpoint=self.endpoint.client.name,
            credential=self.endpoint.credential,
            memory=lambda: self.memory.files,
            sessions=self.store.list,
            resolve=self.store.resolve,
            models=self.endpoint.client.list_models,
            masker=self.masker,
            looked_at=self.endpoint.looked_at,
            trust=FolderTrust(self),
            problems=lambda: self.servers.problems,
        )

    def _open_session(self, source: str, reference: str | None) -> OpenSession:
        if source not in {"resume", "fork"}:
            return self.store.create(self.options.session_id if source == "startup" else None)
        if reference is None:
            latest = self.store.latest()
            if latest is None:
                raise UsageError(f"There is no earlier session in {self.start}. Start one with `mcode`.")
            reference = latest.id
        return self.store.fork(reference) if source == "fork" else self.store.open(reference)

    def notices(self, session: str, found: Sequence[Problem]) -> tuple[Notice, ...]:
        """What the user should be told at the start of a session; `found` are problems of its own."""
        known = (*self.settings.problems, *self.servers.problems, *found)
        problems = [problem for problem in known if problem.severity != "info"]
        return (
            *(Notice(problem.message, problem.severity) for problem in problems),
            *(Notice(text) for text in self.memory.notices),
            *(Notice(text) for text in self.endpoint_notices()),
            *self.neighbours(session),
        )

    def neighbours(self, session: str) -> tuple[Notice, ...]:
        """Sessions that other processes have open in this folder, each told once; nobody reads it in a headless run."""
        if self.options.print:
            return ()
        new = [
            (other, holder)
            for other, holder in self.store.others(session)
            if holder.process != os.getpid() and other not in self._neighbours
        ]
        self._neighbours.update(other for other, _ in new)
        return tuple(Notice(_neighbour(other, holder)) for other, holder in new)

    def endpoint_notices(self) -> tuple[str, ...]:
        """What the choice of the endpoint has to say, the first time."""
        notices, self._unsaid = self._unsaid, ()
        return notices

    async def close(self) -> None:
        """End what outlives sessions: servers, and the connection to the endpoint."""
        try:
            await self.pool.close()
        finally:
            await self.endpoint.client.close()
            if not self.options.kept:
                await asyncio.to_thread(shutil.rmtree, self.store.directory, ignore_errors=True)

    async def prune(self) -> None:
        """Remove sessions that are older than the settings keep them, and worktrees that a killed run has left."""
        await asyncio.to_thread(self.store.prune, self.settings.cleanup_period_days)
        if (self.places.state / "worktrees").is_dir():
            from mcode.wiring.worktree import prune_trees

            await prune_trees(self.start, self.places.state, self.environment)


def make_masker(environment: Mapping[str, str], settings: Settings, endpoint: Endpoint) -> Masker:
    """Hides the secrets of the environment and the settings, and mcode's own keys."""
    return Masker({**environment, **settings.env, **settings.own_env}, keys=endpoint.secrets)


async def prepare(
    options: Options,
    *,
    interactive: bool,
    question: FolderQuestion | None = None,
    folder_of_work: Path | None = None,
) -> Workbench:
    """Read what a start needs; `question` asks the user about a folder that is not trusted.

    `folder_of_work`: the directory to work in, where that is not the one that mcode was started in.

    Raises UsageError and EndpointError with what to do.
    """
    environment = dict(os.environ)
    places = find_places(environment)
    start = working_directory() if folder_of_work is None else existing(folder_of_work)
    check_flag(options.settings, start, places.home)
    check_configs(options.mcp_configs, start, places.home)
    folder = Folder.of(options, places, start, environment)
    settings, asked = folder.settings(), False
    if question is not None:
        settings, asked = await folder.decided(settings, question)
    check_mode(options, settings, environment)
    if not interactive:
        check_session(options, SessionStore(places.project_directory(start), Masker(environment)), start)
    endpoint = await choose_endpoint(options, settings, places, environment, interactive=interactive)
    if options.model or not (options.continue_latest or options.resume is not None):
        check_budget(options.max_budget, options.model or endpoint.model, settings.own.prices)
    masker = make_masker(environment, settings, endpoint)
    return Workbench(
        options=options,
        environment=environment,
        places=places,
        start=start,
        settings=settings,
        endpoint=endpoint,
        masker=masker,
        store=_store(options, places, start, settings, masker),
        memory=Memory(start, places.home),
        interactive=interactive,
        folder=folder,
        asked=asked,
    )


def _store(options: Options, places: Places, start: Path, settings: Settings, masker: Masker) -> SessionStore:
    """The folder's sessions; for a session that is not kept, a private directory that goes with it."""
    if not options.kept:
        return SessionStore(
            Path(tempfile.gettempdir(), f"mcode-unkept-{secrets.token_hex(16)}"), masker, durable=False
        )
    return SessionStore(places.project_directory(start), masker, durable=settings.own.sync != "relaxed")


def existing(folder: Path) -> Path:
    """A directory, resolved; raises UsageError where it is none."""
    try:
        resolved = folder.resolve(strict=True)
        os.scandir(resolved).close()
    except OSError as error:
        raise UsageError(
            f"{folder} is no directory to work in: {error.strerror}. Nothing was started."
        ) from None
    return resolved


def working_directory() -> Path:
    """Where mcode was started, resolved; raises UsageError where the directory is gone or closed to us."""
    try:
        start = Path.cwd().resolve(strict=True)
        os.scandir(start).close()
    except FileNotFoundError:
        raise UsageError(
            "The directory that mcode was started in no longer exists. Nothing was started; `cd` to one that does."
        ) from None
    except PermissionError as error:
        raise UsageError(
            f"The directory {error.filename} cannot be read. Nothing was started; start mcode in one that can."
        ) from None
    return start


def _neighbour(session: str, holder: Holder) -> str:
    return (
        f"Another session is open in this folder: {session[:8]}, {holder.describe()}. Each keeps its own record; "
        "an edit of a file that the other has changed is refused until it is read again."
    )
