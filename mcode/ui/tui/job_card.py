"""The card of a command in the background, unfolded: what it has printed by now, followed as long as it is open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.tasks import tail_of
from mcode.ui.tui.blocks import Fold

if TYPE_CHECKING:
    from mcode.builtins.jobs import Jobs
    from mcode.ui.tui.blocks import CallBlock
    from mcode.ui.tui.transcript_view import TranscriptView

EVERY = 0.5
"""Seconds between two looks at the output of a job that runs."""


async def follow_job(view: TranscriptView, block: CallBlock, jobs: Jobs) -> None:
    """Show the end of the job's output on its card, until the job or the card is closed."""
    job = next((each for each in jobs if each.id == block.node.job), None)
    while job is not None and block.fold is Fold.OPEN:
        running = job.running
        view.show_output(block, await asyncio.to_thread(tail_of, job))
        if not running:
            return
        await asyncio.sleep(EVERY)
