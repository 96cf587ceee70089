"""Families of processes: everything that came from one started program, found, counted, ended and reaped.

A family is more than a process group: a command can start children in sessions of their own and orphan them.
On Linux mcode therefore asks the kernel to hand it the orphans of its descendants, and knows them again by a
variable in their environment or by the pipes they still hold. Elsewhere the group and its children must do.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from mcode.process.guard import GUARD
from mcode.process.table import environment_holds, open_files, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.process.table import ProcessEntry

MARK = "MCODE_FAMILY"
"""Variable by which a family's members are known after they have left their parents and their session."""

_KILL_TIME = 0.7
"""Seconds within which the members that SIGKILL has reached must be gone."""

_SET_CHILD_SUBREAPER = 36
"""The option of prctl(2)."""

_ORPHAN_PATIENCE = 5.0
"""Seconds that a dead child may stay before it is taken for an orphan that nobody else waits for."""


class Family:
    """The processes that came from one started program."""

    def __init__(self, *, lasting: bool = False) -> None:
        """`lasting`: the family outlives sessions, as an MCP server does; `end_all_children` leaves it alone."""
        self.lasting = lasting
        self.mark = os.urandom(8).hex()
        """Value that the variable MARK must have in the program's environment."""
        self._pipes: frozenset[str] = frozenset()
        self._leader: int | None = None
        self._known: dict[int, int] = {}
        """Members that were left when the leader was reaped: pid and identity."""
        self._is_guarded = False

    @property
    def leader(self) -> int | None:
        """Pid of the started program, which leads a group and a session; None before the start and after it
        was reaped, when the number may belong to somebody else."""
        return self._leader

    def begin(self, leader: int, pipes: frozenset[str] = frozenset()) -> None:
        """The program runs; it must not be reaped before `leave` was called.

        `pipes`: the pipes made for it alone, named as `table.open_files` does.
        """
        self._leader = leader
        self._pipes = pipes
        _families.add(self)

    def guard_from_the_start(self) -> None:
        """The program is about to start: where mcode is killed before it knows the leader, the mark tells who belongs
        to it. Ends with `guard`, or with `not_started`."""
        self._is_guarded = True
        GUARD.watch(self.mark, 0)

    def not_started(self) -> None:
        """There is no program."""
        self._forget()

    def guard(self) -> None:
        """See to it that the family ends even where mcode is killed."""
        if self._leader is not None:
            self._is_guarded = True
            GUARD.watch(self.mark, self._leader)

    def leave(self) -> int:
        """The leader will now be reaped: remember who lives on; returns how many."""
        left = self.members() if sys.platform == "linux" or self._group_lives() else []
        self._leader = None
        self._known = {entry.pid: _identity(entry) for entry in left}
        if not left:
            self._forget()
        elif (
            sys.platform == "linux"
        ):  # the leader's number may become somebody else's: by the mark alone from now on
            self._is_guarded = True
            GUARD.watch(self.mark, 0)
        forget_ended()
        return len(left)

    def forget_if_ended(self, entries: Iterable[ProcessEntry]) -> None:
        """Watch over the family no longer where its leader was reaped and nobody of it lives in the table given."""
        if self._leader is None and all(entry.ended for entry in self._select(entries)):
            self._forget()

    def members(self) -> list[ProcessEntry]:
        """The members that live."""
        entries = snapshot()
        _reap_orphans(entries)
        return [entry for entry in self._select(entries) if not entry.ended]

    async def see_off(self, seconds: float) -> None:
        """Wait until no member lives, so long at most. macOS would need a run of ps for each look."""
        deadline = time.monotonic() + seconds
        while sys.platform == "linux" and time.monotonic() < deadline:
            if not self.members():
                return
            await asyncio.sleep(0.005)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the group and to every member outside it."""
        if self._leader is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, number)
        for entry in self.members():
            if entry.group != self._leader or self._leader is None:
                _send(entry.pid, number)

    async def end(self, grace: float, hurry: asyncio.Event | None = None) -> None:
        """End all members: SIGTERM, `grace` seconds (less when `hurry` is set), then SIGKILL until none lives."""
        hurry = hurry or asyncio.Event()
        deadline = time.monotonic() + grace
        self.send(signal.SIGTERM)
        while self.members() and time.monotonic() < deadline and not hurry.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(hurry.wait(), 0.02)
        deadline = time.monotonic() + _KILL_TIME
        quiet = 0
        while quiet < 2 and time.monotonic() < deadline:
            quiet = 0 if self.members() else quiet + 1
            self.send(signal.SIGKILL)
            await asyncio.sleep(0.005)
        self._forget_if_gone()

    def kill(self) -> None:
        """SIGKILL to all members at once, without waiting; for the moment at which mcode itself ends."""
        for _ in range(3):
            self.send(signal.SIGKILL)
        self._forget_if_gone()

    def _group_lives(self) -> bool:
        """Whether anybody but the ended leader is in the group. Spares macOS a run of ps for each command."""
        try:
            os.killpg(self._leader or 0, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _forget_if_gone(self) -> None:
        if self._leader is None and not self.members():
            self._forget()

    def _forget(self) -> None:
        _families.discard(self)
        if self._is_guarded:
            GUARD.forget(self.mark)

    def _select(self, entries: Iterable[ProcessEntry]) -> list[ProcessEntry]:
        children: dict[int, list[ProcessEntry]] = {}
        for entry in entries:
            children.setdefault(entry.parent, []).append(entry)
        waiting = [entry for entry in entries if self._is_own(entry)]
        found: dict[int, ProcessEntry] = {}
        while waiting:
            entry = waiting.pop()
            if entry.pid not in found:
                found[entry.pid] = entry
                waiting.extend(children.get(entry.pid, ()))
        return list(found.values())

    def _is_own(self, entry: ProcessEntry) -> bool:
        """Whether a process belongs here by itself, whoever its parent is now."""
        if self._leader is not None and self._leader in {entry.pid, entry.group, entry.session}:
            return True
        if self._known.get(entry.pid) == _identity(entry):
            return True
        if entry.ended or entry.parent != os.getpid() or entry.pid in _leaders():
            return False
        return environment_holds(entry.pid, f"{MARK}={self.mark}".encode()) or not self._pipes.isdisjoint(
            open_files(entry.pid)
        )


_families: set[Family] = set()
"""Families with a living member. One set a process, as there is one table of processes below it."""

_dead_since: dict[tuple[int, int], float] = {}
"""When an ended child that may be somebody else's to reap was first seen, by pid and start time."""


