"""Approvals and questions at the prompt: shown in full, answered in words, never by a key meant for the draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.asking import Asking, is_question
from mcode.ui.line.approval import (
    BATCH,
    SHOW,
    approval_lines,
    could_decide,
    offered,
    read_decision,
    reminder_lines,
)
from mcode.ui.line.question import DECLINE, question_lines
from mcode.ui.live import LiveRow
from mcode.ui.masked_request import masked_request
from mcode.ui.questionnaire import Questionnaire

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.commands.host import QuestionDesk
    from mcode.events import ApprovalChoice, ApprovalRequested, Event, QuestionAsked
    from mcode.ui.asking import Request
    from mcode.ui.line.printer import Printer
    from mcode.ui.line.prompt import Prompt
    from mcode.ui.line.transcript import Transcript
    from mcode.ui.look import Look


class Answering:
    """Moves the prompt between the draft and what waits for the user."""

    def __init__(
        self,
        prompt: Prompt,
        printer: Printer,
        transcript: Transcript,
        look: Look,
        *,
        desk: Callable[[], QuestionDesk],
        width: Callable[[], int],
        start: Callable[[], str],
        free: Callable[[], bool],
        mask: Callable[[str], str],
    ) -> None:
        """`start` is the session's directory; `free` says whether nothing else (the editor, a search) has the
        prompt; `mask` hides what the session knows to be secret."""
        self._prompt = prompt
        self._printer = printer
        self._transcript = transcript
        self._look = look
        self._desk = desk
        self._width = width
        self._start = start
        self._free = free
        self._mask = mask
        self._printed: tuple[str, int] | None = None
        """The approval that was printed last in full, and how many lines had gone out by then."""
        self._listed: tuple[ApprovalRequested, ...] = ()
        """The calls that were printed with it and that `batch` would allow, itself included."""
        self._questionnaires: dict[str, Questionnaire] = {}
        self._diverted = False
        """True while the draft holds what was typed when something was asked."""
        self.asking = Asking(
            idle=look.idle, arm=look.arm, may_ask=self._may_ask, ask=self._ask, counts=self._take_keys
        )

    def receive(self, event: Event) -> None:
        """Take in what begins or ceases to wait."""
        from mcode.events import ApprovalRequested, ApprovalResolved, QuestionAsked, QuestionResolved

        match event:
            case ApprovalRequested() | QuestionAsked():
                self.asking.add(event)
                if self._look.bell:
                    self._printer.screen.bell()
                if not self._look.decorated:
                    self._printer.add(self._transcript.notice(self._announcement(event)))
            case ApprovalResolved(approval_id=identifier, choice=choice):
                self._gone(identifier, withdrawn=choice == "withdrawn")
            case QuestionResolved(question_id=identifier, answered=answered):
                self._questionnaires.pop(identifier, None)
                self._gone(identifier, withdrawn=not answered)
            case _:
                pass

    def drafted(self) -> None:
        """The draft has changed. While something is asked and does not count yet, its keys go there."""
        if self.asking.asked is None or self._prompt.asking or not self._prompt.draft.text:
            return
        self.asking.step_back(put_off=False)
        self._diverted = True

    def holds_back(self) -> bool:
        """True where an Enter must not send the draft: it was typed when something was asked, so it may have been
        meant as the answer. Says so, once; the next Enter sends."""
        diverted, self._diverted = self._diverted, False
        if not diverted or not self.asking.waiting:
            return False
        lines = self._transcript.remark("not an answer: kept in your draft; Enter again sends it")
        self._printer.add(lines)
        if self._printed is not None:  # the approval still counts as the last thing on the screen
            self._printed = (self._printed[0], self._printed[1] + len(lines))
        return True

    def draft_done(self) -> None:
        """The draft was sent or cleared."""
        self._diverted = False
        self.asking.draft_done()

    def typed(self, text: str) -> None:
        """The line at a question's prompt has changed to `text`."""
        request = self.asking.asked
        if request is None or not text:
            return
        fits = is_question(request) or could_decide(text, self._choices(request))
        if not (self.asking.armed and fits):
            self._to_draft(text)

    def pasted(self, text: str) -> None:
        """A paste at a question's prompt: it may answer a question, but it never decides an approval."""
        if self.asking.asked is not None and is_question(self.asking.asked) and self.asking.armed:
            self._prompt.answer.text = text.replace("\n", " ")
            self._prompt.answer.cursor_position = len(self._prompt.answer.text)
        else:
            self._to_draft(text)

    def entered(self, text: str) -> None:
        """Enter at a question's prompt."""
        request = self.asking.asked
        if request is None or not self.asking.armed or not text.strip():
            return
        if is_question(request):
            self._answer(request, text)
        else:
            self._decide(request, text)

    def step_back(self) -> str:
        """The user turns away from the prompt; nothing is decided. What to tell him."""
        text = self._prompt.answer.text
        self.asking.step_back(put_off=True)
        self._prompt.use_draft(text or None)
        self._printer.new_prompt()
        return "Nothing was decided; it waits on. Tab asks again, Esc or Ctrl+C now interrupts the turn."

    def leave(self) -> None:
        """The session is left; whatever waited is withdrawn with it."""
        self.asking.clear()
        self._questionnaires.clear()
        if self._prompt.asking:
            self._prompt.use_draft(self._prompt.answer.text or None)

    def row(self) -> LiveRow | None:
        """The redrawn row that says what waits and how to get to it."""
        waiting = self.asking.waiting
        if not waiting:
            return None
        asked = self.asking.asked
        if asked is not None:
            how = self._words(asked) if self.asking.armed else "in a moment; keys still go to your draft"
            text = f"{self._what(asked)}, {self.asking.position(asked)}: {how}"
        else:
            others = len(waiting) - 1
            more = f" and {others} more" if others else ""
            text = f"{self._what(waiting[0])}{more} waits for you: {self._way_there()}"
        return LiveRow(f"  {text}", "class:waiting")

    def _way_there(self) -> str:
        if self._prompt.draft.text.strip():
            return "send or clear your draft to be asked"
        return "Tab asks" if self.asking.put_off else "it is asked as soon as no key comes"

    def _may_ask(self) -> bool:
        return self._free() and not self._prompt.asking and not self._prompt.draft.text.strip()

    def _ask(self, request: Request) -> None:
        position = self.asking.position(request)
        self._printer.now()
        if is_question(request):
            self._show_question(request)
        elif self._printed == (request.approval_id, self._printer.written):
            self._print(reminder_lines(request, position, self._look, self._choices(request)))
            self._printed = (request.approval_id, self._printer.written)
        else:
            self._print(self._approval(request, position))
            self._printed = (request.approval_id, self._printer.written)

    def _take_keys(self) -> None:
        """What is typed counts from now on, so the question's prompt appears now and not before."""
        request = self.asking.asked
        if request is None:
            return
        if not self._may_ask():
            self.asking.step_back(put_off=False)
            return
        self._prompt.ask("answer?" if is_question(request) else "approve?")
        self._printer.new_prompt()

    def _approval(self, request: ApprovalRequested, position: str, *, everything: bool = False) -> list[str]:
        self._listed = self._desk().batch_of(request.approval_id)
        shown = masked_request(request, self._mask)
        return approval_lines(
            shown,
            position,
            self._look,
            self._width(),
            start=self._start(),
            everything=everything,
            batch=tuple(
                shown if each is request else masked_request(each, self._mask) for each in self._listed
            ),
        )

    def _choices(self, request: ApprovalRequested) -> tuple[ApprovalChoice, ...]:
        """The choices as they were printed."""
        return offered(request, self._listed if request in self._listed else ())

    def _decide(self, request: ApprovalRequested, text: str) -> None:
        decision = read_decision(text, self._choices(request))
        if isinstance(decision, str):
            self._printer.now(self._transcript.notice(decision, "warning"))
            return
        if decision.choice == SHOW:
            self._print(self._approval(request, self.asking.position(request), everything=True))
            self._prompt.ask("approve?")
            self._printer.new_prompt()
            return
        decided = (
            self._desk().allow_batch(self._listed) > 0
            if decision.choice == BATCH
            else self._desk().decide(request.approval_id, decision.choice, decision.comment)
        )
        if not decided:
            self._printer.now(self._transcript.notice("It no longer waits; nothing was decided.", "warning"))
            self._gone(request.approval_id, withdrawn=True)

    def _answer(self, request: QuestionAsked, text: str) -> None:
        if text.strip().lower() == DECLINE:
            self._prompt.use_draft()  # the word has done its work and must not stay anywhere
            self._desk().answer(request.question_id, None)
            return
        questionnaire = self._questionnaires[request.question_id]
        fault = questionnaire.take(text)
        if fault:
            self._printer.now(self._transcript.notice(fault, "warning"))
            return
        self._printer.add(self._transcript.remark(f"you answered: {text.strip()}"))
        answers = questionnaire.answers
        if answers is not None:
            self._desk().answer(request.question_id, answers)
            return
        self._show_question(request)
        self._prompt.ask("answer?")
        self._printer.new_prompt()

    def _show_question(self, request: QuestionAsked) -> None:
        questionnaire = self._questionnaires.setdefault(request.question_id, Questionnaire(request))
        self._print(question_lines(questionnaire, self._look, self._width()))

    def _print(self, lines: list[str]) -> None:
        self._printer.now(self._transcript.block("question", lines))

    def _to_draft(self, text: str) -> None:
        """What was typed belongs to the draft; the question waits until that is sent or cleared."""
        before = self._prompt.draft.text
        self.asking.step_back(put_off=False)
        self._prompt.use_draft(before.strip() + text)
        self._diverted = True
        self._printer.new_prompt()

    def _gone(self, identifier: str, *, withdrawn: bool) -> None:
        if not self.asking.remove(identifier):
            return
        typed = self._prompt.answer.text if withdrawn else ""
        self._prompt.use_draft(typed or None)
        self._printer.new_prompt()

    def _announcement(self, request: Request) -> str:
        return f"{self._what(request)} waits for you. You are asked when your line is empty."

    def _what(self, request: Request) -> str:
        tool = clean(request.call.tool, Kind.LINE)
        return f"question of {tool}" if is_question(request) else f"approval of {tool}"

    def _words(self, request: Request) -> str:
        if is_question(request):
            return f"your answer, then Enter; {DECLINE}; Esc back"
        words = ", ".join(choice.key for choice in self._choices(request))
        return f"{words} or {SHOW}, then Enter; Esc back"
