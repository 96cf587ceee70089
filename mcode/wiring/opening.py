"""Which session a start opens: a new one, the latest, one by id or name, one from the list, or a copy."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcode.errors import UsageError
from mcode.session.journal import SessionLockedError
from mcode.text import Kind, clean, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.agent.agent import Agent
    from mcode.session.store import SessionInfo, SessionStore
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench

LISTED = 20
"""Sessions that a list shows."""


@dataclass(frozen=True, slots=True)
class Opening:
    """How a session opens, and which one."""

    source: str
    """`startup`, `resume`, `fork`, or `read` for one that is only looked at."""
    reference: str | None = None
    """Id, beginning of an id, or name; None for a new session."""


class Chooser(Protocol):
    """Somebody in the terminal who can choose before the session is there."""

    async def choose(self, heading: str, rows: Sequence[str]) -> int | None:
        """The index of the chosen row; None where nothing was chosen."""
        ...


def check_session(options: Options, store: SessionStore, start: Path) -> None:
    """Raises UsageError where the command line names a session that is not there.

    Before anything else is looked for: a wrong name is to be told also where there is no key.
    """
    if options.resume:
        store.resolve(options.resume)
    elif options.continue_latest and not store.list():
        raise _none_yet(start)
    elif options.resume == "":
        raise _unnamed(store.list()[:LISTED])


async def which_session(options: Options, bench: Workbench, chooser: Chooser | None) -> Opening | None:
    """What the command line asks for; None where the user chose nothing. Raises UsageError."""
    kind = "fork" if options.fork else "resume"
    if options.resume:
        return Opening(kind, options.resume)
    if options.resume is not None:
        return await _from_the_list(bench, kind, chooser)
    if options.continue_latest:
        return Opening(kind, _latest(bench, interactive=chooser is not None))
    if options.fork:
        raise UsageError("--fork-session goes with --continue or --resume. Nothing was started.")
    return Opening("startup")


async def open_session(
    bench: Workbench, opening: Opening, chooser: Chooser | None
) -> tuple[Opening, Agent | None]:
    """Open it. Where another process has it, the user may take a copy or look at it: then there is no agent.

    Raises UsageError, SessionLockedError where nobody can choose or nothing was chosen, and StorageError.
    """
    try:
        return opening, await bench.open_agent(opening.source, opening.reference)
    except SessionLockedError as locked:
        if chooser is None:
            raise
        rows = ("go on with a copy of it, under a new id", "read it here; nothing can be written")
        heading = f"Session {locked.session[:8]} is open in another mcode ({locked.holder.describe()})."
        chosen = await chooser.choose(heading, rows)
        if chosen is None:
            raise
        if chosen == 1:
            return Opening("read", locked.session), None
        copied = Opening("fork", locked.session)
        return copied, await bench.open_agent(copied.source, copied.reference)


async def _from_the_list(bench: Workbench, kind: str, chooser: Chooser | None) -> Opening | None:
    sessions = bench.store.list()[:LISTED]
    if chooser is None:
        raise _unnamed(sessions)
    if not sessions:
        raise _none_yet(bench.start)
    rows = [_row(info) for info in sessions]
    chosen = await chooser.choose("Which session goes on?", rows)
    return None if chosen is None else Opening(kind, sessions[chosen].id)


def _latest(bench: Workbench, *, interactive: bool) -> str:
    """The session written last; in the terminal one that was talked in there, where there is one."""
    sessions = bench.store.list()
    if not sessions:
        raise _none_yet(bench.start)
    talked = [info for info in sessions if info.interactive] if interactive else []
    return (talked or sessions)[0].id


def _none_yet(start: Path) -> UsageError:
    return UsageError(f"There is no earlier session in {start}. Start one with `mcode`.")


def _unnamed(sessions: Sequence[SessionInfo]) -> UsageError:
    listed = "\n".join(f"  {info.id}  {_row(info)}" for info in sessions)
    return UsageError(
        "--resume takes the id or name of a session where nobody can choose. Nothing was started. Sessions of "
        f"this folder:\n{listed or '  (none here yet)'}"
    )


def _row(info: SessionInfo) -> str:
    when = datetime.datetime.fromtimestamp(info.modified).astimezone().strftime("%Y-%m-%d %H:%M")
    name = shorten(clean(info.name or info.first_prompt, Kind.LINE), 60)
    return f"{when}  {name}" if info.interactive else f"{when}  {name}  (headless)"