def adopt_orphans() -> None:
    """Become the parent of orphans below mcode (Linux), and make sure that no family outlives it."""
    global _prepared_process  # noqa: PLW0603 -- what is prepared is this process, of which there is one
    if _prepared_process == os.getpid():
        return
    _prepared_process = os.getpid()
    atexit.register(kill_all_children)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


_prepared_process = 0
"""Pid of the process that has adopted; differs in a fork, which owns none of the families."""


def forget_ended() -> None:
    """Watch no longer over families whose last member has ended by itself; with the last of all, the guard ends."""
    left = [family for family in _families if family.leader is None]
    entries = snapshot() if left else ()
    for family in left:
        family.forget_if_ended(entries)


async def end_all_children(grace: float = 1.0) -> None:
    """End every process that mcode's commands have left or still run; takes `grace` seconds and one more.

    Lasting families stay: who began them ends them.
    """
    await asyncio.gather(*(family.end(grace) for family in tuple(_families) if not family.lasting))


def kill_all_children() -> None:
    """Do the same at once and without a loop: for signal handlers and for the interpreter's end."""
    if _prepared_process == os.getpid():
        for family in tuple(_families):
            family.kill()


def _identity(entry: ProcessEntry) -> int:
    """What tells a process from a later one with its number: the start time, or at least the group."""
    return entry.started or -entry.group


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _leaders() -> set[int]:
    return {family.leader for family in _families if family.leader is not None}


def _reap_orphans(entries: Iterable[ProcessEntry]) -> None:
    """Reap ended orphans that came to mcode, and never a child that somebody in this process waits for.

    A child of our own making is in our session or leads one itself (`start_new_session`). So an ended child in
    any other session is an orphan for certain; one that led a session is taken for one when, seconds after it
    ended, still nobody has asked for its status.
    """
    own_pid, own_session, leaders = os.getpid(), os.getsid(0), _leaders()
    doubtful: dict[tuple[int, int], float] = {}
    for entry in entries:
        if not entry.ended or entry.parent != own_pid or entry.pid in leaders:
            continue
        if entry.session in {own_session, 0}:
            continue
        name = (entry.pid, entry.started)
        if entry.session == entry.pid:
            doubtful[name] = _dead_since.get(name, time.monotonic())
            if time.monotonic() - doubtful[name] < _ORPHAN_PATIENCE:
                continue
        with contextlib.suppress(ChildProcessError):
            os.waitpid(entry.pid, os.WNOHANG)
    _dead_since.clear()
    _dead_since.update(doubtful)
