"""Approvals and questions: parked, focused, armed, decided. A key typed for the prompt never decides anything.

What keys mean is settled in one place, in the order in which they were read: the app asks `takes` about each key
before any widget sees it, and a key that was meant for the draft is handed on behind those before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.asking import Asking, identifier_of, is_question
from mcode.ui.tui.offers import BATCH, DECLINE, WORDS, Offer, approval_offers, question_offers

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Key

    from mcode.commands.host import QuestionDesk
    from mcode.events import ApprovalRequested, Event, QuestionAsked
    from mcode.ui.asking import Request
    from mcode.ui.questionnaire import Questionnaire
    from mcode.ui.tui.approval_panel import ApprovalPanel
    from mcode.ui.tui.prompt_area import PromptArea
    from mcode.ui.tui.rows import Row
    from mcode.ui.tui.stage import Stage

WHY = "why not? Enter sends, Esc without a reason"
REASON = "what the agent should know or do instead; may stay empty"
ANSWER = "your answer; Enter sends, Esc back to the question"
WAITS = "your typing stays here; approvals wait"
KEPT = "draft kept"
COMES = "typing anything else comes here"


class Deciding:
    """The state of what waits. At most one is asked at a time."""

    def __init__(
        self,
        panel: ApprovalPanel,
        prompt: PromptArea,
        stage: Stage,
        *,
        desk: Callable[[], QuestionDesk],
        start: Callable[[], str],
        idle: float,
        arm: float,
    ) -> None:
        self._panel = panel
        self._prompt = prompt
        self._stage = stage
        self._desk = desk
        self._start = start
        self._asking = Asking(
            idle=idle, arm=arm, may_ask=self._may_ask, ask=self._focus, counts=self._armed_now
        )
        self._shown: Request | None = None
        self._offers: tuple[Offer, ...] = ()
        self._together: tuple[ApprovalRequested, ...] = ()
        self._questionnaire: Questionnaire | None = None
        self._marked: list[int] = []
        self._chosen: int | None = None
        self._pressed: list[Key] = []
        """Digits since the panel took the focus; they belong to the draft if other letters follow."""
        self._wanted = False
        """True while the user himself asks for the panel."""

    @property
    def waiting(self) -> tuple[Request, ...]:
        """All that wait, oldest first."""
        return self._asking.waiting

    @property
    def focused(self) -> bool:
        """True while the panel has the keys."""
        return self._asking.asked is not None and not self._prompt.asking

    @property
    def shown(self) -> Request | None:
        """What the panel shows."""
        return self._shown

    def receive(self, event: Event) -> None:
        """Take in what begins or ceases to wait."""
        from mcode import events

        match event:
            case events.ApprovalRequested() | events.QuestionAsked():
                self._asking.add(event)
                self._refresh()
            case (
                events.ApprovalResolved(approval_id=identifier)
                | events.QuestionResolved(question_id=identifier)
            ):
                self._gone(identifier)
            case _:
                pass

    def key_pressed(self) -> None:
        """Any key was read."""
        self._asking.key_pressed()

    def draft_changed(self) -> None:
        """The draft may have become empty, or is no longer."""
        if self._prompt.is_blank and not self._prompt.asking:
            self._asking.draft_done()
        self._title()

    def review(self) -> bool:
        """The user goes to the panel; False where nothing waits."""
        if self._shown is None:
            return False
        if not self.focused:
            self._wanted = True
            self._asking.ask_now()
            self._wanted = False
        return True

    def step_back(self) -> None:
        """The user turns away; everything waits on."""
        self._asking.step_back(put_off=True)
        self._park()

    def leave(self) -> None:
        """The session is left; what waited is withdrawn with it."""
        if self._prompt.asking:
            self._prompt.end_asking()
        self._asking.clear()
        self._shown = None
        self._refresh()

    def takes(self, key: Key) -> bool:
        """Take a key that is meant for the panel, or that has to leave it; False where it is anybody's."""
        if not self.focused:
            return False
        match key.key:
            case "enter":
                self._confirm()
            case "up" | "down":
                self._move(-1 if key.key == "up" else 1)
            case "escape" | "tab" | "shift+tab":
                self.step_back()
            case "backspace":
                self._pressed.clear()
                self._choose(None)
            case _ if key.character is not None and key.character in "123456789":
                self._pressed.append(key)
                self._choose(int(key.character) - 1)
            case _ if key.is_printable:
                self._to_draft(key)
            case _:
                return False
        return True

    def pasted(self) -> None:
        """A paste is text: it goes to the prompt and decides nothing."""
        if self.focused:
            self._asking.step_back(put_off=False)
            self._park()

    def _to_draft(self, key: Key) -> None:
        keys = [*self._pressed, key]
        self._asking.step_back(put_off=False)
        self._park()
        self._stage.to_prompt(keys)

    def _choose(self, at: int | None) -> None:
        if not self._asking.armed:
            return
        if at is not None and (at >= len(self._offers) or self._closed(self._offers[at])):
            return
        self._chosen = at
        self._panel.mark("armed", at)

    def _move(self, by: int) -> None:
        count = len(self._offers)
        at = (-1 if by > 0 else 0) if self._chosen is None else self._chosen
        for _ in range(count):
            at = (at + by) % count
            if not self._closed(self._offers[at]):
                self._choose(at)
                return

    def _closed(self, offer: Offer) -> bool:
        return offer.to_the_end and not self._panel.seen_all

    def _confirm(self) -> None:
        request = self._asking.asked
        if request is None or not self._asking.armed or self._chosen is None:
            return
        offer = self._offers[self._chosen]
        self._chosen = None
        self._pressed.clear()
        if is_question(request):
            self._answer(request, offer)
        elif offer.with_reason:
            self._prompt.ask(WHY, lambda reason: self._deny(request, offer, reason), REASON)
            self._stage.focus_prompt()
            self._panel.mark("parked", self._offers.index(offer))
        elif offer.key == BATCH:
            together = self._together
            self._finish(request)
            self._desk().allow_batch(together)
        else:
            self._finish(request)
            self._desk().decide(request.approval_id, offer.key)

    def _deny(self, request: ApprovalRequested, offer: Offer, reason: str | None) -> None:
        self._prompt.end_asking()
        self._finish(request)
        self._desk().decide(request.approval_id, offer.key, (reason or "").strip())

    def _answer(self, request: QuestionAsked, offer: Offer) -> None:
        questionnaire = self._questionnaire
        if questionnaire is None:
            return
        if offer.key == DECLINE:
            self._finish(request)
            self._desk().answer(request.question_id, None)
        elif offer.key == WORDS:
            self._prompt.ask(ANSWER, lambda text: self._answer_words(request, text))
            self._stage.focus_prompt()
            self._panel.mark("parked", self._offers.index(offer))
        elif offer.key == "done":
            if self._marked:
                self._take(request, ", ".join(str(at + 1) for at in sorted(self._marked)))
        elif questionnaire.current.several:
            at = int(offer.key)
            self._marked = [each for each in self._marked if each != at] + (
                [] if at in self._marked else [at]
            )
            self._offers = question_offers(questionnaire.current, self._marked)
            self._panel.offer(self._offers)
            self._panel.mark("armed", None)
        else:
            self._take(request, str(int(offer.key) + 1))

    def _answer_words(self, request: QuestionAsked, text: str | None) -> None:
        if text is not None and not text.strip():
            return
        self._prompt.end_asking()
        if text is None:
            self.step_back()
        else:
            self._take(request, text)

    def _take(self, request: QuestionAsked, text: str) -> None:
        questionnaire = self._questionnaire
        if questionnaire is None or questionnaire.take(text):
            return
        answers = questionnaire.answers
        if answers is not None:
            self._finish(request)
            self._desk().answer(request.question_id, answers)
            return
        self._asking.step_back(put_off=False)
        self._show(request)
        self._park()

    def _finish(self, request: Request) -> None:
        """It is decided: take it off at once, so that the next key belongs to the prompt whatever it is."""
        self._asking.remove(identifier_of(request))
        self._pressed.clear()
        self._stage.focus_prompt()
        self._refresh()

    def _gone(self, identifier: str) -> None:
        shown = self._shown
        if shown is not None and identifier_of(shown) == identifier and self._prompt.asking:
            self._return_words(self._prompt.end_asking())
        had_keys = self.focused
        if self._asking.remove(identifier) and had_keys:
            self._stage.to_prompt(self._pressed)
            self._pressed = []
            self._stage.focus_prompt()
        self._refresh()

    def _return_words(self, typed: str) -> None:
        """What was typed as a reason has nobody to go to any more: it joins the draft."""
        if typed.strip():
            draft = self._prompt.draft
            self._prompt.use_draft(f"{draft}\n{typed}" if draft.strip() else typed)

    def _may_ask(self) -> bool:
        if not self._stage.is_current or self._prompt.asking:
            return False
        return self._wanted or (self._stage.prompt_focused and self._prompt.at_rest and self._prompt.is_blank)

    def _focus(self, request: Request) -> None:
        if self._shown is not request:
            self._show(request)
        self._pressed = []
        self._chosen = None
        self._stage.focus_panel()
        self._panel.mark("focused", None)
        self._prompt.show_title(COMES)

    def _armed_now(self) -> None:
        if self._asking.asked is not None:
            self._panel.mark("armed", self._chosen)
            self._title()

    def _park(self) -> None:
        self._pressed = []
        self._chosen = None
        if self._shown is not None:
            self._panel.mark("parked", None)
        self._stage.focus_prompt()
        self._title()

    def _refresh(self) -> None:
        """Show the oldest that waits, or nothing."""
        waiting = self._asking.waiting
        first = waiting[0] if waiting else None
        if first is None:
            self._shown = None
            self._panel.close()
        elif first is not self._shown:
            self._show(first)
        else:
            self._panel.reposition(self._position())
            self._update_batch(first)
        self._title()
        self._stage.waiting_changed(first, len(waiting))

    def _position(self) -> str:
        count = len(self._asking.waiting)
        return f"1 of {count} waiting"

    def _title(self) -> None:
        if self._shown is None:
            self._prompt.show_title()
        elif self.focused:
            self._prompt.show_title(COMES)
        else:
            self._prompt.show_title(WAITS if self._prompt.is_blank else KEPT)

    def _show(self, request: Request) -> None:
        self._shown = request
        self._chosen = None
        tool = clean(request.call.tool, Kind.DECISION)
        if is_question(request):
            self._show_question(request, tool)
            return
        self._questionnaire = None
        self._together = self._desk().batch_of(request.approval_id)
        self._offers = approval_offers(request, len(self._together))
        self._panel.present(f"{tool} wants approval", self._position(), self._rows_of(request), self._offers)

    def _update_batch(self, request: Request) -> None:
        """More or fewer calls wait with the same rule; what is listed stays true, and nothing is chosen of it."""
        if is_question(request) or self.focused:
            return
        together = self._desk().batch_of(request.approval_id)
        if together != self._together:
            self._show(request)

    def _show_question(self, request: QuestionAsked, tool: str) -> None:
        from mcode.ui.questionnaire import Questionnaire
        from mcode.ui.tui.approval_rows import question_rows

        if self._questionnaire is None or self._questionnaire.request is not request:
            self._questionnaire = Questionnaire(request)
        self._marked = []
        question = self._questionnaire.current
        at, total = request.questions.index(question) + 1, len(request.questions)
        position = f"({at} of {total}) " if total > 1 else ""
        self._offers = question_offers(question)
        self._panel.present(
            f"{tool} asks",
            self._position(),
            lambda width: question_rows(question, position, width),
            self._offers,
        )

    def whole(self) -> tuple[str, Callable[[int], list[Row]]] | None:
        """Title and rows of the approval that is shown, with its raw arguments; None where there is none."""
        request = self._shown
        if request is None or is_question(request):
            return None
        tool = clean(request.call.tool, Kind.DECISION)
        return f"{tool} wants approval", self._rows_of(request, everything=True)

    def _rows_of(self, request: ApprovalRequested, *, everything: bool = False) -> Callable[[int], list[Row]]:
        """A function that makes the rows of an approval for a width."""
        from mcode.ui.tui.approval_rows import approval_rows

        together = self._together
        return lambda width: approval_rows(
            request, width, start=self._start(), together=together, everything=everything
        )
