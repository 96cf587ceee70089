"""What the panel of approvals shows: a request, its numbered answers, and which of them is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.asking import is_question
from mcode.ui.masked_request import masked_request
from mcode.ui.tui.offers import approval_offers, question_offers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.call import Call
    from mcode.commands.host import QuestionDesk
    from mcode.events import ApprovalRequested, QuestionAsked
    from mcode.ui.asking import Request
    from mcode.ui.questionnaire import Questionnaire
    from mcode.ui.tui.approval_panel import ApprovalPanel
    from mcode.ui.tui.offers import Offer
    from mcode.ui.tui.rows import Row


class ApprovalSheet:
    """Decides nothing; it knows what a number stands for."""

    def __init__(
        self,
        panel: ApprovalPanel,
        *,
        desk: Callable[[], QuestionDesk],
        start: Callable[[], str],
        program: Callable[[str], int],
        hooks: Callable[[Call], Sequence[str]],
        mask: Callable[[str], str],
    ) -> None:
        """`start` is the directory that goes without saying; `program` numbers a program by the id of its call;
        `hooks` are those that will run after one; `mask` hides what is known to be secret."""
        self._panel = panel
        self._desk = desk
        self._start = start
        self._program = program
        self._hooks, self._mask = hooks, mask
        self._offers: tuple[Offer, ...] = ()
        self._marked: list[int] = []
        self._chosen: int | None = None
        self.request: Request | None = None
        """What is shown; None for nothing."""
        self.together: tuple[ApprovalRequested, ...] = ()
        """The calls that one answer would allow."""
        self.questionnaire: Questionnaire | None = None
        """The questions of the request, where it is none of approvals."""

    @property
    def chosen(self) -> Offer | None:
        """The answer that the user went to; None before."""
        return self._offers[self._chosen] if self._chosen is not None else None

    @property
    def marked(self) -> str:
        """The numbers of the choices that are marked, where several may be."""
        return ", ".join(str(at + 1) for at in sorted(self._marked))

    def show(self, request: Request, position: str) -> None:
        """Show a request from its beginning, parked and with nothing chosen."""
        self.request = request
        self._chosen = None
        tool = clean(request.call.tool, Kind.DECISION)
        if is_question(request):
            self._show_question(request, f"{tool} asks", position)
            return
        self.questionnaire = None
        self.together = self._desk().batch_of(request.approval_id)
        self._offers = approval_offers(masked_request(request, self._mask), len(self.together))
        self._panel.present(f"{tool} wants approval", position, self._rows_of(request), self._offers)

    def reposition(self, position: str, *, keep: bool) -> None:
        """More or fewer wait beside it. Unless the user is at it (`keep`), what is listed with it stays true, and
        nothing is chosen of it."""
        self._panel.reposition(position)
        request = self.request
        if keep or request is None or is_question(request):
            return
        if self._desk().batch_of(request.approval_id) != self.together:
            self.show(request, position)

    def close(self) -> None:
        """Nothing waits any more."""
        self.request = None
        self._panel.close()

    def mark(self, state: str) -> None:
        """`parked`, `focused`, `armed`, or `answering` while the prompt takes words for it."""
        self._panel.mark(state, self._chosen)

    def choose(self, at: int | None) -> None:
        """Go to an answer, from 0; None for none. One that is not open yet cannot be gone to."""
        if at is not None and (at >= len(self._offers) or self._closed(self._offers[at])):
            return
        self._chosen = at
        self._panel.mark("armed", at)

    def move(self, by: int) -> None:
        """Go to the next answer or the one before, around the ends."""
        count = len(self._offers)
        at = (-1 if by > 0 else 0) if self._chosen is None else self._chosen
        for _ in range(count):
            at = (at + by) % count
            if not self._closed(self._offers[at]):
                self.choose(at)
                return

    def forget_choice(self) -> None:
        """Nothing is chosen any more."""
        self._chosen = None

    def toggle(self, at: int) -> None:
        """Mark a choice of a question that takes several, or take the mark off."""
        if self.questionnaire is None:
            return
        marked = self._marked
        self._marked = [each for each in marked if each != at] if at in marked else [*marked, at]
        self._offers = question_offers(self.questionnaire.current, self._marked)
        self._panel.offer(self._offers)
        self.mark("armed")

    def whole(self) -> tuple[str, Callable[[int], list[Row]]] | None:
        """Title and rows of all that is shown, an approval with its raw arguments; None where nothing is."""
        from mcode.ui.tui.approval_rows import answer_rows

        request = self.request
        if request is None:
            return None
        tool = clean(request.call.tool, Kind.DECISION)
        if not is_question(request):
            return f"{tool} wants approval", self._rows_of(request, everything=True)
        make, offers = self._question_rows(request), self._offers
        return f"{tool} asks", lambda width: [*make(width), *answer_rows(offers, width)]

    def _closed(self, offer: Offer) -> bool:
        return offer.to_the_end and not self._panel.seen_all

    def _show_question(self, request: QuestionAsked, title: str, position: str) -> None:
        from mcode.ui.questionnaire import Questionnaire

        if self.questionnaire is None or self.questionnaire.request is not request:
            self.questionnaire = Questionnaire(request)
        self._marked = []
        self._offers = question_offers(self.questionnaire.current)
        self._panel.present(title, position, self._question_rows(request), self._offers)

    def _question_rows(self, request: QuestionAsked) -> Callable[[int], list[Row]]:
        from mcode.ui.tui.approval_rows import question_rows

        if self.questionnaire is None:
            return lambda width: []
        question, (at, total) = self.questionnaire.current, self.questionnaire.position
        place = f"({at} of {total}) " if len(request.questions) > 1 else ""
        return lambda width: question_rows(question, place, width)

    def _rows_of(self, request: ApprovalRequested, *, everything: bool = False) -> Callable[[int], list[Row]]:
        """A function that makes the rows of an approval for a width."""
        from mcode.ui.tui.approval_rows import approval_rows

        together = [masked_request(each, self._mask) for each in self.together]
        shown = masked_request(request, self._mask)
        program, hooks = self._program(request.call.parent or ""), self._hooks(request.call)
        return lambda width: approval_rows(
            shown,
            width,
            start=self._start(),
            program=program,
            hooks=hooks,
            together=together,
            everything=everything,
        )
