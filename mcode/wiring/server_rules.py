"""Allow rules about servers' tools: each holds for the tools as they were when it was made, or first seen with them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.permissions.decide import Behavior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.mcp.servers import Servers
    from mcode.permissions.decide import Policy
    from mcode.permissions.rules import Rule

PREFIX = "mcp__"


@dataclass(slots=True)
class ServerRules:
    """Has the servers pin what the rules of one session cover."""

    servers: Servers
    policy: Policy
    _pinning: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def meet(self, server: str) -> None:
        """What a server offers is known: rules of files that were not seen with it before pin it as it is."""
        rules = [rule for rule in self._allowing() if not rule.granted]
        if rules:
            task = asyncio.create_task(self._pin(server, rules, anew=False))
            self._pinning.add(task)
            task.add_done_callback(self._pinning.discard)

    async def made(self, texts: Sequence[str]) -> None:
        """The user, or a hook in their place, has just made these rules."""
        rules = [rule for rule in self._allowing() if rule.granted and rule.text in texts]
        if rules:
            for status in self.servers.statuses():
                await self._pin(status.name, rules, anew=True)

    async def close(self) -> None:
        """Wait until everything is pinned that was met."""
        if self._pinning:
            await asyncio.wait(self._pinning)

    def _allowing(self) -> Iterable[Rule]:
        return (
            rule
            for rule in self.policy.rules
            if rule.behavior is Behavior.ALLOW and rule.tool.startswith(PREFIX)
        )

    async def _pin(self, server: str, rules: Sequence[Rule], *, anew: bool) -> None:
        known = self.servers.get(server)
        if known is None or not known.definitions:
            return
        covered = {
            rule.text: [each for each in known.definitions if rule.is_about(each.name, server)]
            for rule in rules
        }
        about = {text: definitions for text, definitions in covered.items() if definitions}
        if about:
            await self.servers.permit(server, about, anew=anew)
