"""Asking the user about servers of the project that are not approved: after the start, without holding anything up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.call import Call, Origin
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.mcp.scopes import Gathered, Wanted, gather, trust_item
from mcode.mcp.server_facts import facts_of
from mcode.wiring.item_question import APPROVE, NEVER, ItemQuestion, Wish

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.config.trust import TrustStore
    from mcode.events import EventBus
    from mcode.masking import Masker
    from mcode.mcp.entries import ServerEntry
    from mcode.pipeline.ask import Desk
    from mcode.wiring.workbench import Workbench


def find_servers(bench: Workbench) -> Gathered:
    """Read the files that name servers, as the command line wants it."""
    options = bench.options
    return gather(
        bench.places,
        bench.start,
        bench.settings,
        environment=bench.environment,
        trust=bench.trust,
        wanted=Wanted(options.mcp_configs, options.strict_mcp, options.setting_sources),
    )


@dataclass(slots=True)
class ServerTrust:
    """The servers that wait for the user, and what becomes of them."""

    trust: TrustStore
    masker: Masker
    waiting: list[ServerEntry]
    """Not yet answered for in this run."""
    approved: Callable[[ServerEntry], None] = field(default=lambda entry: None)
    """Told of each entry that may run from now on, in the loop."""
    untrusted: str = ""
    """What of the folder's settings waits for the user as well, in a sentence; empty where nothing does."""
    asked: bool = False
    """The user was asked about the whole folder in this run, and is not asked again."""
    unapproved: tuple[ServerEntry, ...] = field(init=False)
    """Those that were not approved by now, whatever was answered."""
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.unapproved = tuple(self.waiting)

    def begin(self, desk: Desk, events: EventBus) -> None:
        """Ask about servers, or say what stays off; returns at once."""
        if self.waiting and desk.attached and not self.asked:
            self._task = asyncio.create_task(self._ask(desk, events))
            said = [self.untrusted]
        else:
            said = [self.untrusted, self._off() if self.waiting else ""]
        if any(said):
            events.emit(Notice(" ".join(filter(None, (*said, _way_out(attached=desk.attached)))), "warning"))

    async def end(self) -> None:
        """Withdraw the question of a session that is left; the next session asks again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def approve(self, name: str) -> str:
        """Approve one server that waits, or that was left for later; returns a sentence. Raises UsageError."""
        entry = next((each for each in self.unapproved if each.name == name), None)
        if entry is None:
            names = ", ".join(each.name for each in self.unapproved) or "none"
            raise UsageError(
                f'No server "{name}" of this project waits for approval; nothing was changed. Those that do: {names}.'
            )
        said = await self._settle(entry, self._wish(entry), APPROVE)
        self.waiting[:] = [each for each in self.waiting if each.name != name]
        self.unapproved = tuple(each for each in self.unapproved if each.name != name)
        return said

    async def _ask(self, desk: Desk, events: EventBus) -> None:
        entries = list(self.waiting)
        wishes = [self._wish(entry) for entry in entries]
        call = Call("project-servers", "mcode", {}, Origin.USER)
        answers = await self._question().ask(desk, call, wishes)
        self.waiting.clear()
        for entry, wish, answer in zip(entries, wishes, answers, strict=True):
            events.emit(Notice(await self._settle(entry, wish, answer)))

    async def _settle(self, entry: ServerEntry, wish: Wish, answer: str) -> str:
        """Do what the answer says; returns a sentence or two."""
        note = await self._question().keep(wish.item, answer)
        if answer == APPROVE:
            self.approved(entry)
            said = f'The server "{entry.name}" of this project is approved.'
        elif answer == NEVER:
            said = f'The server "{entry.name}" of this project stays off until its entry changes.'
        else:
            said = f'The server "{entry.name}" of this project was not approved; it stays off in this run.'
        return f"{said} {note}".rstrip()

    def _question(self) -> ItemQuestion:
        return ItemQuestion(
            self.trust,
            "Server of this project",
            not_now="it stays off, and you are asked at the next start",
            approve="mcode may use it here, until its entry changes",
            never="it stays off here, until its entry changes",
        )

    def _wish(self, entry: ServerEntry) -> Wish:
        what = "start" if entry.kind == "stdio" else "contact"
        sentence = (
            f'{entry.path} has a server "{entry.name}", which mcode would {what} when its tools are used:'
        )
        return Wish(trust_item(entry, facts_of(entry, self.masker.mask)), sentence)

    def _off(self) -> str:
        names = ", ".join(entry.name for entry in self.waiting)
        many = len(self.waiting) > 1
        return (
            f"{'Servers' if many else 'A server'} of this project {'are' if many else 'is'} not approved and stay"
            f"{'' if many else 's'} off: {names}."
        )


def _way_out(*, attached: bool) -> str:
    if attached:
        return "/trust shows all of it and lets you change that."
    return (
        "Start mcode in a terminal to be asked, use `mcode mcp approve` for a server, or give --trust to trust this "
        "folder for one run."
    )
