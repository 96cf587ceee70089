"""When a waiting approval or question is put to the user, and from which moment a key may answer it.

A key typed for the draft must never decide anything. So a question is asked only while the draft is empty and
after no key came for a while; for a short time after it has appeared every key still counts as meant for the
draft; and what is typed at its prompt and cannot become an answer goes to the draft as well.

The moments are reached by timers of the event loop, not by comparing clocks: keys that were pressed while the
loop was held up are read before a timer that is due at the same time fires.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import TypeIs

    from mcode.events import ApprovalRequested, QuestionAsked

    Request = ApprovalRequested | QuestionAsked


class Asking:
    """At most one question is asked at a time; the rest wait in line."""

    def __init__(
        self,
        *,
        idle: float,
        arm: float,
        may_ask: Callable[[], bool],
        ask: Callable[[Request], None],
        counts: Callable[[], None],
    ) -> None:
        """`ask` puts up the prompt of a question; `counts` is told when what is typed there begins to count."""
        self._idle = idle
        self._arm = arm
        self._may_ask = may_ask
        self._ask = ask
        self._counts = counts
        self._waiting: list[Request] = []
        self._asked: Request | None = None
        self._armed = False
        self._put_off = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> tuple[Request, ...]:
        """All that wait, the one that is asked included, oldest first."""
        return tuple(self._waiting)

    @property
    def asked(self) -> Request | None:
        """The one whose prompt is on the screen."""
        return self._asked

    @property
    def armed(self) -> bool:
        """True once what is typed at its prompt counts."""
        return self._armed

    @property
    def put_off(self) -> bool:
        """True where the user turned away from the prompt: it comes back on Tab or after the next draft."""
        return self._put_off

    def position(self, request: Request) -> str:
        """`1 of 2`."""
        return f"{self._waiting.index(request) + 1} of {len(self._waiting)}"

    def add(self, request: Request) -> None:
        """A call waits for the user from now on."""
        self._waiting.append(request)
        self._put_off = False
        self.key_pressed()

    def remove(self, identifier: str) -> bool:
        """It was decided or withdrawn; True where its prompt was on the screen."""
        gone = [request for request in self._waiting if identifier_of(request) == identifier]
        self._waiting = [request for request in self._waiting if request not in gone]
        on_screen = self._asked is not None and self._asked in gone
        if on_screen:
            self._asked = None
            self._armed = False
        self.key_pressed()
        return on_screen

    def clear(self) -> None:
        """Nothing waits any more: the session is left."""
        self._waiting.clear()
        self.stop()

    def stop(self) -> None:
        """Ask nothing from now on."""
        self._asked = None
        self._armed = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def key_pressed(self) -> None:
        """Any key, and anything else after which the user's hands should come to rest first."""
        if self._asked is None and self._waiting and not self._put_off:
            self._after(self._idle, self._try_to_ask)

    def ask_now(self) -> None:
        """The user asks for the prompt himself; the time until it counts runs all the same."""
        self._put_off = False
        self._try_to_ask()

    def step_back(self, *, put_off: bool) -> None:
        """The prompt goes back to the draft and the question waits on.

        `put_off`: the user turned away, so it does not come back by itself before the next draft is done.
        """
        self._asked = None
        self._armed = False
        self._put_off = put_off
        self.key_pressed()

    def draft_done(self) -> None:
        """The draft was sent or cleared."""
        self._put_off = False
        self.key_pressed()

    def _try_to_ask(self) -> None:
        if self._asked is not None or not self._waiting or self._put_off:
            return
        if not self._may_ask():
            return
        request = self._waiting[0]
        self._armed = False
        self._ask(request)
        self._asked = request  # only now: what could not be shown is not asked
        self._after(self._arm, self._become_armed)

    def _become_armed(self) -> None:
        self._armed = self._asked is not None
        self._counts()

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, do)


def identifier_of(request: Request) -> str:
    """The id under which the desk knows a question."""
    return request.question_id if is_question(request) else request.approval_id


def is_question(request: Request) -> TypeIs[QuestionAsked]:
    """Whether a tool asks, and not an approval; the events themselves are loaded behind the first frame."""
    from mcode.events import QuestionAsked

    return isinstance(request, QuestionAsked)


def waiting_words(waiting: Sequence[Request]) -> str:
    """`1 approval`, `2 approvals and 1 question`; empty for nothing."""
    questions = sum(is_question(request) for request in waiting)
    counts = ((len(waiting) - questions, "approval"), (questions, "question"))
    return " and ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)
