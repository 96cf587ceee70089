"""Hooks that only observe: they are told of events, and nothing waits for their answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.call import Status
from mcode.events import (
    ApprovalRequested,
    QuestionAsked,
    RequestStarted,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from mcode.model.failure_words import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.config.memory import MemoryFile
    from mcode.events import Event, EventBus
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hooks import HookRunner
    from mcode.tool import Workspace

IDLE_AFTER = 60.0
"""Seconds without a message after which the user is said to be waited for."""

_TYPES = {"managed": "Managed", "user": "User", "project": "Project", "local": "Local"}


class HookWatch:
    """Turns events of one session into the events of hooks."""

    def __init__(
        self,
        hooks: HookRunner,
        events: EventBus,
        workspace: Workspace,
        memory: Callable[[], Sequence[MemoryFile]],
        *,
        interactive: bool,
    ) -> None:
        self._hooks = hooks
        self._workspace = workspace
        self._memory = memory
        self._interactive = interactive
        self.take_failure: Callable[[], str] = lambda: UNKNOWN
        """What the last request failed of, in hooks' words; asking forgets it."""
        self._seen: set[Path] = set()
        self._started = False
        self._directory = workspace.current
        self._idle: asyncio.TimerHandle | None = None
        self._leave = events.subscribe(self._receive)

    def close(self) -> None:
        """The session ends: nobody is waited for any more."""
        self._leave()
        self._stop_waiting()

    def _receive(self, event: Event) -> None:
        match event:
            case ApprovalRequested(call=call):
                text = f"mcode needs your permission to use {call.tool}"
                self._notify(text, "permission_prompt", self._hooks.maker_of(call))
            case QuestionAsked():
                self._notify("mcode has a question for you", "elicitation_dialog")
            case TurnStarted():
                self.take_failure()  # of what went before, such as a summary that the user asked for
                self._stop_waiting()
            case RequestStarted():
                self._tell_instructions()
            case TurnFinished(reason=reason, text=text):
                if reason == "error":
                    error = self.take_failure()
                    self._hooks.observe("StopFailure", {"error": error, "error_details": text}, error)
                self._wait_for_user()
            case ToolFinished():
                self._tell_end_of(event)
            case _:
                pass

    def _tell_end_of(self, event: ToolFinished) -> None:
        outcome = event.outcome
        if outcome.status is Status.DENIED:
            fields = {**self._hooks.about(outcome.call), "reason": outcome.text}
            self._hooks.observe("PermissionDenied", fields, outcome.call.tool)
        if self._workspace.current != self._directory:
            fields = {"old_cwd": str(self._directory), "new_cwd": str(self._workspace.current)}
            self._directory = self._workspace.current
            self._hooks.observe("CwdChanged", fields)

    def _tell_instructions(self) -> None:
        """Files of instructions reach the model with a request: the first, or the one after a directory was read in."""
        why = "nested_traversal" if self._started else "session_start"
        self._started = True
        for file in self._memory():
            if file.path not in self._seen:
                self._seen.add(file.path)
                kind = _TYPES.get(file.scope, file.scope)
                fields = {"file_path": str(file.path), "memory_type": kind, "load_reason": why}
                self._hooks.observe("InstructionsLoaded", fields, why)

    def _notify(self, message: str, kind: str, maker: JsonObject | None = None) -> None:
        fields = {"message": message, "title": "mcode", "notification_type": kind, **(maker or {})}
        self._hooks.observe("Notification", fields, kind)

    def _wait_for_user(self) -> None:
        self._stop_waiting()
        if self._interactive:
            self._idle = asyncio.get_running_loop().call_later(IDLE_AFTER, self._say_idle)

    def _say_idle(self) -> None:
        self._idle = None
        self._notify("mcode is waiting for your input", "idle_prompt")

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
