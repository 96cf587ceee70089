"""Rules that the user or a hook adds while a session runs: put in force, and kept where they were meant to be."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.load import local_settings_file
from mcode.config.write import add_rule
from mcode.errors import McodeError
from mcode.events import Notice
from mcode.permissions.updates import RulesUpdate, apply_updates, read_updates

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.call import Call
    from mcode.config.places import Places
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Policy, Proposal


@dataclass(frozen=True, slots=True)
class RuleKeeper:
    """Keeps rules for one session."""

    policy: Policy
    places: Places
    start: Path
    events: EventBus

    async def keep(self, proposal: Proposal, call: Call) -> None:
        """Put the rule that the user chose into force, and into the project's personal settings for `local`."""
        del call
        if proposal.destination == "session":
            self.policy.grant(proposal.rule)
            return
        path = local_settings_file(self.start)
        self.policy.grant(proposal.rule, kept_in=path)
        await self._write(path, "allow", proposal.rule)

    async def apply(self, updates: list[JsonObject], call: Call) -> None:
        """Apply the `updatedPermissions` of a PermissionRequest hook; added rules go where the hook says."""
        del call
        read, faults = read_updates(updates)
        for text in (*faults, *apply_updates(self.policy, read)):
            self.events.emit(Notice(text, "warning"))
        for update in read:
            if isinstance(update, RulesUpdate) and update.action == "add":
                path = self._file_of(update.destination)
                if path is not None:
                    for rule in update.rules:
                        await self._write(path, str(update.behavior), rule)

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
