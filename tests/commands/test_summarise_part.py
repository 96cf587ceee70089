"""`/rewind N summarise-from` and `summarise-up-to`: a summary for one part, and the rest as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcode.agent.compaction import LATER, OPENING
from mcode.commands.registry import Redraw
from mcode.events import Compacted, TurnStarted
from mcode.model.script import ErrorReply, Reply, Script, Turn
from tests.commands.typing import typed
from tests.stage import Stage, stage, turns, use

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.model.script import RequestView

SUMMARY = "Facts: the password of the day is heron."
THREE = ("first answer", "second answer", "third answer")


async def three_turns(session: Stage) -> None:
    for number in ("first", "second", "third"):
        await session.say(f"{number} question")


def sent(session: Stage) -> list[dict[str, Any]]:
    return session.client.requests[-1]["messages"]


def words(messages: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The texts of each message."""
    return [[block["text"] for block in message["content"]] for message in messages]


async def test_from_a_message_on_a_summary_stands_and_what_came_before_stays_whole(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(*THREE, SUMMARY, "On."), new_prefixes=2) as session:
        await three_turns(session)
        result = await typed(session, "/rewind 2 summarise-from keep the names")
        assert not result.failed
        assert SUMMARY in result.text
        assert isinstance(result.action, Redraw)
        assert (result.action.draft, result.action.turn) == ("second question", 0)
        assert (result.data["turn"], result.data["part"]) == (2, "from")
        asked = session.client.requests[-1]
        assert "tools" not in asked
        request = str(asked["messages"])
        assert "keep the names" in request
        assert "third answer" in request
        assert "first answer" not in request
        assert session.of(Compacted)[0].trigger == "manual"
        await session.say("go on")
        first, answer, rest = words(sent(session))
        assert first[-1] == "first question"
        assert answer == ["first answer"]
        assert rest[0].startswith(LATER)
        assert SUMMARY in rest[0]
        assert "The user's last message: third question" in rest
        assert rest[-1] == "go on"


async def test_up_to_a_message_a_summary_stands_and_the_message_and_what_followed_stay_whole(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, turns(*THREE, SUMMARY, "On."), new_prefixes=2) as session:
        await three_turns(session)
        result = await typed(session, "/rewind 3 summarise-up-to")
        assert not result.failed
        assert result.action is None
        request = str(session.client.requests[-1]["messages"])
        assert "second answer" in request
        assert "third question" not in request
        await session.say("go on")
        first, answer, rest = words(sent(session))
        assert first[0].startswith(OPENING)
        assert SUMMARY in first[0]
        assert (first[-1], answer, rest) == ("third question", ["third answer"], ["go on"])


@pytest.mark.parametrize("line", ["/rewind 2 summarise-from", "/rewind 3 summarise-up-to"])
async def test_a_rewind_goes_back_across_the_summary_also_after_a_resume(tmp_path: Path, line: str) -> None:
    async with stage(tmp_path, turns(*THREE, SUMMARY, "On."), new_prefixes=2) as session:
        await three_turns(session)
        await typed(session, line)
        await session.say("go on")
        messages = session.agent.builder.messages
    script = turns("Again.", "Anew.")
    before = session.agent.session.id
    async with stage(tmp_path, script, source="resume", reference=before, new_prefixes=2) as again:
        shown = [event.text for event in again.agent.transcript() if isinstance(event, TurnStarted)]
        assert shown == ["first question", "second question", "third question", "go on"]
        await again.say("and on")
        assert sent(again)[: len(messages) - 1] == list(messages[:-1])
        assert not (await typed(again, "/rewind 2 conversation")).failed
        await again.say("something else")
        (first, answer, rest) = words(sent(again))
        assert (first[-1], answer, rest[-1]) == ("first question", ["first answer"], "something else")
        assert SUMMARY not in str(sent(again))


