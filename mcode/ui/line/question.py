"""A tool's questions to the user: how they are shown, and how a typed line answers one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.line.prose import Prose
from mcode.ui.line.wrap import wrap_words

if TYPE_CHECKING:
    from mcode.events import QuestionAsked
    from mcode.tool import Question
    from mcode.ui.line.look import Look

DECLINE = "decline"
"""The word that leaves all questions unanswered."""


class Questionnaire:
    """The questions of one call, put one after the other; the answers are given together at the end."""

    def __init__(self, request: QuestionAsked) -> None:
        self.request = request
        self._answers: list[tuple[str, ...]] = []

    @property
    def current(self) -> Question:
        return self.request.questions[len(self._answers)]

    @property
    def answers(self) -> tuple[tuple[str, ...], ...] | None:
        """The answers, once there is one for each question."""
        return tuple(self._answers) if len(self._answers) == len(self.request.questions) else None

    def lines(self, look: Look, width: int) -> list[str]:
        """The present question with its choices."""
        question = self.current
        total = len(self.request.questions)
        count = f" ({len(self._answers) + 1} of {total})" if total > 1 else ""
        header = f"{clean(question.header, Kind.LINE)}: " if question.header else ""
        if question.markdown:
            return self._in_markdown(look, width, f"Question{count}: {header.rstrip(': ')}")
        first, *more = clean(question.text, Kind.BLOCK).strip("\n").split("\n")
        room = width if look.decorated else 0
        head = wrap_words(f"Question{count}: {header}{first}", room, 2)
        lines = [look.palette.bold(row) for row in head]
        lines += [row for line in more for row in wrap_words(f"  {line}", room)]
        return lines + self._offers(look, room)

    def _in_markdown(self, look: Look, width: int, head: str) -> list[str]:
        """The same for a text in Markdown, set as answers are."""
        prose = Prose(look, lambda: width)
        lines = clean(self.current.text, Kind.DECISION).strip("\n").split("\n")
        rows = [row for line in lines for row in prose.feed(line)]
        return [
            look.palette.bold(head),
            *rows,
            *prose.finish_table(),
            *self._offers(look, width if look.decorated else 0),
        ]

    def _offers(self, look: Look, room: int) -> list[str]:
        """The choices of the present question, and what can be typed."""
        question = self.current
        lines: list[str] = []
        for number, choice in enumerate(question.choices, 1):
            label = clean(choice.label, Kind.LINE)
            description = clean(choice.description, Kind.LINE)
            offer = f"  {number}  {label}{f'   {description}' if description else ''}"
            lines += wrap_words(offer, room, 3)
        return lines + [look.palette.bold(row) for row in wrap_words(_hint(question), room)]

    def take(self, text: str) -> str:
        """Take a typed line as the answer; a sentence where it cannot be one, else empty text."""
        answer = text.strip()
        if not answer:
            return "An empty line is no answer."
        question = self.current
        numbers = re.fullmatch(r"\d+(?:[\s,]+\d+)*", answer)
        if numbers is None or not question.choices:
            self._answers.append((answer,))
            return ""
        picked = list(dict.fromkeys(int(number) for number in re.split(r"[\s,]+", answer)))
        wrong = [number for number in picked if not 1 <= number <= len(question.choices)]
        if wrong:
            return f"There is no choice {wrong[0]}; the choices are 1 to {len(question.choices)}."
        if len(picked) > 1 and not question.several:
            return "Only one choice can be picked; type one number, or an answer in words."
        self._answers.append(tuple(question.choices[number - 1].label for number in picked))
        return ""


def _hint(question: Question) -> str:
    if not question.choices:
        return f"Type your answer, then Enter. `{DECLINE}` leaves it open."
    numbers = "one or more numbers" if question.several else "a number"
    return f"Type {numbers} or your own words, then Enter. `{DECLINE}` leaves it open."
