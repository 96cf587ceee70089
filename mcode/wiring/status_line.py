"""The user's own status line: a command of the settings, told of the session, whose first lines are shown."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcode import __version__, jsontext
from mcode.events import (
    AssistantMessage,
    Compacted,
    ModeChanged,
    ModelChanged,
    Notice,
    SessionStarted,
    StatusText,
    ToolFinished,
    TurnFinished,
)
from mcode.model.reading import sound
from mcode.process.environment import find_program, without_model_keys
from mcode.process.run import ProcessSpec, run_process
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.agent import Agent
    from mcode.events import Event, EventBus
    from mcode.jsontext import JsonObject
    from mcode.wiring.workbench import Workbench

REST = 0.3
"""Seconds without another event before the command runs."""

LIMIT = 5.0
"""Seconds that one run may take; it is ended then."""

LINES, WIDTH = 3, 400
"""What is shown of the output: lines, and characters of each."""

OUTPUT_LIMIT = 16 * 1024
"""Bytes that are read of it."""

LARGE = 200_000
"""Tokens of input above which `exceeds_200k_tokens` is true."""


class StatusCommand:
    """Runs the command behind events, never two at a time, and shows what the last run printed."""

    def __init__(self, command: str, bench: Workbench, events: EventBus, agent: Callable[[], Agent]) -> None:
        self._command = command
        self._bench = bench
        self._events = events
        self._agent = agent
        self._began = time.monotonic()
        self._added = self._removed = 0
        self._shown = ""
        self._told = False
        self._timer: asyncio.TimerHandle | None = None
        self._run: asyncio.Task[None] | None = None
        self._leave = events.subscribe(self._receive)

    async def close(self) -> None:
        """The session ends, and a run with it."""
        self._leave()
        if self._timer is not None:
            self._timer.cancel()
        if self._run is not None:
            self._run.cancel()
            await asyncio.wait({self._run})

    def _receive(self, event: Event) -> None:
        match event:
            case ToolFinished(outcome=outcome) if outcome.diff:
                lines = outcome.diff.splitlines()
                self._added += sum(line.startswith("+") and not line.startswith("+++") for line in lines)
                self._removed += sum(line.startswith("-") and not line.startswith("---") for line in lines)
            case (
                SessionStarted()
                | AssistantMessage()
                | TurnFinished()
                | Compacted()
                | ModeChanged()
                | ModelChanged()
            ):
                self._wake()
            case _:
                pass

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(REST, self._start)

    def _start(self) -> None:
        self._timer = None
        if self._run is not None and not self._run.done():
            self._wake()  # what it shows is out of date by now; it is asked again behind its end
            return
        self._run = asyncio.create_task(self._show())

    async def _show(self) -> None:
        shown, problem = await self._ask()
        if problem and not self._told:
            self._told = True
            text = f"The status line's command (statusLine) {problem}. It is run again at the next event."
            self._events.emit(Notice(text, "warning"))
        if shown != self._shown:
            self._shown = shown
            self._events.emit(StatusText(shown))

    async def _ask(self) -> tuple[str, str]:
        """The lines to show, and what went wrong; either may be empty."""
        workspace, settings = self._agent().workspace, self._bench.settings
        start = workspace.start
        inherited = {**self._bench.environment, **settings.env}
        environment = without_model_keys(inherited, keys=self._bench.endpoint.secrets)
        shell = find_program("bash", environment.get("PATH", ""), (start,)) or Path("/bin/sh")
        spec = ProcessSpec(
            argv=(str(shell), "-c", self._command),
            cwd=workspace.current if workspace.current.is_dir() else start,
            env={**environment, "CLAUDE_PROJECT_DIR": str(start), "MCODE_PROJECT_DIR": str(start)},
            stdin=jsontext.dump(sound(self.told())).encode(),
            timeout=LIMIT,
            output_limit=OUTPUT_LIMIT,
            grace=0.5,
        )
        try:
            result = await run_process(spec)
        except (OSError, ValueError) as error:
            return "", f"could not be started: {getattr(error, 'strerror', None) or error}"
        if result.timed_out:
            return "", f"was ended after its limit of {LIMIT:g} s"
        if result.exit_code != 0:
            said = clean(result.stderr.text.strip(), Kind.LINE)[:200]
            how = f"exit code {result.exit_code}" if result.signal is None else result.signal
            return "", f"failed with {how}{f': {said}' if said else ''}"
        lines = [clean(line, Kind.LINE)[:WIDTH] for line in result.stdout.text.splitlines()[:LINES]]
        return "\n".join(lines).strip("\n"), ""

    def told(self) -> JsonObject:
        """What the command reads on its standard input."""
        agent = self._agent()
        workspace = agent.workspace
        message: JsonObject = {
            "hook_event_name": "Status",
            "session_id": agent.session.id,
            "transcript_path": str(agent.session.journal.path),
            "cwd": str(workspace.current),
            "model": {"id": agent.model, "display_name": agent.model},
            "workspace": {
                "current_dir": str(workspace.current),
                "project_dir": str(workspace.start),
                "added_dirs": [str(path) for path in workspace.additional],
            },
            "version": __version__,
            "output_style": {"name": agent.style.name or "default"},
            "cost": {
                "total_cost_usd": agent.meter.totals.cost or 0.0,
                "total_duration_ms": round((time.monotonic() - self._began) * 1000),
                "total_api_duration_ms": round(agent.meter.waited * 1000),
                "total_lines_added": self._added,
                "total_lines_removed": self._removed,
            },
            **_window(agent),
        }
        return {**message, "session_name": agent.name} if agent.name else message


def _window(agent: Agent) -> JsonObject:
    """How full the window was at the last request; `current_usage` is null before the first."""
    ledger, totals, window = agent.ledger, agent.meter.totals, agent.meter.window
    used = (
        0
        if ledger is None
        else ledger.input_tokens or sum((ledger.definitions, ledger.system, ledger.messages, ledger.results))
    )
    share = round(100 * used / window) if window else 0
    usage: JsonObject | None = None
    if ledger is not None:
        usage = {
            "input_tokens": max(0, ledger.input_tokens - ledger.cache_read - ledger.cache_written),
            "output_tokens": ledger.output_tokens,
            "cache_creation_input_tokens": ledger.cache_written,
            "cache_read_input_tokens": ledger.cache_read,
        }
    return {
        "context_window": {
            "total_input_tokens": totals.input_tokens + totals.cache_read + totals.cache_written,
            "total_output_tokens": totals.output_tokens,
            "context_window_size": window,
            "used_percentage": min(share, 100),
            "remaining_percentage": max(0, 100 - share),
            "current_usage": usage,
        },
        "exceeds_200k_tokens": used > LARGE,
    }
