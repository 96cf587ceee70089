"""How much the model may do in one turn, and how deep work may be nested."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.events import QuestionAsked
from tests.stage import Stage, stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.events import Event


def _answering(opened: Stage, *words: str) -> list[str]:
    """Attach as somebody who answers the questions with these words; returns the questions."""
    left, texts = list(words), list[str]()
    opened.agent.desk.attach()

    def receive(event: Event) -> None:
        if isinstance(event, QuestionAsked):
            texts.append(event.questions[0].text)
            answer = ((left.pop(0),),)
            asyncio.get_running_loop().call_soon(opened.agent.desk.answer, event.question_id, answer)

    opened.agent.events.subscribe(receive)
    return texts


def _looks(count: int) -> list[object]:
    return [use("Glob", f"toolu_{at}", pattern="*") for at in range(count)]


async def test_l_05_after_so_many_calls_the_user_is_asked_whether_it_goes_on(tmp_path: Path) -> None:
    settings = {"mcode": {"maxCallsPerTurn": 2}}
    async with stage(tmp_path, turns(*_looks(6), "done", "next"), settings=settings) as opened:
        asked = _answering(opened, "Go on", "End the turn")
        ended = await opened.say("look around")
        assert (ended.reason, len(opened.outcomes)) == ("limit", 4)
        assert "after 4 calls" in ended.text
        assert "mcode.maxCallsPerTurn" in ended.text
        assert [text.split(" calls")[0] for text in asked] == ["The model has made 2", "The model has made 4"]


async def test_l_05_the_next_message_goes_on_and_counts_anew(tmp_path: Path) -> None:
    settings = {"mcode": {"maxCallsPerTurn": 2}}
    async with stage(tmp_path, turns(*_looks(3), "done"), settings=settings) as opened:
        asked = _answering(opened, "End the turn")
        assert (await opened.say("look around")).reason == "limit"
        assert (await opened.say("go on")).text == "done"
        assert len(asked) == 1


async def test_l_05_nought_is_no_limit_and_without_anybody_to_ask_there_is_none(tmp_path: Path) -> None:
    async with stage(
        tmp_path / "a", turns(*_looks(4), "done"), settings={"mcode": {"maxCallsPerTurn": 0}}
    ) as opened:
        asked = _answering(opened)
        assert (await opened.say("look")).text == "done"
        assert asked == []
    async with stage(
        tmp_path / "b", turns(*_looks(4), "done"), settings={"mcode": {"maxCallsPerTurn": 1}}
    ) as opened:
        assert (await opened.say("look")).text == "done"


async def test_l_05_a_program_counts_as_one_call(tmp_path: Path) -> None:
    code = "for (let at = 0; at < 5; at++) await tools.Glob({pattern: '*'}); return 'looked'"
    script = turns(use("run_code", code=code), "done")
    async with stage(tmp_path, script, settings={"mcode": {"maxCallsPerTurn": 2}}) as opened:
        asked = _answering(opened)
        assert (await opened.say("look")).text == "done"
        assert (len(opened.outcomes), asked) == (6, [])


async def test_l_05_a_program_starts_no_program(tmp_path: Path) -> None:
    code = "return await tools.run_code({code: 'return 1'})"
    async with stage(tmp_path, turns(use("run_code", code=code), "done")) as opened:
        await opened.say("nest")
        nested = [outcome for outcome in opened.outcomes if outcome.call.parent is not None]
        assert all(outcome.is_error for outcome in nested)
        assert not any("return 1" in outcome.text for outcome in nested if not outcome.is_error)
        assert '"value":1' not in opened.result().text


async def test_l_05_a_sub_agent_starts_no_sub_agent(tmp_path: Path) -> None:
    arguments = {"prompt": "the inner task", "description": "look", "subagent_type": "general-purpose"}
    again = use("call_tool", "toolu_deeper", name="Agent", arguments=arguments)
    script = turns(
        use("call_tool", "toolu_a", name="Agent", arguments=arguments), again, "I cannot.", "Done."
    )
    async with stage(tmp_path, script, new_prefixes=2) as opened:
        assert (await opened.say("go")).reason == "end"
        deeper = next(each for each in opened.outcomes if each.call.id == "toolu_deeper")
        assert deeper.is_error
        assert "Nothing was done" in deeper.text
        inner = opened.client.requests[1]
        assert "the inner task" in str(inner["messages"][0])
        assert "Agent" not in [tool["name"] for tool in inner["tools"]]
