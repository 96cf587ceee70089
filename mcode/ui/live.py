"""The rows around the prompt that are redrawn: what runs now, what waits, and the figures of the last request."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.text import Kind, clean, shorten
from mcode.ui.cut_off import CutOff
from mcode.ui.wrap import wrap_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Outcome
    from mcode.commands.host import Conversation
    from mcode.events import Event, Ledger, RetryScheduled, ToolStarted

_TAIL_ROWS = 6
_CALL_ROWS = 5
_QUEUE_ROWS = 3


@dataclass(frozen=True, slots=True)
class LiveRow:
    """One row that is redrawn: clean text and a style of the prompt's style sheet."""

    text: str
    style: str = ""


@dataclass(slots=True)
class _Running:
    started: ToolStarted
    since: float
    progress: str = ""


class LiveArea:
    """Keeps what the redrawn rows show; reads the event stream and nothing else."""

    def __init__(self, model: str, mode: str, *, cut: str = "\u2026") -> None:
        """`cut` stands at the end of what is too wide."""
        self.cut = cut
        self.model = model
        self.mode = mode
        self.marks: tuple[str, ...] = ()
        """What else holds of the session: commands run in a sandbox, edits may be made without a way back."""
        self.ledger: Ledger | None = None
        self.outdated = ""
        """Stands for how full the window is while no request has told it, or none since the conversation went back."""
        self.queue: tuple[str, ...] = ()
        self.early: tuple[str, ...] = ()
        """What waits for the session to be opened."""
        self.turn_since: float | None = None
        self.cut_off = CutOff()
        self._running: dict[str, _Running] = {}
        self._hooks: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        """Calls that wait for the user, by approval or question."""
        self._behind: set[str] = set()
        """Calls of sub-agents that work in the background, and those that started them."""
        self._retry: tuple[RetryScheduled, float] | None = None

    @property
    def active(self) -> bool:
        """True while something runs, so that the rows change by themselves."""
        return self.turn_since is not None or bool(self._running) or bool(self._hooks)

    def follow(self, agent: Conversation) -> None:
        """This session is the one that is open."""
        self.model, self.mode = agent.model, agent.mode
        without_undo = not agent.settings.own.undo_required
        self.marks = ("sandbox",) * bool(agent.policy.sandbox) + ("undo optional",) * without_undo
        self.ledger, self.outdated = agent.ledger, ""

    def receive(self, event: Event) -> None:  # noqa: C901 -- one case an event, each one line
        """Take an event in."""
        from mcode import events

        self.cut_off.receive(event)
        match event:
            case events.TurnStarted():
                self.turn_since = time.monotonic()
            case events.TurnFinished():
                self.turn_since = None
                self._retry = None
                self._running = {each: call for each, call in self._running.items() if each in self._behind}
                self._waiting = {asked: each for asked, each in self._waiting.items() if each in self._behind}
                self._hooks.clear()
            case events.RequestStarted():
                self._retry = None
            case events.RetryScheduled():
                self._retry = (event, time.monotonic() + event.delay)
            case events.ToolStarted(call=call):
                self._running[call.id] = _Running(event, time.monotonic())
                if call.parent in self._behind:
                    self._behind.add(call.id)
            case events.ToolProgress(call_id=call_id, line=line) if call_id in self._running:
                self._running[call_id].progress = line
            case events.ToolFinished(outcome=outcome):
                self._ended(outcome)
            case events.ApprovalRequested(approval_id=identifier, call=call):
                self._waiting[identifier] = call.id
            case events.QuestionAsked(question_id=identifier, call=call):
                self._waiting[identifier] = call.id
            case (
                events.ApprovalResolved(approval_id=identifier)
                | events.QuestionResolved(question_id=identifier)
            ):
                self._answered(self._waiting.pop(identifier, ""))
            case events.HookStarted(hook_id=hook_id, name=name, status=status):
                self._hooks[hook_id] = f"hook: {status}" if status else f"hook {name}"
            case events.HookRan(hook_id=hook_id):
                self._hooks.pop(hook_id, None)
            case events.QueueChanged(waiting=waiting):
                self.queue = waiting
            case events.ModeChanged(mode=mode):
                self.mode = mode
            case events.ModelChanged(model=model):
                self.model = model
            case events.Ledger():
                self.ledger, self.outdated = event, ""
            case _:
                pass

    def _ended(self, outcome: Outcome) -> None:
        from mcode.ui.output import works_on

        self._running.pop(outcome.call.id, None)
        if works_on(outcome):
            self._behind.add(outcome.call.id)

    def _answered(self, call_id: str) -> None:
        """The call goes on; the time that the user took is not its own."""
        if call_id in self._running:
            self._running[call_id].since = time.monotonic()

    def rows(self, tail: Sequence[str], width: int) -> list[LiveRow]:
        """The rows above the prompt, for a terminal of `width` columns; `tail` is the unfinished line."""
        rows = [LiveRow(row) for line in tail for row in wrap_cells(line, width)][-_TAIL_ROWS:]
        rows += self._calls(width)
        activity = self._activity()
        if activity:
            rows.append(LiveRow(shorten(activity, width, self.cut), "class:activity"))
        rows += self._queued(width)
        return rows

    def status(self, width: int) -> LiveRow:
        """The last row: model, mode, and how full the window is."""
        model = clean(self.model, Kind.LINE)
        parts = [model, self.mode, *self.marks]
        parts += self.figures(detailed=width >= 80)
        if width < 60:
            parts = parts[1:]
        return LiveRow(
            shorten(" " + "  ".join(part for part in parts if part), width, self.cut), "class:status"
        )

    def figures(self, *, detailed: bool) -> list[str]:
        """How full the window is, and the money."""
        return meter(self.ledger, detailed=detailed, instead=self.outdated)

    def _calls(self, width: int) -> list[LiveRow]:
        from mcode.ui.calls import running_line, waiting_line

        now = time.monotonic()
        running = list(self._running.values())
        shown = [
            LiveRow(
                waiting_line(each.started, width, self.cut)
                if each.started.call.id in self._waiting.values()
                else running_line(each.started, each.progress, now - each.since, width, self.cut),
                "class:running",
            )
            for each in running[-_CALL_ROWS:]
        ]
        if len(running) > _CALL_ROWS:
            shown.insert(0, LiveRow(f"  ...     {len(running) - _CALL_ROWS} more", "class:running"))
        return shown

    def _activity(self) -> str:
        now = time.monotonic()
        if self._retry is not None:
            event, due = self._retry
            wait = max(0, round(due - now))
            reason = clean(retry_reason(event), Kind.LINE)
            return f"* try {event.attempt} of {event.limit} in {wait} s, Esc stops: {reason}"
        hooks = list(self._hooks.values())
        if hooks:
            return f"* {clean(hooks[-1], Kind.LINE)}   Esc interrupts"
        if self._waiting:
            return "* waiting for you"
        since = self.turn_since
        if since is None and self._running:  # the user's own command, which is no turn
            since = min(each.since for each in self._running.values())
        if since is None:
            return ""
        minutes, seconds = divmod(int(now - since), 60)
        if self.turn_since is None and self._running.keys() <= self._behind:
            return f"* a sub-agent works in the background {minutes}:{seconds:02d}   /agents shows it"
        return f"* working {minutes}:{seconds:02d}   Esc interrupts"

    def _queued(self, width: int) -> list[LiveRow]:
        queue = self.early or self.queue
        rows = [
            LiveRow(shorten(f"  queued {at}:  {clean(text, Kind.LINE)}", width, self.cut), "class:queue")
            for at, text in enumerate(queue[:_QUEUE_ROWS], 1)
        ]
        if len(queue) > _QUEUE_ROWS:
            rows.append(LiveRow(f"  +{len(queue) - _QUEUE_ROWS}", "class:queue"))
        if self.early:
            rows.append(LiveRow("  sent once the session is open; Up takes it back", "class:queue"))
        elif rows and not self.active:  # an interrupt holds what is queued
            rows.append(LiveRow("  sent before your next message; Up takes it back", "class:queue"))
        return rows


def retry_reason(event: RetryScheduled) -> str:
    """Why a request is sent again, in one sentence that names the status once."""
    status = str(event.status) if event.status is not None else ""
    return event.reason if not status or status in event.reason else f"{status} {event.reason}"


def meter(ledger: Ledger | None, *, detailed: bool, instead: str = "") -> list[str]:
    """How full the window was at the last request, in three parts where there is room, and the money.

    `instead` is said of the window where the last request does not tell it."""
    parts = [instead] if instead else []
    if ledger is None:
        return parts
    used = ledger.input_tokens or ledger.definitions + ledger.system + ledger.messages + ledger.results
    if ledger.window > 0 and not instead:
        share = f"ctx {100 * used // ledger.window}%"
        if detailed:
            said = ledger.system + ledger.messages
            share += f" [def {_k(ledger.definitions)} msg {_k(said)} res {_k(ledger.results)}]"
        parts.append(share)
    if ledger.cost is not None:
        parts.append(f"${ledger.cost:.2f}")
    return parts


def _k(count: int) -> str:
    return str(count) if count < 1000 else f"{count / 1000:.1f}k" if count < 10_000 else f"{count // 1000}k"
