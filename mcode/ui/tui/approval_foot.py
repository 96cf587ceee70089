"""What stands under the body of the panel of approvals: how much of it is in view, the answers, and the keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from mcode.text import cell_width, shorten
from mcode.ui.tui.wrapping import wrap_parts
from mcode.ui.wrap import wrap_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.tui.offers import Offer

_HINTS = {
    "parked": (
        "Tab to review. Keys you type go to your draft; nothing is decided until you choose and confirm.",
        "Tab reviews it; keys you type go to your draft",
        "Tab reviews it",
    ),
    "focused": ("in a moment; keys still go to your draft", "in a moment"),
    "armed": (
        "1-{count} choose   Enter confirm   PgUp/PgDn scroll   Ctrl+O full screen   Esc back to prompt (waits)",
        "1-{count} choose   Enter confirm   Ctrl+O full screen   Esc back to prompt (waits)",
        "1-{count} choose  Enter confirm  Ctrl+O all  Esc back (waits)",
        "1-{count}, Enter confirm, Esc back",
    ),
    "answering": (
        "your words go into the prompt below, for the answer marked here",
        "your words go into the prompt",
    ),
}
"""What keys do, by the state of the panel; the longest that has room is shown."""

_FIRST = "(scroll to the end first)"

_KEPT_BODY = 5
"""Rows of what is decided on that rules in rows of their own leave."""
_LEAST_BODY = 2
"""Rows of it that are always there, where there are more than very few."""
_FEW = 6
"""Rows for body and foot that are very few: the body has one of them."""
_LEAST_RULE = 16
"""Cells that are worth showing of a rule."""


@dataclass(frozen=True, slots=True)
class Foot:
    """The rows for one state of the panel."""

    offers: Sequence[Offer]
    chosen: int | None
    state: str
    """`parked`, `focused`, `armed` or `answering`."""
    seen_all: bool
    """True once all of the body has been in view."""
    room: int
    """Rows between the frame's, for body and foot."""
    roomy: bool
    """Whether rules are shown whole."""
    cut: str
    """Stands at the end of what is too wide."""

    def lines(self, width: int, counter: str) -> list[Content]:
        """The rows for a width; `counter` says which lines of the body are in view."""
        hints = [hint.format(count=len(self.offers)) for hint in _HINTS[self.state]]
        hint = next((each for each in hints if cell_width(each) <= width), hints[-1])
        keys = [Content(row).stylize("bold") for row in wrap_all(hint, width)]
        most = self.room - self.least_body - len(keys)
        counted = [Content(counter).stylize("dim")] if most > 1 else []
        most = max(0, most - len(counted))
        answers = self._parked(width, most) if self.state == "parked" else self._numbered(width, most)
        return [*counted, *answers, *keys]

    @property
    def least_body(self) -> int:
        """Rows that the body gets, whatever the answers take."""
        return 1 if self.room < _FEW else _LEAST_BODY

    def _parked(self, width: int, most: int) -> list[Content]:
        words = [f"{at} {offer.label}" for at, offer in enumerate(self.offers, 1)]
        if not self.roomy and sum(map(cell_width, words)) > width:
            words = [f"{at} {offer.short}" for at, offer in enumerate(self.offers, 1)]
        if all(cell_width(each) <= width for each in words):
            return [Content(row) for row in wrap_parts(words, width)][:most]
        # The rest of one must not run into the next.
        return self._fitted(
            [[Content(row) for row in wrap_all(each, width, 2)] for each in words], width, most
        )

    def _numbered(self, width: int, most: int) -> list[Content]:
        short = [len(wrap_all(self._head(at, offer), width, 5)) for at, offer in enumerate(self.offers)]
        spare = most + self.least_body - _KEPT_BODY - sum(short)
        made: list[list[Content]] = []
        for at, offer in enumerate(self.offers):
            made.append(self._answer(at, offer, width, spare=spare))
            spare -= len(made[-1]) - short[at]
        return self._fitted(made, width, most)

    def _fitted(self, answers: list[list[Content]], width: int, most: int) -> list[Content]:
        """At most so many rows: each answer whole; else only the chosen one; else those around it."""
        if sum(map(len, answers)) > most:
            answers = [
                rows if at == self.chosen else [_cut(rows, width, self.cut)]
                for at, rows in enumerate(answers)
            ]
            if self.chosen is not None:
                spare = most - len(answers) + 1
                rows = answers[self.chosen]
                answers[self.chosen] = (
                    rows
                    if len(rows) <= spare
                    else [*rows[: spare - 1], _cut(rows[spare - 1 :], width, self.cut)]
                )
        flat = [row for rows in answers for row in rows]
        first = max(0, min((self.chosen or 0) - most // 2, len(flat) - most))
        return flat[first : first + most]

    def _head(self, at: int, offer: Offer) -> str:
        mark = ">" if at == self.chosen else " "
        return f"{mark} {at + 1}  {offer.label}{f'   {_FIRST}' if self._closed(offer) else ''}"

    def _closed(self, offer: Offer) -> bool:
        return offer.to_the_end and not self.seen_all

    def _answer(self, at: int, offer: Offer, width: int, *, spare: int) -> list[Content]:
        """An answer with its rule; `spare`: rows that there are for rules of answers that are not chosen."""
        chosen = at == self.chosen
        head = self._head(at, offer)
        style = "bold reverse" if chosen else "dim" if self._closed(offer) else ""
        lines = [Content(row).stylize(style) for row in wrap_all(head, width, 5)]
        if not offer.rule or (not offer.to_the_end and offer.named_rule in offer.label):
            return lines  # it is said already
        if cell_width(f"{head}   {offer.rule}") <= width:
            return [Content(f"{head}   {offer.rule}").stylize(style)]
        if self.roomy or chosen:
            return [*lines, *(Content(f"     {row}") for row in wrap_all(offer.rule, width - 5))]
        room = width - cell_width(head) - 3
        if spare > 0:
            return [*lines, Content(f"     {without_middle(offer.rule, width - 5, self.cut)}").stylize(style)]
        if room >= _LEAST_RULE:
            return [Content(f"{head}   {without_middle(offer.rule, room, self.cut)}").stylize(style)]
        return lines


def _cut(rows: list[Content], width: int, cut: str) -> Content:
    """The first of several rows, with a mark that there are more."""
    first = rows[0]
    return first if len(rows) == 1 else Content.assemble(first.truncate(width - cell_width(cut)), cut)


def without_middle(text: str, width: int, cut: str) -> str:
    """A text in at most `width` cells: its beginning and its end."""
    if cell_width(text) <= width:
        return text
    head = shorten(text, (width + 1) // 2, cut)
    tail = text[-width:]
    while cell_width(tail) > width - cell_width(head):
        tail = tail[1:]
    return head + tail
