"""Rules that the user or a hook adds while a session runs: put in force, and kept where they were meant to be."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.load import local_settings_file
from mcode.config.write import add_rule
from mcode.errors import McodeError, UsageError
from mcode.events import Notice, ToolFinished
from mcode.permissions.updates import ModeUpdate, RulesUpdate, apply_updates, read_updates

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from mcode.call import Call
    from mcode.config.places import Places
    from mcode.events import Event, EventBus
    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Policy, Proposal


@dataclass(frozen=True, slots=True)
class RuleKeeper:
    """Keeps rules for one session."""

    policy: Policy
    places: Places
    start: Path
    events: EventBus
    made: Callable[[Sequence[str]], Awaitable[None]]
    """Told of rules that are in force from now on, beyond one program."""
    enter_mode: Callable[[str], None]
    """Changes the session's mode, with its record and its sign on the screen. Raises UsageError."""

    def __post_init__(self) -> None:
        self.events.subscribe(self._program_ended)

    async def keep(self, proposal: Proposal, call: Call) -> None:
        """Put the rule that the user chose into force, and into the project's personal settings for `local`."""
        if proposal.destination == "program" and call.parent is not None:
            for rule in proposal.rules:
                self.policy.grant(rule, program=call.parent, in_plan=proposal.in_plan)
            return
        if proposal.destination == "session":
            for rule in proposal.rules:
                self.policy.grant(rule, in_plan=proposal.in_plan)
            await self.made(proposal.rules)
            return
        path = local_settings_file(self.start)
        for rule in proposal.rules:
            self.policy.grant(rule, kept_in=path)
            await self._write(path, "allow", rule)
        await self.made(proposal.rules)

    def _program_ended(self, event: Event) -> None:
        if isinstance(event, ToolFinished):
            self.policy.end_program(event.outcome.call.id)

    async def apply(self, updates: list[JsonObject]) -> None:
        """Apply the `updatedPermissions` of a PermissionRequest hook; added rules go where the hook says."""
        read, faults = read_updates(updates)
        rest = [update for update in read if not isinstance(update, ModeUpdate)]
        for text in (*faults, *apply_updates(self.policy, rest)):
            self.events.emit(Notice(text, "warning"))
        for update in read:
            if isinstance(update, ModeUpdate):
                try:
                    self.enter_mode(str(update.mode))
                except UsageError as error:
                    self.events.emit(Notice(str(error), "warning"))
        for update in read:
            if isinstance(update, RulesUpdate) and update.action == "add":
                path = self._file_of(update.destination)
                if path is not None:
                    for rule in update.rules:
                        await self._write(path, str(update.behavior), rule)
                await self.made(update.rules)

    def _file_of(self, destination: str) -> Path | None:
        """The settings file that a destination names; None for the session, and for files that the team shares."""
        if destination == "localSettings":
            return local_settings_file(self.start)
        return self.places.settings_file if destination == "userSettings" else None

    async def _write(self, path: Path, behavior: str, rule: str) -> None:
        """A rule that cannot be written counts for this session all the same, and the user is told."""
        try:
            said = await asyncio.to_thread(add_rule, path, behavior, rule, places=self.places)
            if said:
                self.events.emit(Notice(said))
        except McodeError as error:
            text = f"The rule {rule} counts for this session only, since it could not be kept: {error}"
            self.events.emit(Notice(text, "warning"))
