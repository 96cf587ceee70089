"""The question about something of a project's files that waits for the user: not now, approve it, or never."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.tool import Choice, Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Call
    from mcode.config.trust import Item, TrustStore
    from mcode.pipeline.ask import Desk

NOT_NOW, APPROVE, NEVER = "Not now", "Approve it", "Never"

CHANGED = "It is not as it was when you answered the last time:"
"""The line above what has changed since the user answered."""


@dataclass(frozen=True, slots=True)
class Wish:
    """An item, and the sentence that its facts stand under."""

    item: Item
    sentence: str


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    """Asks about items of one kind, and keeps what was answered."""

    trust: TrustStore
    header: str
    not_now: str
    """What the answer NOT_NOW comes to, in a few words; `approve` and `never` likewise."""
    approve: str
    never: str

    async def ask(self, desk: Desk, call: Call, wishes: Sequence[Wish]) -> list[str]:
        """What was answered to each wish; NOT_NOW for anything but an offered label, and where nobody answers."""
        questions = [await asyncio.to_thread(self._question, wish) for wish in wishes]
        answers = await desk.question(call, questions)
        return [_label(answer) for answer in answers or [()] * len(questions)]

    async def keep(self, item: Item, answer: str) -> str:
        """Remember APPROVE or NEVER until the item changes; what the user should know of it, mostly nothing."""
        keep = {APPROVE: self.trust.approve, NEVER: self.trust.refuse}.get(answer)
        if keep is None:
            return ""
        try:
            return await asyncio.to_thread(keep, item)
        except StorageError as error:
            return f"That could not be stored and counts for this session: {error}"

    def _question(self, wish: Wish) -> Question:
        facts = wish.item.facts.items()
        lines = [wish.sentence, *(f"  {label}: {text}" for label, text in facts if label != "file")]
        changes = self.trust.difference(wish.item)
        if changes:
            lines += [CHANGED, *(f"  {line}" for line in changes)]
        choices = (Choice(NOT_NOW, self.not_now), Choice(APPROVE, self.approve), Choice(NEVER, self.never))
        return Question("\n".join(lines), self.header, choices)


def _label(answer: tuple[str, ...]) -> str:
    return answer[0] if answer in ((APPROVE,), (NEVER,)) else NOT_NOW
