"""The transcript as a value: blocks folded from events. Live events and those of a resumed session fold alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar, cast

from mcode.call import Status
from mcode.ui.tui.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    Fold,
    NoticeBlock,
    RemarkBlock,
    ThinkingBlock,
    TodoBlock,
    UserBlock,
)
from mcode.ui.tui.old_blocks import KEPT, OldBlocks
from mcode.ui.tui.old_texts import OldTexts
from mcode.ui.tui.open_calls import OpenCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mcode.call import Outcome
    from mcode.events import AssistantMessage, Event, HookRan, ToolStarted, TurnFinished, TurnStarted
    from mcode.jsontext import JsonObject

_ENDINGS = {
    "interrupted": "interrupted",
    "limit": "stopped at a limit",
    "refusal": "the model refused",
    "stopped": "stopped by a hook",
}

AnyBlock = TypeVar("AnyBlock", bound=Block)


class Document:
    """What has happened, block by block. Reads the event stream and nothing else."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, texts: OldTexts | None = None, kept: int = KEPT
    ) -> None:
        """`texts` takes the text of all blocks but the newest `kept`, which stays in memory."""
        self.blocks: list[Block] = []
        self.clock = clock
        """Seconds; for the time that a call runs."""
        self._old = OldBlocks(self.blocks, texts or OldTexts(), kept)
        self._changed: dict[int, None] = {}
        self._calls = OpenCalls(self._now, self.touch)
        self._answer: AnswerBlock | None = None
        self._thinking: ThinkingBlock | None = None
        self._since_request = 0
        """Blocks that there were when the last request went out."""
        self._streamed = False
        self._todos: TodoBlock | None = None
        self._last_todos: tuple[JsonObject, ...] = ()
        self._last_notice = ""
        self._turns: list[tuple[int, int]] = []
        """Turns of this session, each with the number of its first block."""
        self._own_cards: list[tuple[int, CallBlock]] = []
        """The turns that tell of a shell line of the user's, each with its card, which stands further up."""

    def take_changes(self) -> list[int]:
        """Numbers of the blocks that were added or changed since the last call, in the order of the changes."""
        changed = list(self._changed)
        self._changed.clear()
        return changed

    @property
    def running(self) -> tuple[CallBlock, ...]:
        """Blocks with a call that runs or waits: what they show changes with time."""
        return self._calls.running

    def touch(self, block: Block) -> None:
        """Note that a block is to be shown anew."""
        block.revision += 1
        self._changed[block.number] = None
        self._old.changed(block)

    @property
    def untidy(self) -> bool:
        """Whether there is old text in memory that belongs into the file."""
        return self._old.untidy

    def tidy(self) -> None:
        """Put away some of it, as much as no key waits for. No reader sees a difference."""
        self._old.tidy()

    def fold(self, block: Block, fold: Fold) -> None:
        """Show more or less of a block."""
        if block.fold is not fold:
            block.fold = fold
            self.touch(block)

    def replay(self, events: Iterable[Event]) -> None:
        """Fold the events of a session that is resumed; calls that they leave open were ended with it."""
        for event in events:
            self.apply(event)
        self.end_turn()

    def begin_session(self) -> None:
        """Turns are counted anew from here."""
        self._turns.clear()
        self._own_cards.clear()

    def go_back(self, turn: int, remark: str) -> None:
        """Mark what came of that turn and of later ones as undone, with 0 nothing, and say so below all of it."""
        first = next((block for each, block in self._turns if turn and each >= turn), len(self.blocks))
        own = [block for each, block in self._own_cards if turn and each >= turn]
        for block in (*own, *self.blocks[first:]):
            block.undone = True
            self.touch(block)
        self._turns = [(each, block) for each, block in self._turns if block < first]
        self._own_cards = [entry for entry in self._own_cards if not turn or entry[0] < turn]
        self.say(remark, "divider")

    def say(self, text: str, severity: str = "info") -> None:
        """Add words of mcode's own: `info`, `warning`, `error`, or `command` for a command's answer."""
        self._last_notice = text
        self._add(NoticeBlock(len(self.blocks), text=text, severity=severity))

    def end_turn(self) -> None:
        """Nothing runs any more, whatever the events said, but for what sub-agents do in the background."""
        self._close_answer()
        self._calls.end()
        self._todos = None

    def apply(self, event: Event) -> None:  # noqa: C901 -- one case an event, each one line
        """Fold one event in."""
        from mcode import events  # needed by nothing before the first frame

        match event:
            case events.TextDelta(text=text):
                self._text(text)
            case events.ThinkingDelta(text=text):
                self._thought(text)
            case events.RequestStarted():
                self._since_request = len(self.blocks)
            case events.AnswerSuperseded(problem=problem):
                self._void(problem)
            case events.AssistantMessage():
                self._message(event)
            case events.TurnStarted():
                self._turn_started(event)
            case events.TurnFinished():
                self._turn_finished(event)
            case events.ToolStarted():
                self._started(event)
            case events.ToolProgress(call_id=call_id, line=line):
                self._calls.progress(call_id, line)
            case events.ToolFinished(outcome=outcome):
                self._finished(outcome)
            case events.ApprovalRequested(approval_id=identifier, call=call):
                self._calls.ask(identifier, call.id)
            case events.QuestionAsked(question_id=identifier, call=call):
                self._calls.ask(identifier, call.id)
            case events.ApprovalResolved(approval_id=identifier, choice=choice, decided_by=by):
                self._calls.answered(identifier)
                if choice == "withdrawn":
                    self._remark(f"The approval is withdrawn ({by}); nothing was decided.")
            case events.QuestionResolved(question_id=identifier, answered=answered):
                self._calls.answered(identifier)
                if not answered:
                    self._remark("The question goes without an answer.")
            case events.HookRan() if event.outcome not in {
                "success",
                "failed",
            }:  # a notice tells of a failure
                self._hook(event)
            case events.TodosChanged(todos=todos):
                self._list(todos)
            case events.Notice(text=text, severity=severity):
                self.say(text, severity)
            case _:
                pass

    def _now(self) -> float:
        return self.clock()

    def _add(self, block: AnyBlock) -> AnyBlock:
        self.blocks.append(block)
        self._changed[block.number] = None
        return block

    def _remark(self, text: str, *, warn: bool = False) -> None:
        self._add(RemarkBlock(len(self.blocks), text=text, warn=warn))

    def _close_answer(self) -> None:
        if self._answer is not None:
            self._answer.source.finish()
            self.touch(self._answer)
            self._answer = None
        if self._thinking is not None:
            self._thinking.ended = True
            self.touch(self._thinking)
            self._thinking = None

    def _text(self, text: str) -> None:
        self._streamed = True
        if self._answer is None:
            if not text.strip():
                return  # an answer begins with its first word
            self._close_answer()
            self._answer = self._add(AnswerBlock(len(self.blocks)))
            text = text.lstrip("\n")
        self._answer.feed(text)
        self.touch(self._answer)

    def _thought(self, text: str) -> None:
        self._streamed = True
        if self._thinking is None:
            self._close_answer()
            self._thinking = self._add(ThinkingBlock(len(self.blocks)))
        self._thinking.feed(text)
        self.touch(self._thinking)

    def _void(self, problem: str) -> None:
        self._close_answer()
        self._streamed = False
        for block in self.blocks[self._since_request :]:
            if isinstance(block, AnswerBlock):
                block.void = problem
                block.source.clear()
            elif isinstance(block, ThinkingBlock):
                block.void = True
                block.pieces.clear()
            else:
                continue
            self.touch(block)

    def _message(self, event: AssistantMessage) -> None:
        if event.parent is not None:
            return
        if not self._streamed:
            for part in cast("list[JsonObject]", event.message.get("content", [])):
                if part.get("type") == "text":
                    self._text(str(part.get("text", "")))
                elif part.get("type") == "thinking" and part.get("thinking"):
                    self._thought(str(part["thinking"]))
        answer = self._answer
        self._close_answer()
        self._streamed = False
        if not event.complete and answer is not None:
            answer.cut_off = True
            self.touch(answer)

    def _turn_started(self, event: TurnStarted) -> None:
        self._close_answer()
        text = event.text
        self._turns.append((event.turn, len(self.blocks)))
        own = self._calls.told_of(text[1:]) if text.startswith("!") else None
        if own is not None:  # the turn tells the model of a shell line that stands above
            self._own_cards.append((event.turn, own))
            return
        self._add(UserBlock(len(self.blocks), text=text))

    def _turn_finished(self, event: TurnFinished) -> None:
        self.end_turn()
        if event.reason == "error":
            if not event.text or event.text != self._last_notice:
                self.say(event.text or "the turn failed", "error")
        elif event.reason != "end":
            word = _ENDINGS.get(event.reason, event.reason)
            said = f": {event.text}" if event.text and event.reason != "interrupted" else ""
            self._remark(f"{word}{said}")

    def _started(self, event: ToolStarted) -> None:
        self._close_answer()
        self._calls.begin(event, lambda node: self._add(CallBlock(len(self.blocks), node=node)))

    def _finished(self, outcome: Outcome) -> None:
        if outcome.call.id not in self._calls and outcome.status in {Status.FAILED, Status.DENIED}:
            self._refused(outcome)
        known = self._calls.finish(outcome)
        if known and outcome.call.tool == "TodoWrite" and outcome.status is Status.OK:
            self._list(cast("list[JsonObject]", outcome.call.arguments.get("todos", [])))

    def _refused(self, outcome: Outcome) -> None:
        """A call that ends without having begun, such as one with wrong arguments, has its row all the same."""
        from mcode.events import ToolStarted
        from mcode.tool import Preview

        self._started(ToolStarted(outcome.call, Preview(""), "core"))

    def _hook(self, event: HookRan) -> None:
        code = f", exit {event.exit_code}" if event.exit_code is not None else ""
        said = (event.stderr or event.stdout).strip().split("\n")[0]
        text = f"hook {event.event} `{event.name}` {event.outcome}{code}"
        self._remark(f"{text}: {said}" if said else text, warn=True)

    def _list(self, todos: Sequence[JsonObject]) -> None:
        """Show the model's list of steps, unless it stands already as it is; one list a turn is shown."""
        listed = tuple(todos)
        if not listed or listed == self._last_todos:
            return
        self._last_todos = listed
        if self._todos is not None:
            self._todos.replaced = True
            self.touch(self._todos)
        self._todos = self._add(TodoBlock(len(self.blocks), todos=listed))
