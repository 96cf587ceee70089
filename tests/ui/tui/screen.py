"""The real screen over a whole session in this process, driven by Textual's pilot."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from textual.events import Key
from textual.keys import _character_to_key

from mcode.call import Call, Origin
from mcode.commands.standard import standard_registry
from mcode.events import ApprovalRequested, ApprovalResolved, TurnFinished
from mcode.permissions.decide import Behavior, Proposal, Verdict
from mcode.tool import Preview
from mcode.ui.arrival import Arrival
from mcode.ui.look import Look
from mcode.ui.tui.app import McodeApp
from tests.stage import stage
from tests.ui.arrived import arrived
from tests.ui.tui.settled import press, settle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from mcode.pipeline.ask import Answer
    from tests.stage import Stage

IDLE, ARM = 0.2, 0.15
"""Shorter than a user's, so that a test need not wait as long."""

RESTED = IDLE + 0.15
COUNTS = RESTED + ARM + 0.05
"""After these an approval has the focus, and its keys count."""


@dataclass(slots=True)
class Driven:
    """A running screen."""

    app: McodeApp
    pilot: Pilot[int]
    stage: Stage
    answers: list[asyncio.Task[Answer]] = field(default_factory=list["asyncio.Task[Answer]"])

    async def type(self, text: str) -> None:
        """Type a text as fast as the terminal delivers it; a line end is Enter."""
        for letter in text:
            key = Key("enter", "\r") if letter == "\n" else Key(_character_to_key(letter), letter)
            self.app.post_message(key)
        await self.settle()
        if text.endswith("\n"):
            await self.until(lambda: not self.app.prompt._guard.waits)

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until the screen shows what the keys so far, and what the session has said so far, make of it."""
        if self.app.is_running:
            self.app.pump.flush()
            await settle(self.pilot)

    async def armed(self) -> None:
        """Wait until an approval has the focus and its keys count."""
        await self.until(lambda: self.focused == "ApprovalPanel" and "Enter confirm" in self.shown)

    async def choose(self, answer: str) -> None:
        """Wait until an approval's keys count, choose the answer that begins so, and confirm."""
        await self.armed()
        number = re.findall(rf"(\d)  {answer}", self.shown)[-1]
        await self.press(number)
        await self.until(lambda: bool(re.search(rf"> {number}  {answer}", self.shown)))
        await self.press("enter")

    async def rest(self, seconds: float) -> None:
        """Let time pass with the hands at rest."""
        await self.pilot.pause(seconds)

    async def until(self, met: Callable[[], bool], seconds: float = 45.0) -> None:
        """Wait for something, and then until all widgets have done what they had to do."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not met():
            assert loop.time() < end, f"waited in vain:\n{self.shown}"
            await asyncio.sleep(0.02)
        await self.settle()

    async def finished(self, turns: int = 1) -> None:
        """Wait until so many turns have ended and the screen knows it: until then keys mean something else."""
        agent = self.stage.agent
        await self.until(
            lambda: (
                len(self.stage.of(TurnFinished)) == turns and not agent.busy and not self.app.sending.ahead
            )
        )

    @property
    def rows(self) -> list[str]:
        """What the screen shows, row by row."""
        screen = self.app.screen
        strips = screen._compositor.render_strips()
        return [strip.text.rstrip() for strip in strips]

    @property
    def shown(self) -> str:
        return "\n".join(self.rows)

    @property
    def draft(self) -> str:
        return self.app.prompt.draft

    @property
    def focused(self) -> str:
        """Class of the widget that has the focus."""
        return type(self.app.focused).__name__

    @property
    def decided(self) -> list[str]:
        """The choices that were made, withdrawals included."""
        return [event.choice for event in self.stage.of(ApprovalResolved)]

    async def ask(self, command: str, *, diff: str | None = None, rules: tuple[Proposal, ...] = ()) -> str:
        """Have a call wait for the user; returns its approval's id."""
        number = len(self.answers) + 1
        call = Call(f"toolu_{number}", "Bash", {"command": command}, Origin.MODEL, turn=1)
        verdict = Verdict(Behavior.ASK, "no rule allows it", proposals=rules)
        preview = Preview(command.partition("\n")[0], body=command, diff=diff)
        desk = self.stage.agent.desk
        asked = desk.approve(call, preview, verdict, str(self.stage.agent.workspace.start))
        self.answers.append(asyncio.create_task(asked))
        await self.until(lambda: len(self.stage.of(ApprovalRequested)) >= number)
        identifier = self.stage.of(ApprovalRequested)[-1].approval_id
        waiting = self.app.deciding
        await self.until(lambda: any(_id(each) == identifier for each in waiting.waiting))
        return identifier


def _id(request: Any) -> str:
    return request.approval_id if isinstance(request, ApprovalRequested) else request.question_id


@asynccontextmanager
async def screen(
    directory: Path,
    script: dict[str, Any] | None = None,
    *,
    size: tuple[int, int] = (100, 30),
    manners: Look | None = None,
    settings: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    source: str = "startup",
    reference: str | None = None,
    first_message: str | None = None,
    theme: str | None = None,
    project: str = "project",
    new_prefixes: int = 0,
    around: dict[str, Any] | None = None,
    before: Callable[[McodeApp, Stage], None] = lambda app, stage: None,
) -> AsyncGenerator[Driven]:
    """A session with a scripted model, and the screen on it.

    `around` changes what commands know beside the session; `before` is called before the screen runs.
    """
    async with stage(
        directory,
        script or {"turns": []},
        settings=settings,
        source=source,
        reference=reference,
        start=False,
        project=project,
        new_prefixes=new_prefixes,
    ) as opened:
        bench = opened.bench
        arrival = Arrival(
            opened.agent,
            replace(bench.surroundings(), **(around or {})),
            standard_registry(),
            bench.open_agent,
            source,
        )
        app = McodeApp(
            arrived(arrival),
            start=bench.start,
            home=bench.places.home,
            manners=manners or Look(idle=IDLE, arm=ARM),
            environment={"LANG": "C.UTF-8", **(environment or {})},
            messages=(first_message,) if first_message else (),
            theme=theme,
        )
        before(app, opened)
        try:
            async with app.run_test(size=size) as pilot:
                driven = Driven(app, pilot, opened)
                await driven.until(app.sending.ready.is_set)
                yield driven
                for task in driven.answers:
                    task.cancel()
                await asyncio.gather(*driven.answers, return_exceptions=True)
        finally:
            app.pump.stop()
            await app.sessions.finish("other")
