"""What the editor is told about the choices of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.call import Call
from mcode.events import EventBus
from mcode.pipeline.ask import Desk
from mcode.tool import Choice, Question
from mcode.ui.acp.asking import Questions
from mcode.wiring.item_question import APPROVE, NEVER, NOT_NOW

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


class Reader:
    """An editor that takes the last option of each request and remembers what it was offered."""

    takes_forms = False

    def __init__(self) -> None:
        self.options: list[JsonObject] = []

    async def request_permission(self, call: JsonObject, options: list[JsonObject]) -> str | None:
        self.options = options
        return str(options[-1]["optionId"])

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
