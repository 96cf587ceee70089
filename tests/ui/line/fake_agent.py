"""An agent without a model: what the user sends says what happens. Bus, desk, policy and catalogue are real."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.call import Call, Origin, Outcome, Status
from mcode.catalog.catalog import Catalog
from mcode.config.settings import Settings
from mcode.events import (
    AssistantMessage,
    EventBus,
    HookRan,
    HookStarted,
    ModeChanged,
    ModelChanged,
    Notice,
    QueueChanged,
    RetryScheduled,
    SessionStarted,
    TextDelta,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.permissions.decide import Policy
from mcode.permissions.modes import Mode, parse_mode
from mcode.permissions.verdict import Behavior, Proposal, Verdict
from mcode.pipeline.ask import Desk
from mcode.tool import Choice, Preview, Question, Tool, ToolResult, Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.events import Event, Ledger
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices


HOSTILE = (
    "EVIL\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\\x1bPq\x1b\\\x1b_x\x1b\\\x1b[2J\x1b[6n\x1bc"
    "\x9b2J\x9d0;x\x9c\x07\x08\r\x00\u202e\u200b\U000e0041\x1b]"
)
"""What would steer a terminal, reorder or hide text."""


class Look(Tool):
    """A tool that reads."""

    name = "Look"
    description = "Looks at something."

    def __init__(self) -> None:
        self.input_schema = {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        }

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Prefix:
    tools: tuple[JsonObject, ...]


class Builder:
    def preview(self, model: str) -> Prefix:
        del model
        return Prefix(({"name": "Look", "description": "Looks.", "input_schema": {"type": "object"}},))


@dataclass
class Journal:
    path: Path = Path("/nowhere.jsonl")


@dataclass
class Session:
    id: str = "0f0e0d0c-fake"
    journal: Journal = field(default_factory=Journal)


class FakeAgent:
    """Does what the message says: `stream 300; ask; work 2; question; fail`. Everything it hears goes to a log."""

    def __init__(self, start: Path, log: Path) -> None:
        self._log_file = log
        self._queue: deque[str] = deque()
        self._task: asyncio.Task[None] | None = None
        self._drain_task: asyncio.Task[None] | None = None
        self._turn = 0
        self._calls = 0
        self.events = EventBus()
        self.desk = Desk(self.events)
        self.settings = Settings()
        self.workspace = Workspace(start)
        self.policy = Policy(self.settings, self.workspace, Mode.DEFAULT)
        self.catalog = Catalog([Look()])
        self.builder = Builder()
        self.session = Session()
        self.name = ""
        self.model = "fake-model"
        self.ledger: Ledger | None = None

    @property
    def mode(self) -> str:
        return str(self.policy.mode)

    @property
    def busy(self) -> bool:
        return self._task is not None

    def log(self, **entry: object) -> None:
        with self._log_file.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    async def start(self, source: str) -> None:
        self.events.emit(SessionStarted(self.session.id, source))

    async def close(self, reason: str) -> None:
        self.interrupt()
        self.log(closed=reason)

    async def submit(self, text: str) -> TurnFinished:
        self.queue(text)
        while self._queue or self.busy:
            await asyncio.sleep(0.01)
        return TurnFinished(self._turn, "end")

    def queue(self, text: str) -> None:
        self._queue.append(text)
        self.events.emit(QueueChanged(tuple(self._queue)))
        if self._drain_task is None or self._drain_task.done():
            self._drain_task = asyncio.create_task(self._drain())

    def take_back(self) -> str | None:
        if not self._queue:
            return None
        text = self._queue.pop()
        self.events.emit(QueueChanged(tuple(self._queue)))
        return text

    def interrupt(self) -> bool:
        if self._task is None:
            return False
        self._task.cancel()
        return True

    async def shell(self, command: str) -> Outcome:
        call = Call("user_1", "Bash", {"command": command}, Origin.USER)
        self.events.emit(ToolStarted(call, Preview(command)))
        process = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            self.events.emit(ToolFinished(Outcome(call, Status.CANCELLED, "cancelled")))
            raise
        outcome = Outcome(call, Status.OK, output.decode(), summary=f"exit {process.returncode}")
        self.events.emit(ToolFinished(outcome))
        self.log(shell=command)
        return outcome

    def transcript(self) -> Sequence[Event]:
        return ()

    def set_model(self, name: str) -> None:
        self.model = name
        self.events.emit(ModelChanged(name))

    def set_mode(self, mode: str) -> None:
        self.policy.set_mode(parse_mode(mode)[0])
        self.events.emit(ModeChanged(mode))

    def rename(self, name: str) -> None:
        self.name = name

    async def _drain(self) -> None:
        while self._queue:
            text = self._queue.popleft()
            self.events.emit(QueueChanged(tuple(self._queue)))
            self._task = asyncio.create_task(self._run(text))
            await asyncio.wait({self._task})
            self._task = None

    async def _run(self, text: str) -> None:
        self._turn += 1
        self.log(message=text)
        self.events.emit(TurnStarted(self._turn, text))
        try:
            for step in text.split(";"):
                await self._step(step.strip())
        except asyncio.CancelledError:
            self.log(turn="interrupted")
            self.events.emit(TurnFinished(self._turn, "interrupted"))
            raise
        self.log(turn="end")
        self.events.emit(TurnFinished(self._turn, "end"))

    async def _step(self, step: str) -> None:
        words = step.split()
        match words:
            case ["stream", count]:
                for number in range(1, int(count) + 1):
                    self.events.emit(TextDelta(f"line {number:04d} of "))
                    await asyncio.sleep(0.002)
                    self.events.emit(TextDelta("the answer\n"))
                    await asyncio.sleep(0.002)
                self._message("")
            case ["work", seconds]:
                await asyncio.sleep(float(seconds))
            case ["ask"]:
                await self._ask()
            case ["ask", "two"]:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._ask())
                    group.create_task(self._ask())
            case ["ask", "hostile"]:
                await self._ask(HOSTILE)
            case ["hostile"]:
                self._hostile()
            case ["question"]:
                await self._question()
            case ["fail"]:
                raise RuntimeError("a fault made by the test")
            case _:
                self.events.emit(TextDelta(f"You said: {step}"))
                self._message(f"You said: {step}")

    def _message(self, text: str) -> None:
        self.events.emit(AssistantMessage({"role": "assistant", "content": [{"type": "text", "text": text}]}))

    def _hostile(self) -> None:
        """Hostile text in every kind of block."""
        emit = self.events.emit
        call = Call("call_h", f"Bash{HOSTILE}", {"command": HOSTILE, HOSTILE: HOSTILE})
        emit(TextDelta(HOSTILE + "\n" + HOSTILE[:5]))
        emit(TextDelta(HOSTILE[5:] + "\n"))
        self._message("")
        emit(ToolStarted(call, Preview(HOSTILE), HOSTILE))
        emit(ToolProgress(call.id, HOSTILE))
        diff = f"--- a\n+++ b\n@@ -1,1 +1,2 @@\n {HOSTILE}\n+{HOSTILE}\n-{HOSTILE}"
        emit(ToolFinished(Outcome(call, Status.OK, HOSTILE, summary=HOSTILE, diff=diff, decision=HOSTILE)))
        emit(ToolFinished(Outcome(call, Status.FAILED, f"{HOSTILE}\n{HOSTILE}", summary=HOSTILE)))
        shell = Call("call_s", "Bash", {"command": HOSTILE}, Origin.USER)
        emit(ToolStarted(shell, Preview(HOSTILE)))
        emit(ToolFinished(Outcome(shell, Status.OK, HOSTILE, full_text=HOSTILE)))
        emit(HookStarted("h", "PreToolUse", HOSTILE))
        emit(HookRan("h", "PreToolUse", HOSTILE, "failed", stderr=HOSTILE))
        emit(RetryScheduled(2, 3, 1.0, HOSTILE, kind=HOSTILE))
        emit(TodosChanged(({"content": HOSTILE, "status": "in_progress"},)))
        emit(QueueChanged((HOSTILE,)))
        emit(QueueChanged(()))
        emit(ModelChanged(HOSTILE))
        emit(Notice(HOSTILE, "warning"))

    async def _ask(self, command: str = "make deploy") -> None:
        self._calls += 1
        call = Call(f"call_{self._calls}", "Bash", {"command": command}, turn=self._turn)
        preview = Preview(command, body=f"{command}\nsecond line \u202e of it")
        verdict = Verdict(
            Behavior.ASK,
            f"no rule allows `{command}`",
            proposals=(
                Proposal(f"Bash({command})", "session", f"Allow `{command}` for this session"),
                Proposal(f"Bash({command})", "local", f"Always allow `{command}` here"),
            ),
        )
        self.events.emit(ToolStarted(call, preview))
        self.log(asked=call.id)
        answer = await self.desk.approve(call, preview, verdict, str(self.workspace.current))
        self.log(decided=answer.choice, comment=answer.comment, call=call.id)
        status = Status.OK if answer.allowed else Status.DENIED
        self.events.emit(ToolFinished(Outcome(call, status, answer.comment, summary="exit 0")))

    async def _question(self) -> None:
        call = Call("call_q", "AskUserQuestion", {})
        questions = [
            Question("Which colour?", "Colour", (Choice("red"), Choice("blue", "as the sea"))),
            Question("Which sizes?", choices=(Choice("S"), Choice("M"), Choice("L")), several=True),
            Question("What name?"),
        ]
        answers = await self.desk.question(call, questions)
        self.log(answers=answers)
