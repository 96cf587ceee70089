"""Asks the user whether a project's file may do what it says; the answer holds until the file changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.trust import COMMAND_FILE, Item
from mcode.events import Notice
from mcode.wiring.item_question import APPROVE, ItemQuestion, Wish

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.call import Call
    from mcode.config.settings import HookHandler
    from mcode.config.trust import TrustStore
    from mcode.events import EventBus
    from mcode.pipeline.ask import Desk

HEADER = "Command file"


@dataclass(frozen=True, slots=True)
class FileConsent:
    """The user's word on files of one project."""

    trust: TrustStore
    desk: Desk
    events: EventBus

    async def given(self, item: Item, wish: str, call: Call) -> bool:
        """Whether the file of `item` may do what its facts say; `wish` is the sentence that they stand under."""
        if await asyncio.to_thread(self.trust.is_approved, item):
            return True
        if await asyncio.to_thread(self.trust.is_refused, item):
            return False
        question = ItemQuestion(
            self.trust,
            HEADER,
            not_now="it may not, this time",
            approve="it may, until the file changes",
            never="it may not, until the file changes",
        )
        (answer,) = await question.ask(self.desk, call, [Wish(item, wish)])
        note = await question.keep(item, answer)
        if note:
            self.events.emit(Notice(note))
        return answer == APPROVE


def file_item(path: Path, folder: Path, digest: str, facts: Mapping[str, str]) -> Item:
    """A file of a project as the store of approvals knows it."""
    name = str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
    return Item(COMMAND_FILE, name, digest, folder, {"file": name, **facts})


def hook_facts(hooks: tuple[HookHandler, ...]) -> dict[str, str]:
    """What hooks run, for people, by event."""
    facts: dict[str, str] = {}
    for hook in hooks:
        words = " ".join((hook.command, *(hook.args or ())))
        label = f"hook {hook.event}{f' ({hook.matcher})' if hook.matcher else ''}"
        facts[label] = f"{facts[label]}; {words}" if label in facts else words
    return facts
