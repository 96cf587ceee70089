"""The objects that all parts of a session share, made before any of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.agent.conversation import Conversation
from mcode.events import EventBus
from mcode.pipeline.ask import Desk
from mcode.tool import Workspace
from mcode.wiring.policy import session_policy

if TYPE_CHECKING:
    from mcode.events import Notice
    from mcode.permissions.decide import Policy
    from mcode.session.store import OpenSession
    from mcode.wiring.workbench import Workbench


@dataclass(frozen=True, slots=True)
class SessionCore:
    """The objects that a session shares among all of its parts."""

    bench: Workbench
    session: OpenSession
    events: EventBus
    conversation: Conversation
    workspace: Workspace
    policy: Policy
    desk: Desk


def make_core(bench: Workbench, session: OpenSession) -> tuple[SessionCore, tuple[Notice, ...]]:
    """The core of an open session, and what the user should know of its permission mode."""
    events = EventBus()
    conversation = Conversation(session.journal)
    directories = (*bench.settings.additional_directories, *map(Path, bench.options.add_dirs))
    workspace = Workspace(bench.start, directories, home=bench.places.home)
    policy, notices = session_policy(bench, workspace, session, conversation.mode)
    return SessionCore(bench, session, events, conversation, workspace, policy, Desk(events)), notices
