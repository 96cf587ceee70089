"""Approvals and questions: parked, focused, armed, decided. A key typed for the prompt never decides anything.

What keys mean is settled in one place, in the order in which they were read: the app asks `takes` about each key
before any widget sees it, and a key that was meant for the draft is handed on behind those before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.asking import Asking, identifier_of, is_question
from mcode.ui.tui.approval_sheet import ApprovalSheet
from mcode.ui.tui.approval_verdict import ApprovalVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Key

    from mcode.call import Call
    from mcode.commands.host import QuestionDesk
    from mcode.events import Event
    from mcode.ui.asking import Request
    from mcode.ui.tui.approval_panel import ApprovalPanel
    from mcode.ui.tui.prompt_area import PromptArea
    from mcode.ui.tui.rows import Row
    from mcode.ui.tui.stage import Stage

WAITS = "your typing stays here; {what}"
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
        program: Callable[[str], int],
        hooks: Callable[[Call], Sequence[str]],
        mask: Callable[[str], str],
        idle: float,
        arm: float,
    ) -> None:
        """`start` is the directory that goes without saying; `program` numbers a program by the id of its call;
        `hooks` are those that will run after one; `mask` hides what is known to be secret."""
        self._prompt = prompt
        self._stage = stage
        self._sheet = ApprovalSheet(panel, desk=desk, start=start, program=program, hooks=hooks, mask=mask)
        self._asking = Asking(
            idle=idle, arm=arm, may_ask=self._may_ask, ask=self._focus, counts=self._armed_now
        )
        self._verdict = ApprovalVerdict(
            self._sheet,
            prompt,
            desk=desk,
            words=self._words_wanted,
            back=self._back,
            more=self._next_question,
            done=self._finish,
        )
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
        return self._sheet.request

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
        self._stage.fit_panel()

    def review(self) -> bool:
        """The user goes to the panel; False where nothing waits."""
        if self._sheet.request is None:
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
        self._refresh()

    def takes(self, key: Key) -> bool:
        """Take a key that is meant for the panel, or that has to leave it; False where it is anybody's.

        Tab goes to the panel and stays there: pressed in the moment in which the panel takes the focus by itself,
        it must not lead away again.
        """
        if not self.focused:
            return False
        match key.key:
            case "enter":
                self._confirm()
            case "up" | "down":
                if self._asking.armed:
                    self._sheet.move(-1 if key.key == "up" else 1)
            case "escape" | "shift+tab":
                self.step_back()
            case "tab":
                pass
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
        if self._asking.armed:
            self._sheet.choose(at)

    def _confirm(self) -> None:
        if self._asking.asked is not None and self._asking.armed and self._sheet.chosen is not None:
            self._pressed.clear()
            self._verdict.confirm(self._asking.asked, self._sheet.chosen)

    def _words_wanted(self) -> None:
        """The prompt takes words for what is chosen."""
        self._sheet.mark("answering")
        self._stage.focus_prompt()

    def _back(self) -> None:
        """The words are given up: back to the answers."""
        self._asking.step_back(put_off=False)
        self._park()
        self.review()

    def _next_question(self, request: Request) -> None:
        """There are more questions in the request."""
        self._asking.step_back(put_off=False)
        self._sheet.show(request, self._position)
        self._park()

    def _finish(self, request: Request) -> None:
        """It is decided: take it off at once, so that the next key belongs to the prompt whatever it is."""
        self._asking.remove(identifier_of(request))
        self._pressed.clear()
        self._stage.focus_prompt()
        self._refresh()

    def _gone(self, identifier: str) -> None:
        shown = self._sheet.request
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
        if self._sheet.request is not request:
            self._sheet.show(request, self._position)
        self._pressed = []
        self._sheet.forget_choice()
        self._stage.focus_panel()
        self._sheet.mark("focused")
        self._prompt.show_title(COMES)

    def _armed_now(self) -> None:
        if self._asking.asked is not None:
            self._sheet.mark("armed")
            self._title()

    def _park(self) -> None:
        self._pressed = []
        self._sheet.forget_choice()
        if self._sheet.request is not None:
            self._sheet.mark("parked")
        self._stage.focus_prompt()
        self._title()

    def _refresh(self) -> None:
        """Show the oldest that waits, or nothing."""
        waiting = self._asking.waiting
        first = waiting[0] if waiting else None
        if first is None:
            self._sheet.close()
        elif first is not self._sheet.request:
            self._sheet.show(first, self._position)
        else:
            self._sheet.reposition(self._position, keep=self.focused)
        self._title()
        self._stage.waiting_changed(waiting)

    @property
    def _position(self) -> str:
        return f"1 of {len(self._asking.waiting)} waiting"

    def _title(self) -> None:
        request = self._sheet.request
        if request is None:
            self._prompt.show_title()
        elif self.focused:
            self._prompt.show_title(COMES)
        elif self._prompt.is_blank:
            what = "the question waits" if is_question(request) else "approvals wait"
            self._prompt.show_title(WAITS.format(what=what))
        else:
            self._prompt.show_title(KEPT)

    def whole(self) -> tuple[str, Callable[[int], list[Row]]] | None:
        """Title and rows of all that the panel shows; None where it shows nothing."""
        return self._sheet.whole()
