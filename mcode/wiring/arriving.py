"""The first session of an interactive start, opened for a front end that is on the screen already."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.standard import standard_registry
from mcode.logs import open_log
from mcode.ui.arrival import AnswerNeededError, Arrival
from mcode.wiring.demo import make_known, show_ledger, with_demo
from mcode.wiring.opening import open_session, which_session
from mcode.wiring.workbench import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AsyncExitStack

    from mcode.events import Event
    from mcode.wiring.folder_trust import FolderQuestion
    from mcode.wiring.opening import Chooser, Opening
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench


class NobodyToAsk:
    """Stands for the user while the screen has the terminal: a question about the folder goes before the session."""

    async def ask(self, page: str) -> str:
        """Raises AnswerNeededError."""
        del page
        raise AnswerNeededError("This folder waits for an answer.")


async def arrive(
    options: Options,
    stack: AsyncExitStack,
    *,
    question: FolderQuestion | None = None,
    chooser: Chooser | None = None,
    read: Callable[[Sequence[Event]], None] = lambda events: None,
) -> Arrival | None:
    """Prepare everything and open the session; `stack` takes what has to be closed behind the front end.

    `question`, `chooser`: who answers in the plain terminal; without them a question raises AnswerNeededError, and
    a new session is opened. `read` shows a conversation that is only looked at. None where there is nothing to open.
    Raises UsageError, EndpointError, StorageError and SessionLockedError.
    """
    options = with_demo(options)
    bench = await prepare(options, interactive=True, question=question or NobodyToAsk())
    make_known(bench)
    keyless = (
        bench.endpoint_notices() if bench.endpoint.looked_at else ()
    )  # front ends tell of it in their own way
    stack.enter_context(open_log(bench.places.logs, bench.masker, detailed=options.debug))
    stack.push_async_callback(bench.close)
    opening = await which_session(options, bench, chooser)
    if opening is None:
        return None
    opening, agent = await open_session(bench, opening, chooser)
    if agent is None:
        _show_conversation(bench, opening, read)
        return None
    if options.demo:
        show_ledger(agent)
    pruning = asyncio.create_task(bench.prune())
    stack.callback(pruning.cancel)
    return Arrival(
        agent=agent,
        around=bench.surroundings(),
        registry=standard_registry(),
        open_agent=bench.open_agent,
        source=opening.source,
        remarks=(*keyless, *_remarks(bench)),
        servers=bench.pool,
        offline=bench.endpoint.guide,
    )


def _show_conversation(bench: Workbench, opening: Opening, read: Callable[[Sequence[Event]], None]) -> None:
    """Show a session that another process has open."""
    from mcode.agent.transcript import transcript

    session = bench.store.open_read_only(opening.reference or "")
    try:
        read(transcript(session.journal.records))
    finally:
        session.journal.close()


def _remarks(bench: Workbench) -> tuple[str, ...]:
    if not bench.endpoint.guide:
        return ()
    from mcode.model.guide import WELCOME, WELCOME_TO_DEMO

    return (WELCOME_TO_DEMO if bench.options.demo else WELCOME,)
