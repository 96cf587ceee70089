"""Events of the core, turned into finished lines for the scrollback. Nothing here touches the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.call import Origin, Status
from mcode.text import Kind, clean
from mcode.ui.calls import finished_lines, head_line
from mcode.ui.diff import diff_rows, painted
from mcode.ui.line.prose import Prose
from mcode.ui.line.stream import LineStream
from mcode.ui.line.todos import todo_rows, todos_of
from mcode.ui.live import retry_reason
from mcode.ui.nested import NestedRows
from mcode.ui.output import printed_text, without_ending
from mcode.ui.wrap import wrap_columns, wrap_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.call import Call, Outcome
    from mcode.events import (
        AssistantMessage,
        Event,
        HookRan,
        RetryScheduled,
        ToolFinished,
        ToolStarted,
        TurnFinished,
    )
    from mcode.jsontext import JsonObject
    from mcode.ui.look import Look

_DIFF_ROWS = 40
"""Rows of a change that a finished call shows; the approval before it shows all."""

_MESSAGE_ROWS = 40
"""Rows of a message of the user's after the first; what was pasted need not be printed once more."""

_SHELL_ROWS = 2000
"""Rows of the user's own shell command."""

_ENDINGS = {
    "interrupted": "interrupted",
    "limit": "stopped at a limit",
    "refusal": "the model refused",
    "stopped": "stopped by a hook",
}


