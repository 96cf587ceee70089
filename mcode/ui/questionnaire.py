"""The answers to a tool's questions, gathered one after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.events import QuestionAsked
    from mcode.tool import Question


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

    @property
    def position(self) -> tuple[int, int]:
        """Number of the present question, from 1, and of all."""
        return len(self._answers) + 1, len(self.request.questions)

    def problem_of(self, text: str) -> str:
        """Why a typed line cannot be the answer, in a sentence; empty text where it can."""
        answer = text.strip()
        if not answer:
            return "An empty line is no answer."
        question = self.current
        picked = _numbers_in(answer) if question.choices else ()
        wrong = [number for number in picked if not 1 <= number <= len(question.choices)]
        if wrong:
            return f"There is no choice {wrong[0]}; the choices are 1 to {len(question.choices)}."
        if len(picked) > 1 and not question.several:
            return "Only one choice can be picked; type one number, or an answer in words."
        return ""

    def take(self, text: str) -> str:
        """Take a typed line as the answer; a sentence where it cannot be one, else empty text."""
        problem = self.problem_of(text)
        if problem:
            return problem
        choices = self.current.choices
        picked = _numbers_in(text.strip()) if choices else ()
        self._answers.append(tuple(choices[number - 1].label for number in picked) or (text.strip(),))
        return ""


def _numbers_in(answer: str) -> tuple[int, ...]:
    """The numbers of an answer that holds nothing else, each once; none of any other."""
    if not re.fullmatch(r"\d+(?:[\s,]+\d+)*", answer):
        return ()
    return tuple(dict.fromkeys(int(number) for number in re.split(r"[\s,]+", answer)))
