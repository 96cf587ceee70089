"""Makes what keeps a session's requests within the context window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.room import RoomMaker, todo_text
from mcode.catalog.found import still_loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.agent.replies import ModelCaller
    from mcode.catalog.shelf import Shelf
    from mcode.config.memory_files import Memory
    from mcode.pipeline.hooks import HookRunner
    from mcode.wiring.workbench import Workbench


def make_room(
    bench: Workbench,
    caller: ModelCaller,
    hooks: HookRunner,
    keep_text: Callable[[str], Path],
    shelf: Shelf,
    remember: Callable[[Memory], None],
    *,
    beside: Callable[[], Sequence[str]] = tuple,
) -> RoomMaker:
    """`keep_text` writes a text to a private file of the session; `remember` takes instruction files read anew.

    `beside`: texts that every summary is followed by, in addition to the steps and the loaded tools.
    """
    conversation = caller.conversation

    def reread() -> None:
        """Instruction files of the start count as they are on the disk now."""
        remember(bench.read_memory())

    def beside_summary() -> Sequence[str]:
        """What a summary cannot be trusted to keep: the list of steps, and the tools that are loaded."""
        loads = [load.definition for load in conversation.loads.values()]
        return (todo_text(conversation.todos), still_loaded(loads, shelf) if loads else "", *beside())

    return RoomMaker(
        conversation=conversation,
        caller=caller,
        builder=caller.builder,
        meter=caller.meter,
        events=caller.events,
        hooks=hooks,
        keep_text=keep_text,
        reread=reread,
        more=beside_summary,
    )