class Transcript:
    """Folds the event stream into lines, each of which is given out exactly once."""

    def __init__(self, look: Look, width: Callable[[], int]) -> None:
        self.look = look
        self._width = width
        self._stream = LineStream()
        self._streamed = False
        self._prose = Prose(look, width)
        self._first_of_block = True
        self._last_kind = ""
        self._queue_length = 0
        self._last_notice = ""
        self._nested = NestedRows()
        self._heads: set[str] = set()
        """Calls whose head line is out, because calls of their program follow it."""
        self._started: dict[str, ToolStarted] = {}
        self._last_todos: list[JsonObject] = []
        self._own_commands: list[str] = []
        """Shell lines of the user's own whose turn, which tells the model of them, has not begun."""

    @property
    def tail(self) -> list[str]:
        """What is streamed and not complete yet, as rows: a table, and a line where it is not blank."""
        line = clean(self._stream.pending, Kind.BLOCK).expandtabs(4)
        return [*self._prose.held, *(self._prose.plain(line) if line.strip() else ())]

    @property
    def running(self) -> tuple[ToolStarted, ...]:
        """Calls that have begun and not ended, oldest first."""
        return tuple(self._started.values())

    def receive(self, event: Event) -> list[str]:  # noqa: C901 -- one case an event, each one line
        """The lines that an event adds; ready for the terminal, without line ends."""
        from mcode.events import (
            AnswerSuperseded,
            ApprovalResolved,
            AssistantMessage,
            HookRan,
            ModeChanged,
            ModelChanged,
            Notice,
            QuestionResolved,
            QueueChanged,
            RetryScheduled,
            TextDelta,
            TodosChanged,
            ToolFinished,
            ToolStarted,
            TurnFinished,
            TurnStarted,
        )

        match event:
            case TextDelta(text=text):
                return self._delta(text)
            case AnswerSuperseded(problem=problem):
                return [*self.end_stream(), *self.remark(f"void: that answer broke off ({problem})")]
            case AssistantMessage():
                return self._message(event)
            case TurnStarted(text=text):
                said = [] if self._tells_of_shell(text) else self.said_by_user(text)
                return [*self.end_stream(), *said]
            case TurnFinished():
                return [*self.end_stream(), *self._turn_end(event)]
            case ToolStarted():
                return [*self.end_stream(), *self._tool_started(event)]
            case ToolFinished():
                return [*self.end_stream(), *self._tool_finished(event)]
            case ApprovalResolved(choice="withdrawn", decided_by=by):
                return self.remark(f"The approval is withdrawn ({by}); nothing was decided.")
            case QuestionResolved(answered=False):
                return self.remark("The question goes without an answer.")
            case HookRan() if event.outcome not in {"success", "failed"}:  # a notice tells of a failure
                return [*self.end_stream(), *self._hook(event)]
            case TodosChanged(todos=todos):
                return [*self.end_stream(), *self._todos(todos)]
            case ModeChanged(mode=mode) if not self.look.decorated:
                return self.remark(f"Permission mode: {mode}")
            case ModelChanged(model=model):
                return self.remark(f"Model: {model}")
            case RetryScheduled() if not self.look.decorated:
                return [*self.end_stream(), *self._retry(event)]
            case QueueChanged(waiting=waiting) if not self.look.decorated:
                return self._queued(waiting)
            case Notice(text=text, severity=severity):
                return [*self.end_stream(), *self.notice(text, severity)]
            case _:
                return []

    def forget_calls(self) -> None:
        """No call runs any more, whatever the events said."""
        self._started.clear()
        self._heads.clear()

    def end_stream(self) -> list[str]:
        """The rest of streamed text, where something else comes next."""
        lines = [line for raw in self._stream.finish() for line in self._assistant_line(raw)]
        lines += self._prose.finish_table()
        self._first_of_block = True
        return lines

    def said_by_user(self, text: str) -> list[str]:
        """A message of the user's as it stands in the scrollback."""
        first, *more = self._wrapped(text, 2 if self.look.decorated else 5)
        if len(more) > _MESSAGE_ROWS:
            more = [*more[:_MESSAGE_ROWS], f"({len(more) - _MESSAGE_ROWS} more lines, sent like these)"]
        palette = self.look.palette
        who = palette.accent(self.look.mark) if self.look.decorated else "You: "
        rows = [f"{who}{palette.bold(first)}", *(f"  {palette.bold(line)}" for line in more)]
        return self.block("user", rows)

    def notice(self, text: str, severity: str = "info") -> list[str]:
        """A remark of mcode's, with its weight in a word."""
        self._last_notice = text
        palette = self.look.palette
        word = {"info": "note:", "warning": "warning:", "error": "error:"}.get(severity, "note:")
        paint = {"error": palette.bad, "warning": palette.warn}.get(severity, palette.dim)
        first, *more = self._wrapped(text, len(word) + 1)
        return self.block("notice", [f"{paint(word)} {first}", *(f"  {line}" for line in more)])

    def plain(self, text: str, kind: str = "command") -> list[str]:
        """Lines of ours that carry foreign words, such as the answer of a command."""
        lines = clean(text, Kind.BLOCK).strip("\n").split("\n")
        if not self.look.decorated:
            return self.block(kind, lines)
        return self.block(kind, [row for line in lines for row in wrap_columns(line, self._width())])

    def _delta(self, text: str) -> list[str]:
        self._streamed = True
        return [line for raw in self._stream.feed(text) for line in self._assistant_line(raw)]

    def _assistant_line(self, raw: str) -> list[str]:
        line = clean(raw, Kind.BLOCK).expandtabs(4)
        if self._first_of_block:
            if not line.strip():
                return []
            self._first_of_block = False
            rows = self._prose.feed(line) if self.look.decorated else [f"Assistant: {line}"]
            return self.block("assistant", rows)
        return self._prose.feed(line)

    def _wrapped(self, text: str, taken: int) -> list[str]:
        """Clean rows of a text; the first has `taken` cells less, the others are indented by two."""
        lines = clean(text, Kind.BLOCK).strip("\n").expandtabs(4).split("\n")
        if not self.look.decorated:
            return lines
        return [row for line in lines for row in wrap_words(line, self._width() - max(2, taken))]

    def _message(self, event: AssistantMessage) -> list[str]:
        if event.parent is not None:
            return []
        lines: list[str] = []
        if not self._streamed:
            parts = [part for part in event.message.get("content", []) if part.get("type") == "text"]
            for part in parts:
                lines += self._delta(str(part.get("text", "")))
                lines += self.end_stream()
        lines += self.end_stream()
        self._streamed = False
        lines += self._prose.end()
        if not event.complete and _has_text(event):
            lines += self.remark("cut off: the answer above is not complete")
        return lines

    def _turn_end(self, event: TurnFinished) -> list[str]:
        self.forget_calls()
        if event.reason == "end":
            return []
        if event.reason == "error":
            if event.text and event.text == self._last_notice:
                return []
            return self.notice(event.text or "the turn failed", "error")
        word = _ENDINGS.get(event.reason, event.reason)
        said = f": {event.text}" if event.text and event.reason != "interrupted" else ""
        return self.remark(f"{word}{said}")

    def _tool_started(self, event: ToolStarted) -> list[str]:
        call = event.call
        self._started[call.id] = event
        lines: list[str] = []
        parent = self._started.get(call.parent or "")
        if parent is not None and parent.call.id not in self._heads:
            self._heads.add(parent.call.id)
            lines += self.block("tool", [head_line(parent, self.look, self._depth(parent), self._width())])
        if call.origin is Origin.USER:
            return [*lines, *self._own_call(call)]
        if not self.look.decorated:
            lines += self.block("tool", [head_line(event, self.look, 0, self._width())])
        return lines

    def _own_call(self, call: Call) -> list[str]:
        if call.tool != "Bash":
            return []  # a file that a message mentions: one row once it is read
        command = str(call.arguments.get("command", ""))
        self._own_commands.append(command)
        return self.block("shell", [f"! {clean(command, Kind.DECISION)}"])

    def _tells_of_shell(self, text: str) -> bool:
        """True where a turn tells the model of a shell line that stands above already."""
        if not text.startswith("!") or text[1:] not in self._own_commands:
            return False
        self._own_commands.remove(text[1:])
        return True

    def _tool_finished(self, event: ToolFinished) -> list[str]:
        outcome = event.outcome
        started = self._started.pop(outcome.call.id, None)
        self._heads.discard(outcome.call.id)
        if not self._nested.shows(outcome):
            return []
        depth = self._depth(started) if started is not None else (1 if outcome.call.parent else 0)
        more = self._nested.rest(outcome.call.id)
        lines = self.remark(more) if more else []
        if outcome.call.origin is Origin.USER and outcome.call.tool == "Bash":
            lines += self._shell_output(outcome)
        lines += self.block("tool", finished_lines(outcome, started, self.look, depth, self._width()))
        if outcome.diff and outcome.status is Status.OK:
            lines += self._diff(outcome.diff, depth)
        return lines + self._todos(todos_of(outcome))

    def _depth(self, started: ToolStarted) -> int:
        depth = 0
        parent = started.call.parent
        while parent is not None and depth < 8:
            depth += 1
            above = self._started.get(parent)
            parent = above.call.parent if above is not None else None
        return depth

    def _shell_output(self, outcome: Outcome) -> list[str]:
        stopped = outcome.status is Status.CANCELLED
        text = printed_text(outcome) if stopped else without_ending(outcome.full_text or outcome.text)
        if text.strip() in {"", "(no output)"}:
            return []  # the row of the call says how it ended
        rows = clean(text, Kind.OUTPUT if self.look.palette.color else Kind.BLOCK).rstrip("\n").split("\n")
        if len(rows) > _SHELL_ROWS:
            left_out = len(rows) - _SHELL_ROWS
            rows = [*rows[:_SHELL_ROWS], f"({left_out} more lines; the session file has what the model got)"]
        return self.block("shell", rows)

    def _diff(self, diff: str, depth: int) -> list[str]:
        indent = "  " * (depth + 1)
        rows = [indent + painted(row, self.look.palette) for row in diff_rows(diff)]
        if len(rows) > _DIFF_ROWS:
            return [*rows[:_DIFF_ROWS], f"{indent}     ({len(rows) - _DIFF_ROWS} more rows of this change)"]
        return rows

    def _retry(self, event: RetryScheduled) -> list[str]:
        return self.remark(
            f"Try {event.attempt} of {event.limit} in {event.delay:.0f} s: {retry_reason(event)}"
        )

    def _queued(self, waiting: tuple[str, ...]) -> list[str]:
        more = len(waiting) > self._queue_length
        self._queue_length = len(waiting)
        return self.remark(f"Queued: {waiting[-1]}") if more else []

    def _hook(self, event: HookRan) -> list[str]:
        code = f", exit {event.exit_code}" if event.exit_code is not None else ""
        said = (event.stderr or event.stdout).strip().split("\n")[0]
        text = f"hook {event.event} `{event.name}` {event.outcome}{code}"
        return self.remark(f"{text}: {said}" if said else text, warn=True)

    def _todos(self, todos: Sequence[JsonObject]) -> list[str]:
        """The model's list of steps, unless it stands above already as it is."""
        if not todos or list(todos) == self._last_todos:
            return []
        self._last_todos = list(todos)
        return self.block("tool", todo_rows(todos, self.look, self._width()))

    def remark(self, text: str, *, warn: bool = False) -> list[str]:
        """A quiet sentence between calls."""
        paint = self.look.palette.warn if warn else self.look.palette.dim
        line = clean(text, Kind.LINE)
        rows = wrap_words(line, self._width() - 2) if self.look.decorated else [line]
        return self.block("remark", [f"  {paint(row)}" for row in rows])

    def block(self, kind: str, rows: list[str]) -> list[str]:
        """Rows with one empty line in front where another kind of block ends."""
        together = {"tool", "remark", "shell"}
        joined = kind in together and self._last_kind in together
        gap = [""] if self._last_kind and not joined and self.look.decorated else []
        self._last_kind = kind
        return [*gap, *rows]


def _has_text(event: AssistantMessage) -> bool:
    parts = event.message.get("content", [])
    return any(part.get("type") == "text" and str(part.get("text", "")).strip() for part in parts)
