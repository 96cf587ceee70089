"""What a confirmed answer does: it decides, asks for words first, or goes on to the next question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.asking import is_question
from mcode.ui.tui.offers import BATCH, DECLINE, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.commands.host import QuestionDesk
    from mcode.events import ApprovalRequested, QuestionAsked
    from mcode.ui.asking import Request
    from mcode.ui.tui.approval_sheet import ApprovalSheet
    from mcode.ui.tui.offers import Offer
    from mcode.ui.tui.prompt_area import PromptArea

WHY = "why not? Enter sends, Esc without a reason"
REASON = "what the agent should know or do instead; may stay empty"
ANSWER = "your answer; Enter sends, Esc back to the question"


class ApprovalVerdict:
    """Tells the desk, which is the only one that is told."""

    def __init__(
        self,
        sheet: ApprovalSheet,
        prompt: PromptArea,
        *,
        desk: Callable[[], QuestionDesk],
        words: Callable[[], None],
        back: Callable[[], None],
        more: Callable[[Request], None],
        done: Callable[[Request], None],
    ) -> None:
        """`words`: the prompt takes some from now on; `back`: they were given up; `more`: another question of the
        same request; `done`: it is decided, and the next key belongs to the draft whatever it is."""
        self._sheet = sheet
        self._prompt = prompt
        self._desk = desk
        self._words = words
        self._back = back
        self._more = more
        self._done = done

    def confirm(self, request: Request, offer: Offer) -> None:
        """Do what the chosen answer stands for."""
        if is_question(request):
            self._answer(request, offer)
        elif offer.with_reason:
            self._prompt.ask(WHY, lambda reason: self._deny(request, offer, reason), REASON)
            self._words()
        elif offer.key == BATCH:
            together = self._sheet.together
            self._done(request)
            self._desk().allow_batch(together)
        else:
            self._done(request)
            self._desk().decide(request.approval_id, offer.key)

    def _deny(self, request: ApprovalRequested, offer: Offer, reason: str | None) -> None:
        self._prompt.end_asking()
        self._done(request)
        self._desk().decide(request.approval_id, offer.key, (reason or "").strip())

    def _answer(self, request: QuestionAsked, offer: Offer) -> None:
        questionnaire = self._sheet.questionnaire
        if questionnaire is None:
            return
        if offer.key == WORDS:
            self._prompt.ask(ANSWER, lambda text: self._answer_words(request, text))
            self._words()
            return
        self._sheet.forget_choice()
        if offer.key == DECLINE:
            self._done(request)
            self._desk().answer(request.question_id, None)
        elif offer.key == "done":
            self._take(request, self._sheet.marked)
        elif questionnaire.current.several:
            self._sheet.toggle(int(offer.key))
        else:
            self._take(request, str(int(offer.key) + 1))

    def _answer_words(self, request: QuestionAsked, text: str | None) -> None:
        questionnaire = self._sheet.questionnaire
        if text is None or questionnaire is None:
            self._prompt.end_asking()
            self._back()
        elif problem := questionnaire.problem_of(text):
            self._prompt.ask_again(problem)
        else:
            self._prompt.end_asking()
            self._take(request, text)

    def _take(self, request: QuestionAsked, text: str) -> None:
        questionnaire = self._sheet.questionnaire
        if questionnaire is None or questionnaire.take(text):
            self._sheet.mark("armed")
        elif questionnaire.answers is None:
            self._more(request)
        else:
            self._done(request)
            self._desk().answer(request.question_id, questionnaire.answers)
