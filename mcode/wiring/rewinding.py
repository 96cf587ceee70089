"""The rewinds of a session, made from its undo store and the file tools' means."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mcode.agent.rewinding import Rewinding
from mcode.agent.tracked_changes import tracked_changes
from mcode.builtins.put_back import UserFiles
from mcode.events import Notice
from mcode.pipeline.side_files import SideFiles
from mcode.session.rewind import Rewinder

if TYPE_CHECKING:
    from mcode.builtins.file_state import FileState
    from mcode.builtins.jobs import Jobs
    from mcode.wiring.core import SessionCore


def make_side_files(core: SessionCore) -> SideFiles:
    """Where the setting lets changes be made without undo, the user hears of each that cannot be undone."""

    def tell(text: str) -> None:
        core.events.emit(Notice(text, "warning"))

    required = core.bench.settings.own.undo_required
    return SideFiles(core.session, without_undo=None if required else tell, mask=core.bench.masker.mask)


def make_rewinding(core: SessionCore, file_state: FileState, jobs: Jobs) -> Rewinding:
    """The rewinds of a session; what shell commands changed is looked for in the work tree of where it started."""

    bench, session, conversation = core.bench, core.session, core.conversation

    def forget_files() -> None:
        file_state.forget()
        conversation.append("files", {"read": file_state.remembered()})

    rewinder = Rewinder(session.undo, UserFiles(bench.places.state / "pending"), session.directory / "kept")
    look = partial(tracked_changes, core.workspace.start, bench.environment)
    return Rewinding(session.journal, conversation, rewinder, forget_files, look, jobs.forget)
