"""The components that an `Agent` is constructed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcode.agent.conversation import Conversation
    from mcode.agent.meter import Meter
    from mcode.agent.replies import ModelCaller
    from mcode.agent.requests import RequestBuilder
    from mcode.agent.rewinding import Rewinding
    from mcode.agent.room import RoomMaker
    from mcode.agent.skills import Skills
    from mcode.agent.style import Style
    from mcode.agent.subagents import Subagents
    from mcode.agent.turn import TurnLoop
    from mcode.builtins.jobs import Jobs
    from mcode.catalog.catalog import Catalog
    from mcode.config.settings import Settings
    from mcode.events import EventBus, Notice
    from mcode.permissions.decide import Policy
    from mcode.pipeline.ask import Desk
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.programs import ProgramsControl
    from mcode.pipeline.run import Pipeline
    from mcode.session.store import OpenSession
    from mcode.tool import Workspace


@dataclass(frozen=True, slots=True)
class Parts:
    """What `wiring` puts an agent together from."""

    events: EventBus
    desk: Desk
    policy: Policy
    settings: Settings
    workspace: Workspace
    catalog: Catalog
    session: OpenSession
    conversation: Conversation
    hooks: HookRunner
    pipeline: Pipeline
    builder: RequestBuilder
    caller: ModelCaller
    meter: Meter
    loop: TurnLoop
    jobs: Jobs
    programs: ProgramsControl
    rewinding: Rewinding
    room: RoomMaker
    skills: Skills
    subagents: Subagents
    style: Style
    notices: Sequence[Notice]
    """What the user is told when the session starts."""
    neighbours: Callable[[], Sequence[Notice]]
    """What is new of other sessions in this folder; asked at each turn."""
    prepare: Callable[[], Awaitable[None]]
    """Loads and tidies what must be ready before the first call."""
    ready: Callable[[], Awaitable[None]]
    """Waits, before a turn, for what the first request has to hold; returns at once ever after."""
    choose_model: Callable[[], Awaitable[str]]
    """The name of the model, where none was named at the start; raises UsageError."""
    shutdown: Callable[[], Awaitable[None]]
    """Ends child processes and closes the endpoint and the journal."""
