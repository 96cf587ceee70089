"""The headless front end: no screen and nobody to ask; text, JSON or JSON lines on standard output."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from mcode import __version__, jsontext
from mcode.call import Status
from mcode.catalog.call_tool import meant_block
from mcode.commands.registry import without_terminal
from mcode.events import (
    AssistantMessage,
    Compacted,
    HookRan,
    HookStarted,
    Notice,
    RetryScheduled,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from mcode.ui.nested import program_facts
from mcode.ui.stream_lines import (
    compact_boundary,
    hook_response,
    inner_use,
    permission_denied,
    retry,
    server_states,
    tool_result,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from mcode.agent.agent import Agent
    from mcode.call import Call, Outcome
    from mcode.commands.registry import CommandResult
    from mcode.events import Event
    from mcode.jsontext import JsonObject, JsonValue

SUBTYPES = {
    "end": "success",
    "limit": "error_max_turns",
    "budget": "error_max_budget_usd",
    "structured": "error_max_structured_output_retries",
}
"""How the reason of a turn's end is called in a result; anything else is an error during execution."""


class Output(Protocol):
    """Where the run's words go."""

    def answer(self, text: str) -> None:
        """Write to standard output."""
        ...

    def remark(self, text: str) -> None:
        """Write a line to standard error."""
        ...


class Commands(Protocol):
    """The slash commands, as far as they make sense where nobody sits."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def takes(self, line: str) -> bool:
        """Whether the line is for a command, though there may be none of the name, and not a message."""
        ...

    async def run(self, line: str) -> CommandResult:
        """Run it; what cannot be done comes back as a failed result."""
        ...


@dataclass(slots=True)
class _Tally:
    """What one turn adds up to."""

    began: float = field(default_factory=time.monotonic)
    stop_reason: str | None = None
    """Why the model's last message ended, in the words of the protocol."""
    denials: list[JsonObject] = field(default_factory=list["JsonObject"])
    told: str = ""
    """The last notice: what ends a run has often been said in it."""
    programs: list[JsonObject] = field(default_factory=list["JsonObject"])
    """Figures of the programs that ran."""
    shown: set[str] = field(default_factory=set[str])
    """Calls of programs whose use has gone out, and whose result has not."""


