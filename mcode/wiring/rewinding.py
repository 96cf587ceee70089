"""The way back: a session's rewinds, put together from its store of old contents and the file tools' means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.rewinding import Rewinding
from mcode.builtins.put_back import UserFiles
from mcode.session.rewind import Rewinder

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.agent.conversation import Conversation
    from mcode.builtins.file_state import FileState
    from mcode.session.store import OpenSession


def make_rewinding(
    session: OpenSession, conversation: Conversation, file_state: FileState, pending: Path
) -> Rewinding:
    """`pending`: where temporaries of changed files are announced."""

    def forget_files() -> None:
        file_state.forget()
        conversation.append("files", {"read": file_state.remembered()})

    rewinder = Rewinder(session.undo, UserFiles(pending), session.directory / "kept")
    return Rewinding(session.journal, conversation, rewinder, forget_files)