async def test_a_part_can_be_summarised_beside_another_summary(tmp_path: Path) -> None:
    script = turns(*THREE, SUMMARY, "On.", "Part two: all is well.", "Whole: heron, all is well.", "End.")
    async with stage(tmp_path, script, new_prefixes=6) as session:
        await three_turns(session)
        await typed(session, "/rewind 2 summarise-up-to")
        await session.say("go on")
        result = await typed(session, "/rewind 4 summarise-from")
        assert not result.failed, result.text
        first, answer, *_, last = words(session.agent.room.conversation.history.messages)
        assert (first[0][: len(OPENING)], first[-1], answer) == (
            OPENING,
            "second question",
            ["second answer"],
        )
        assert "Part two" in last[0]
        failed = await typed(session, "/rewind 4 summarise-from")
        assert failed.failed
        assert "A summary stands for message 4 already" in failed.text
        await typed(session, "/compact")
        request = str(session.client.requests[-1]["messages"])
        assert SUMMARY in request
        assert "Part two: all is well." in request
        await typed(session, "/rewind 3 conversation")
        await session.say("third question anew")
        assert words(sent(session))[-2:] == [["second answer"], ["third question anew"]]
        assert SUMMARY in str(sent(session)), "only the later summaries are gone"


async def test_from_the_first_message_on_the_conversation_begins_with_the_summary(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("first answer", SUMMARY, "On."), new_prefixes=2) as session:
        await session.say("first question")
        await typed(session, "/rewind 1 summarize-from")
        await session.say("go on")
        (only,) = words(sent(session))
        assert SUMMARY in str(only)
        assert only[-1] == "go on"
        assert "first answer" not in str(only)


async def test_calls_and_their_results_are_never_parted(tmp_path: Path) -> None:
    script = turns(
        [use("Bash", "b1", command="true")],
        "first answer",
        [use("Bash", "b2", command="true")],
        "second answer",
        SUMMARY,
        "On.",
    )
    settings = {"permissions": {"allow": ["Bash(true)"]}}
    async with stage(tmp_path, script, settings=settings, new_prefixes=2) as session:
        await session.say("first question")
        await session.say("second question")
        await typed(session, "/rewind 2 summarise-from")
        await session.say("go on")
        kinds = [[block["type"] for block in message["content"]] for message in sent(session)]
        assert kinds[1:4] == [["tool_use"], ["tool_result"], ["text"]]
        assert kinds.count(["tool_use"]) == 1


async def test_a_summary_that_fails_or_is_empty_loses_nothing(tmp_path: Path) -> None:
    failures = iter(
        (Reply((), None, error=ErrorReply(403, "permission_error", "not today")), text_reply(" "))
    )

    def reply(view: RequestView) -> Reply:
        return text_reply(f"answer {view.number}") if view.tool_names else next(failures)

    script = Script((Turn(reply, limit=100),), None, "no summaries")
    async with stage(tmp_path, script, new_prefixes=6) as session:
        await three_turns(session)
        before = session.agent.room.conversation.history.messages
        for line in ("/rewind 2 summarise-from", "/rewind 2 summarise-up-to"):
            result = await typed(session, line)
            assert result.failed
            assert "could not be summarised" in result.text
            assert "Nothing was lost" in result.text
            assert session.agent.room.conversation.history.messages == before
        assert all(record["type"] != "compaction" for record in session.journal)
        assert (await session.say("go on")).reason == "end"


async def test_what_cannot_be_summarised_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("first answer")) as session:
        await session.say("first question")
        for line, why in (
            ("/rewind 7 summarise-from", "no message 7"),
            ("/rewind 1 summarise", "is not understood"),
            ("/rewind one summarise-from", "is not understood"),
        ):
            result = await typed(session, line)
            assert result.failed
            assert why in result.text, line
        assert len(session.client.requests) == 1


async def test_before_the_first_message_there_is_nothing_to_summarise(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("first answer")) as session:
        await session.say("first question")
        result = await typed(session, "/rewind 1 summarise-up-to")
        assert result.failed
        assert "before message 1" in result.text


def text_reply(said: str) -> Reply:
    return Reply(({"type": "text", "text": said},), "end_turn")