class HeadlessFrontEnd:
    """Runs messages through the agent and writes what comes of them."""

    def __init__(
        self,
        agent: Agent,
        output: Output,
        *,
        output_format: str = "text",
        partial_messages: bool = False,
        credential: str = "none",
        commands: Commands | None = None,
        structured: Callable[[], Sequence[JsonValue]] | None = None,
    ) -> None:
        """`commands` runs a message that is a slash command; without it every message goes to the model.

        `structured`: the answers of the present turn in the shape that was asked for, the last one counts.
        """
        self._agent = agent
        self._output = output
        self._format = output_format
        self._credential = credential
        self._commands = commands
        self._structured = structured
        self._tally = _Tally()
        self._initial: list[JsonObject] = []
        self._initialised = False
        agent.events.subscribe(self._receive)
        if partial_messages and output_format == "stream-json":
            agent.listen_to_stream(self._pass_raw)

    async def run(self, prompts: AsyncIterator[str]) -> int:
        """Run each message as one turn; returns the exit code: 0 when every turn came to its end."""
        code = 0
        if self._agent.initial_message:
            code = await self._run_one(self._agent.initial_message)
        async for prompt in prompts:
            code = await self._run_one(prompt) or code
        return code

    async def _run_one(self, prompt: str) -> int:
        self._initialise()
        self._tally = _Tally()
        if self._commands is not None and self._commands.takes(prompt):
            finished = await self._run_command(self._commands, prompt)
        else:
            finished = self._in_shape(await self._agent.submit(prompt, typed=False, invokes=True))
        self._conclude(finished)
        return 0 if finished.reason == "end" else 1

    async def _run_command(self, commands: Commands, line: str) -> TurnFinished:
        """A slash command of ours: its text is the answer, and no model is asked unless the command itself asks it."""
        result = await commands.run(line)
        if result.turn is not None:
            return self._in_shape(await result.turn)
        result = without_terminal(line, result)
        return TurnFinished(self._agent.turn, "error" if result.failed else "end", result.text)

    def _in_shape(self, finished: TurnFinished) -> TurnFinished:
        """Where an answer of a certain shape is wanted, that is the answer; an error where there is none."""
        if self._structured is None or finished.reason != "end":
            return finished
        answers = self._structured()
        if answers:
            return replace(finished, text=jsontext.dump(answers[-1]))
        text = f"The model gave no answer in the shape of --json-schema. It said: {finished.text}"
        return replace(finished, reason="structured", text=text)

    def interrupted(self) -> None:
        """Write the result of a run that a signal ended."""
        self.failed("interrupted", "interrupted")

    def failed(self, text: str, reason: str = "error") -> None:
        """Write the result of a run that could not go on."""
        if self._initialised:
            self._conclude(TurnFinished(self._agent.turn, reason, text))

    def _conclude(self, finished: TurnFinished) -> None:
        if self._format == "text":
            if finished.reason == "end":
                self._output.answer(finished.text if finished.text.endswith("\n") else f"{finished.text}\n")
            elif finished.text != self._tally.told or not finished.text:
                self._output.remark(f"mcode: {finished.text or finished.reason}")
            return
        self._write(self._result(finished))

    def _result(self, finished: TurnFinished) -> JsonObject:
        from mcode.commands.ledger_reading import ledger_of  # only a result in JSON needs it

        agent, totals = self._agent, self._agent.meter.totals
        failed = finished.reason != "end"
        usage: JsonObject = {
            "input_tokens": totals.input_tokens,
            "output_tokens": totals.output_tokens,
            "cache_creation_input_tokens": totals.cache_written,
            "cache_read_input_tokens": totals.cache_read,
        }
        ledger = agent.ledger
        milliseconds = round((time.monotonic() - self._tally.began) * 1000)
        result: JsonObject = {
            "type": "result",
            "subtype": SUBTYPES.get(finished.reason, "error_during_execution"),
            "is_error": failed,
            "num_turns": finished.requests,
            "duration_ms": milliseconds,
            "duration_api_ms": round(agent.meter.waited * 1000),
            "total_cost_usd": totals.cost or 0.0,
            "usage": usage,
            "modelUsage": {agent.model: usage},
            "permission_denials": self._tally.denials,
            "stop_reason": self._tally.stop_reason,
            "session_id": agent.session.id,
            "uuid": str(uuid.uuid4()),
            "mcode": {
                "definitions_tokens": ledger.definitions if ledger else 0,
                "results_tokens": ledger.results if ledger else 0,
                "round_trips": finished.requests,
                "programs": self._tally.programs,
                "cost_known": totals.cost is not None,
                "ledger": ledger_of(agent),
            },
        }
        if failed:
            result["errors"] = [finished.text or finished.reason]
        else:
            result["result"] = finished.text
            if self._structured is not None:
                result["structured_output"] = self._structured()[-1]
        return result

    def _receive(self, event: Event) -> None:
        match event:
            case ToolFinished(outcome=outcome):
                self._note_outcome(outcome)
            case AssistantMessage(message=message, parent=None):
                self._tally.stop_reason = message.get("stop_reason")
            case Notice(text=text, severity=severity) if self._format != "stream-json":
                self._tally.told = text
                if severity != "info" or self._format == "text":
                    self._output.remark(f"mcode: {text}")
            case _:
                pass
        if self._format == "stream-json":
            self._stream(event)

    def _note_outcome(self, outcome: Outcome) -> None:
        program = program_facts(outcome)
        if program is not None:
            self._tally.programs.append(program)
        if outcome.status is Status.DENIED:
            call = outcome.call
            denial: JsonObject = {
                "tool_name": call.tool,
                "tool_use_id": call.id,
                "tool_input": call.arguments,
            }
            self._tally.denials.append(denial)
            if self._format == "text":
                self._output.remark(f"mcode: {call.tool} was denied: {outcome.summary}")

    def _stream(self, event: Event) -> None:
        match event:
            case AssistantMessage(message=message, parent=parent):
                if parent is not None:  # its uses are in it
                    self._tally.shown.update(str(block.get("id")) for block in message.get("content", ()))
                meant = {**message, "content": [meant_block(block) for block in message.get("content", ())]}
                self._line({"type": "assistant", "message": meant, "parent_tool_use_id": parent})
            case ToolStarted(call=call):
                self._show_inner(call)
            case ToolFinished(outcome=outcome):
                self._show_inner(outcome.call)  # what was refused has never started
                self._tally.shown.discard(outcome.call.id)
                self._line(tool_result(outcome))
                if outcome.status is Status.DENIED:
                    self._line(permission_denied(outcome))
            case Compacted():
                self._line(compact_boundary(event))
            case RetryScheduled():
                self._line(retry(event))
            case HookStarted():
                self._line(
                    {
                        "type": "system",
                        "subtype": "hook_started",
                        "hook_id": event.hook_id,
                        "hook_name": event.name,
                        "hook_event": event.event,
                    }
                )
            case HookRan():
                self._line(hook_response(event))
            case Notice(text=text, severity=severity):
                self._line({"type": "system", "subtype": "status", "message": text, "severity": severity})
            case _:
                pass

    def _show_inner(self, call: Call) -> None:
        """The use of a call that a program made; the model's own stand in its messages."""
        if call.parent is not None and call.id not in self._tally.shown:
            self._tally.shown.add(call.id)
            self._line(inner_use(call))

    def _pass_raw(self, event: JsonObject) -> None:
        self._line({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def _line(self, body: JsonObject) -> None:
        """Write one line of the stream, or keep it until the first line, `init`, has gone out."""
        if self._initialised:
            self._write(self._signed(body))
        else:
            self._initial.append(body)

    def _initialise(self) -> None:
        if self._initialised:
            return
        self._initialised = True
        if self._format != "stream-json":
            return
        agent = self._agent
        self._write(
            self._signed(
                {
                    "type": "system",
                    "subtype": "init",
                    "cwd": str(agent.workspace.start),
                    "model": agent.model,
                    "permissionMode": agent.mode,
                    "tools": [tool["name"] for tool in agent.builder.definitions()],
                    "mcp_servers": server_states(agent.builder.shelf.servers.statuses()),
                    "slash_commands": [
                        *(self._commands.names if self._commands else ()),
                        *self._invocable("command"),
                    ],
                    "skills": self._invocable("skill"),
                    "agents": list(agent.subagents.kinds),
                    "output_style": agent.settings.output_style or "default",
                    "apiKeySource": self._credential,
                    "claude_code_version": __version__,
                    "mcode_version": __version__,
                    "plugins": [],
                }
            )
        )
        for body in self._initial:
            self._write(self._signed(body))
        self._initial = []

    def _invocable(self, kind: str) -> list[str]:
        """Names of the files of one kind that can be invoked."""
        return [skill.name for skill in self._agent.skills.all if skill.kind == kind]

    def _signed(self, body: JsonObject) -> JsonObject:
        return {**body, "session_id": self._agent.session.id, "uuid": str(uuid.uuid4())}

    def _write(self, body: JsonObject) -> None:
        self._output.answer(jsontext.dump(body) + "\n")
