"""The line front end over the real agent and the obedient model, to be run in a pseudo-terminal."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.call import Call, Origin, Outcome, Status
from mcode.commands.standard import standard_registry
from mcode.config.load import load_settings
from mcode.config.memory_files import Memory
from mcode.config.places import find_places
from mcode.config.settings import UiSettings
from mcode.events import (
    ApprovalRequested,
    ApprovalResolved,
    HookRan,
    HookStarted,
    ModelChanged,
    Notice,
    QueueChanged,
    RetryScheduled,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.masking import Masker
from mcode.model.scripted import ScriptedClient
from mcode.session.store import SessionStore
from mcode.tool import Preview
from mcode.ui.arrival import Arrival
from mcode.ui.line import hands
from mcode.ui.line.app import LineApp
from mcode.ui.look import look_for
from mcode.wiring.endpoint import Endpoint
from mcode.wiring.options import Options
from mcode.wiring.workbench import Workbench
from tests.ui.arrived import arrived
from tests.ui.line.obedient import HOSTILE, obedient_script

importlib.import_module("jsonschema")  # before the fork, so that no terminal waits for it

if TYPE_CHECKING:
    from mcode.agent.agent import Agent
    from mcode.events import Event


def start(arguments: list[str]) -> int:
    """Run the front end; the first argument is the log for the test, the others are options."""
    log = Path(arguments[0])
    logging.basicConfig(filename=log.with_suffix(".debug"))
    return asyncio.run(_main(Diary(log), arguments[1:]))


class Diary:
    """Writes down, a line of JSON each, what the agent went through."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, **entry: object) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def _write_soon(self, rounds: int, **entry: object) -> None:
        """Write so many rounds of the loop later: by then the agent is idle, and keys mean what they mean then."""
        if rounds:
            asyncio.get_running_loop().call_soon(lambda: self._write_soon(rounds - 1, **entry))
        else:
            self.write(**entry)

    def follow(self, agent: Agent) -> Agent:
        """Write down the agent's events and its end."""
        close = agent.close

        async def noted_close(reason: str) -> None:
            self.write(closed=reason)
            await close(reason)

        agent.close = noted_close
        agent.events.subscribe(lambda event: self._receive(agent, event))
        return agent

    def _receive(self, agent: Agent, event: Event) -> None:
        match event:
            case TurnStarted(text=text):
                self.write(message=text)
                if text.startswith("hostile"):
                    _emit_hostile_events(agent)
            case TurnFinished(reason=reason):
                self._write_soon(3, turn=reason)
            case ApprovalRequested(call=call):
                self.write(asked=call.tool)
            case ApprovalResolved(choice=choice) if choice != "withdrawn":
                self.write(decided=choice)
            case ToolFinished(outcome=outcome):
                call = outcome.call
                self.write(finished=call.tool, origin=call.origin, status=outcome.status, text=outcome.text)
            case _:
                pass


async def _main(diary: Diary, options: list[str]) -> int:
    task = asyncio.ensure_future(_run(diary, options))
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        task.cancel()

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (signal.SIGTERM,) if "--ignore-hangup" in options else (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        return 128 + received[0]


async def _run(diary: Diary, options: list[str]) -> int:
    hands._TWICE = 60.0  # a busy machine may take its time between two keys
    bench = _workbench()

    async def open_agent(source: str, reference: str | None) -> Agent:
        return diary.follow(await bench.open_agent(source, reference))

    ui = UiSettings(idle_time=0.5, arm_delay=0.3) if "--quick" in options else UiSettings()
    arm = [float(each.removeprefix("--arm=")) for each in options if each.startswith("--arm=")]
    ui = replace(ui, arm_delay=arm[0]) if arm else ui
    source = "resume" if "--resume" in options else "startup"
    agent = await open_agent(source, None)
    arrival = Arrival(agent, bench.surroundings(), standard_registry(), open_agent, source, ("A remark.",))
    app = LineApp(
        arrived(arrival),
        start=bench.start,
        home=bench.places.home,
        look=look_for(ui, os.environ, decoration="--no-decoration" not in options),
        messages=[each.removeprefix("--say=") for each in options if each.startswith("--say=")],
    )
    return await app.run_to_end()


def _workbench() -> Workbench:
    environment = dict(os.environ)
    places = find_places(environment)
    project = Path.cwd().resolve()
    masker = Masker(environment)
    return Workbench(
        options=Options(),
        environment=environment,
        places=places,
        start=project,
        settings=load_settings(places, project, flag=None),
        endpoint=Endpoint(ScriptedClient(obedient_script()), "scripted-1"),
        masker=masker,
        store=SessionStore(places.project_directory(project), masker),
        memory=Memory(project, places.home),
    )


def _emit_hostile_events(agent: Agent) -> None:
    """Hostile text in every kind of block, also where this script's model could not bring it about."""
    emit = agent.events.emit
    call = Call("call_h", f"Bash{HOSTILE}", {"command": HOSTILE, HOSTILE: HOSTILE})
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
