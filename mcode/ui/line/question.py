"""How a tool's questions are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.text import Kind, clean
from mcode.ui.line.prose import Prose
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from mcode.tool import Question
    from mcode.ui.look import Look
    from mcode.ui.questionnaire import Questionnaire

DECLINE = "decline"
"""The word that leaves all questions unanswered."""


def question_lines(questionnaire: Questionnaire, look: Look, width: int) -> list[str]:
    """The present question with its choices."""
    question = questionnaire.current
    at, total = questionnaire.position
    count = f" ({at} of {total})" if total > 1 else ""
    header = f"{clean(question.header, Kind.LINE)}: " if question.header else ""
    if question.markdown:
        return _in_markdown(question, look, width, f"Question{count}: {header.rstrip(': ')}")
    first, *more = clean(question.text, Kind.BLOCK).strip("\n").split("\n")
    room = width if look.decorated else 0
    head = wrap_words(f"Question{count}: {header}{first}", room, 2)
    lines = [look.palette.bold(row) for row in head]
    lines += [row for line in more for row in wrap_words(f"  {line}", room)]
    return lines + _offers(question, look, room)


def _in_markdown(question: Question, look: Look, width: int, head: str) -> list[str]:
    """The same for a text in Markdown, set as answers are."""
    prose = Prose(look, lambda: width)
    lines = clean(question.text, Kind.DECISION).strip("\n").split("\n")
    rows = [row for line in lines for row in prose.feed(line)]
    return [
        look.palette.bold(head),
        *rows,
        *prose.finish_table(),
        *_offers(question, look, width if look.decorated else 0),
    ]


def _offers(question: Question, look: Look, room: int) -> list[str]:
    """The choices of the present question, and what can be typed."""
    lines: list[str] = []
    for number, choice in enumerate(question.choices, 1):
        label = clean(choice.label, Kind.LINE)
        description = clean(choice.description, Kind.LINE)
        offer = f"  {number}  {label}{f'   {description}' if description else ''}"
        lines += wrap_words(offer, room, 3)
    return lines + [look.palette.bold(row) for row in wrap_words(_hint(question), room)]


def _hint(question: Question) -> str:
    if not question.choices:
        return f"Type your answer, then Enter. `{DECLINE}` leaves it open."
    numbers = "one or more numbers" if question.several else "a number"
    return f"Type {numbers} or your own words, then Enter. `{DECLINE}` leaves it open."
