"""What the editor is told about the choices of a question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from mcode.call import Call, Status
from mcode.events import EventBus
from mcode.pipeline.ask import Desk
from mcode.tool import Choice, Question
from mcode.ui.acp.asking import Questions
from mcode.wiring.item_question import APPROVE, NEVER, NOT_NOW
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject


class Reader:
    """An editor that takes the last option of each request, or answers `always`; remembers what it was offered."""

    takes_forms = False

    def __init__(self, always: str = "") -> None:
        self.always = always
        self.options: list[JsonObject] = []

    async def request_permission(self, call: JsonObject, options: list[JsonObject]) -> str | None:
        self.options = options
        return self.always or str(options[-1]["optionId"])

    async def fill_in(self, message: str, fields: JsonObject) -> JsonObject | None:
        raise AssertionError("nothing was to be filled in")


async def test_what_refuses_is_offered_to_the_editor_as_a_refusal() -> None:
    events, reader = EventBus(), Reader()
    desk = Desk(events)
    questions = Questions(desk, reader)
    events.subscribe(questions.receive)
    choices = tuple(Choice(label) for label in (NOT_NOW, APPROVE, "Do not", NEVER))
    answers = await desk.question(Call("c1", "mcode", {}), [Question("Shall it?", "File", choices)])
    questions.close()
    assert [option["kind"] for option in reader.options] == [
        "reject_once",
        "allow_once",
        "reject_once",
        "reject_once",
    ]
    assert answers == ((NEVER,),)


@pytest.mark.parametrize("option", ["yes", "deny with words", "allow_once"])
async def test_an_option_that_was_not_offered_denies_the_call_and_says_so(
    option: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, turns(use("Bash", command="touch made"), "As you wish.")) as here:
        questions = Questions(here.agent.desk, Reader(option))
        here.agent.events.subscribe(questions.receive)
        await here.say("go")
        questions.close()
    assert not (here.project / "made").exists()
    assert here.result().status is Status.DENIED
    assert f"the editor said no: it answered with `{option}`, which is none" in here.result().text
    assert here.result().decision == "denied by the editor"


@pytest.mark.parametrize("option", ["7", "-1", "Green", "other"])
async def test_an_option_that_was_not_offered_answers_no_question(option: str) -> None:
    events = EventBus()
    desk = Desk(events)
    questions = Questions(desk, Reader(option))
    events.subscribe(questions.receive)
    asked = Question("Which?", "Colour", (Choice("Red"), Choice("Blue")))
    async with asyncio.timeout(30):
        assert await desk.question(Call("c1", "mcode", {}), [asked]) is None
    questions.close()
