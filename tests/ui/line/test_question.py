"""A tool's questions."""

from __future__ import annotations

from mcode.call import Call
from mcode.events import QuestionAsked
from mcode.tool import Choice, Question
from mcode.ui.line.question import question_lines
from mcode.ui.look import Look
from mcode.ui.questionnaire import Questionnaire

ASKED = QuestionAsked(
    "q1",
    Call("c", "AskUserQuestion", {}),
    (
        Question("Which colour?", "Colour", (Choice("red"), Choice("blue", "as the sea"))),
        Question("Which sizes?", "", (Choice("S"), Choice("M"), Choice("L")), several=True),
        Question("What name?"),
    ),
)


def test_numbers_and_words_answer_one_question_after_the_other() -> None:
    questions = Questionnaire(ASKED)
    assert questions.take("2") == ""
    assert questions.take("3 1") == ""
    assert questions.answers is None
    assert questions.take(" 42 ") == ""
    assert questions.answers == (("blue",), ("L", "S"), ("42",))


def test_a_number_that_is_no_choice_and_too_many_numbers_are_explained() -> None:
    questions = Questionnaire(ASKED)
    assert "no choice 3" in questions.take("3")
    assert "Only one" in questions.take("1,2")
    assert questions.take("none of these, green") == ""
    assert questions.current.text == "Which sizes?"


def test_the_present_question_is_shown_with_numbers_and_descriptions() -> None:
    lines = question_lines(Questionnaire(ASKED), Look(color=False), 80)
    assert lines[0] == "Question (1 of 3): Colour: Which colour?"
    assert "  2  blue   as the sea" in lines
