"""A session that outgrows its window: nothing too long is sent, nothing is lost, and a rewind goes back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.events import ApprovalRequested, Compacted, Notice
from mcode.model.script import ErrorReply, Reply, Script, Turn, thinking
from mcode.model.usage import count_request
from tests.commands.typing import typed
from tests.stage import stage, turns, use
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.model.script import RequestView

WINDOW = 12_000

SMALL = {"mcode": {"window": WINDOW, "maxTokens": 1_000}, "permissions": {"allow": ["Bash(cat big.txt)"]}}

BIG = "all work and no play makes a long file " * 60

SUMMARY = "Task: read the file. Facts: the password of the day is heron."


def text_reply(words: str) -> Reply:
    return Reply(({"type": "text", "text": words},), "end_turn")


def is_about_summary(view: RequestView) -> bool:
    return not view.tool_names


def reader(rounds: int, **more: Any) -> Script:
    """A model that reads the same large file over and over, and summarises when it is asked to."""

    def reply(view: RequestView) -> Reply:
        if is_about_summary(view):
            return more.get("summary", text_reply(SUMMARY))
        if view.number >= rounds:
            return text_reply("Finished.")
        block = {
            "type": "tool_use",
            "id": f"toolu_{view.number}",
            "name": "Bash",
            "input": {"command": "cat big.txt"},
        }
        return Reply((block,), "tool_use")

    return Script((Turn(reply, limit=10_000),), None, "reader")


def prepare(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir(parents=True)
    (project / "big.txt").write_text(BIG)


async def test_s_10_old_results_go_to_files_before_anything_is_summarised(tmp_path: Path) -> None:
    prepare(tmp_path)
    async with stage(tmp_path, reader(26), settings=SMALL, new_prefixes=30) as session:
        finished = await session.say("read it often")
        assert finished.reason == "end"
        made = session.of(Compacted)
        assert made
        assert made[0].dropped > 0
        assert made[0].summary == ""
        assert made[0].after < made[0].before
        for body in session.client.requests:
            assert count_request(body).total < WINDOW
        sent = str(session.client.requests[-1]["messages"])
        assert "was removed to make room. It is kept in" in sent
        kept = [path for path in session.agent.session.directory.iterdir() if path.suffix == ".txt"]
        assert any(BIG.strip() in path.read_text() for path in kept)


async def test_s_10_a_conversation_of_words_is_summarised_and_goes_on(tmp_path: Path) -> None:
    long_words = "word " * 1_500

    def reply(view: RequestView) -> Reply:
        return text_reply(SUMMARY if is_about_summary(view) else f"{long_words} {view.number}")

    script = Script((Turn(reply, limit=100),), None, "talker")
    async with stage(tmp_path, script, settings=SMALL, new_prefixes=20) as session:
        for number in range(1, 12):
            assert (await session.say(f"question {number}")).reason == "end"
        (first, *_) = session.of(Compacted)
        assert first.summary == SUMMARY
        opening = session.client.requests[-1]["messages"][0]["content"]
        assert "the password of the day is heron" in opening[0]["text"]
        assert "question 11" in str(session.client.requests[-1]["messages"])
        before = session.agent.session.id
        messages = session.agent.builder.messages
    async with stage(
        tmp_path, script, settings=SMALL, source="resume", reference=before, new_prefixes=20
    ) as again:
        await again.say("one more")
        resumed = again.client.requests[-1]["messages"]
        assert resumed[: len(messages) - 1] == list(messages[:-1])


async def test_a_rewind_across_a_compaction_brings_the_conversation_back(tmp_path: Path) -> None:
    script = turns("first answer", "second answer", SUMMARY, "after it", "and again")
    async with stage(tmp_path, script, new_prefixes=4) as session:
        await session.say("first question")
        await session.say("second question")
        result = await typed(session, "/compact keep the names")
        assert SUMMARY in result.text
        asked = session.client.requests[-1]
        assert "keep the names" in str(asked["messages"])
        assert "tools" not in asked
        await session.say("third question")
        assert "first answer" not in str(session.client.requests[-1]["messages"])
        assert not (await typed(session, "/rewind 2 conversation")).failed
        await session.say("second question, put differently")
        sent = str(session.client.requests[-1]["messages"])
        assert "first answer" in sent
        assert "<summary>" not in sent


async def test_s_10_a_refused_request_is_made_smaller_and_sent_again(tmp_path: Path) -> None:
    refused: list[int] = []

    def reply(view: RequestView) -> Reply:
        if is_about_summary(view):
            return text_reply(SUMMARY)
        if count_request(view.body).total > 4_500:
            refused.append(view.number)
            error = ErrorReply(
                400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"
            )
            return Reply((), None, error=error)
        return text_reply(f"{'long answer ' * 500} {view.number}")

    script = Script((Turn(reply, limit=100),), None, "small window")
    async with stage(tmp_path, script, new_prefixes=20) as session:
        for number in range(5):
            assert (await session.say(f"question {number}")).reason == "end"
        assert refused
        assert all(event.trigger == "overflow" for event in session.of(Compacted)[:1])


async def test_s_10_a_request_that_the_endpoint_never_finds_small_enough_is_told_with_its_parts(
    tmp_path: Path,
) -> None:
    def reply(view: RequestView) -> Reply:
        if is_about_summary(view):
            return text_reply(SUMMARY)
        return Reply((), None, error=ErrorReply(400, "invalid_request_error", "prompt is too long"))

    script = Script((Turn(reply, limit=100),), None, "no window")
    async with stage(tmp_path, script, new_prefixes=20) as session:
        finished = await session.say("hello")
        assert finished.reason == "error"
        assert "prompt is too long" in finished.text
        told = re.search(
            r"It has definitions (\d+), messages (\d+), results 0; a summary would free about \d+\.",
            finished.text,
        )
        assert told, finished.text
        assert all(int(part) > 0 for part in told.groups())
        assert "/clear begins a new session" in finished.text


async def test_a_message_that_the_window_could_never_hold_is_not_sent_and_leaves_the_session_as_it_is(
    tmp_path: Path,
) -> None:
    script = Script((Turn(lambda _: text_reply("Fine."), limit=9),), None, "reader")
    async with stage(tmp_path, script, settings=SMALL) as session:
        refused = await session.say("a line of the log\n" * 10_000)
        assert refused.reason == "error"
        assert "the window of 12000 has room for about " in refused.text
        assert "Nothing was sent" in refused.text
        assert not session.client.requests
        assert (await session.say("hello")).reason == "end"
        (body,) = session.client.requests
        assert "a line of the log" not in str(body)


async def test_a_long_message_that_a_summary_stands_for_is_kept_in_a_file_that_the_model_is_told_of(
    tmp_path: Path,
) -> None:
    def reply(view: RequestView) -> Reply:
        return text_reply(SUMMARY if is_about_summary(view) else "long answer " * 1_000)

    script = Script((Turn(reply, limit=100),), None, "small window")
    said = "\n".join(f"line {number} of what is asked" for number in range(600))
    async with stage(tmp_path, script, settings=SMALL, new_prefixes=9) as session:
        await session.say("a question")
        await session.say("another question")
        await session.say(said)
        assert session.of(Compacted)
        sent = str(session.client.requests[-1]["messages"])
        told = re.search(r"the whole message is in ([^\]]+)\]", sent)
        assert told
        assert Path(told[1]).read_text() == said


async def test_s_10_a_summary_that_fails_loses_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    words = "word " * 1_800

    def reply(view: RequestView) -> Reply:
        if is_about_summary(view):
            return Reply((), None, error=ErrorReply(403, "permission_error", "not today"))
        return text_reply(words)

    script = Script((Turn(reply, limit=100),), None, "no summaries")
    async with stage(tmp_path, script, settings=SMALL, new_prefixes=20) as session:
        reasons = [(await session.say(f"question {number}")).reason for number in range(8)]
        assert reasons[0] == "end"
        assert reasons[-1] == "error"
        warned = [event.text for event in session.of(Notice) if "could not be summarised" in event.text]
        assert warned
        assert "not today" in warned[0]
        assert "/compact tries again" in warned[0]
        assert len([record for record in session.journal if record["type"] == "user"]) == 8


async def test_the_todo_list_survives_word_for_word(tmp_path: Path) -> None:
    todos = [{"content": "mend the parser", "status": "in_progress", "activeForm": "Mending"}]
    script = turns(use("TodoWrite", "t1", todos=todos), "Noted.", SUMMARY, "Going on.")
    async with stage(tmp_path, script, new_prefixes=2) as session:
        await session.say("plan it")
        await typed(session, "/compact")
        await session.say("go on")
        assert "[in_progress] mend the parser" in str(session.client.requests[-1]["messages"])


async def test_an_empty_conversation_has_nothing_to_summarise(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("unused")) as session:
        result = await typed(session, "/compact")
        assert result.failed
        assert session.client.requests == []


async def test_context_shows_the_steps_that_make_room_with_what_each_frees(tmp_path: Path) -> None:
    prepare(tmp_path)
    async with stage(tmp_path, reader(24), settings=SMALL, new_prefixes=30) as session:
        await session.say("read it often")
        shown = await typed(session, "/context")
        room = shown.data["room"]
        assert room["limit"] < WINDOW
        assert room["old_results"] > 0
        assert 0 < room["by_results"] < room["used"]
        assert 0 < room["by_summary"] < room["used"]
        assert f"first {room['old_results']} old results to files" in shown.text
        assert "then a summary in place of what is old (/compact)" in shown.text
        times, freed = room["done"]["results"]
        assert times == len(session.of(Compacted)) > 0
        assert freed == sum(made.before - made.after for made in session.of(Compacted))
        await typed(session, "/compact")
        after = (await typed(session, "/context")).data["room"]
        assert after["done"]["summaries"][0] == 1
        assert after["used"] < room["used"] - room["by_summary"] * 0.8


async def test_pins_grants_loaded_tools_and_the_list_of_steps_survive_a_compaction(tmp_path: Path) -> None:
    todos = [{"content": "mend the parser", "status": "pending", "activeForm": "Mending"}]
    script = turns(
        use("tool_search", "s1", queries=["select:WebFetch"]),
        use("TodoWrite", "t1", todos=todos),
        use("Bash", "b1", command="touch one"),
        "Ready.",
        SUMMARY,
        use("Bash", "b2", command="touch one"),
        "Done.",
    )
    settings = {"mcode": {"placement": {"NotebookEdit": "resident"}}}
    async with stage(tmp_path, script, settings=settings, new_prefixes=2) as session:
        session.answer("session")
        await session.say("begin")
        asked = len(session.of(ApprovalRequested))
        await typed(session, "/compact")
        await session.say("go on")
        body = session.client.requests[-1]
        assert len(session.of(ApprovalRequested)) == asked == 1
        assert "WebFetch" in session.agent.builder.shelf.seen.loaded
        assert "NotebookEdit" in [tool["name"] for tool in body["tools"]]
        first = str(body["messages"][0])
        assert "[pending] mend the parser" in first
        assert "WebFetch" in first


async def test_s_10_a_request_that_no_step_makes_small_enough_is_not_sent(tmp_path: Path) -> None:
    settings = {"mcode": {"window": 2_000, "maxTokens": 500}}
    script = Script((Turn(lambda _: text_reply(SUMMARY), limit=9),), None, "small")
    async with stage(tmp_path, script, settings=settings, new_prefixes=5) as session:
        finished = await session.say("hello")
        assert finished.reason == "error"
        assert "the window holds 2000. It was not sent. It has definitions " in finished.text
        assert "; a summary would free about " in finished.text
        assert "/rewind goes back" in finished.text
        assert all(not body.get("tools") for body in session.client.requests), (
            "summaries alone were asked for"
        )
        session.agent.meter.window = 100_000
        assert (await session.say("hello again")).reason == "end"
        assert [record["body"]["text"] for record in session.journal if record["type"] == "user"] == [
            "hello",
            "hello again",
        ]


async def test_s_10_a_resumed_session_knows_from_its_first_request_on_how_the_endpoint_counts(
    tmp_path: Path,
) -> None:
    counted = Reply(({"type": "text", "text": "Twice as much."},), "end_turn", usage={"input_tokens": 9_000})
    script = Script((Turn(lambda _: counted, limit=9),), None, "counts more")
    async with stage(tmp_path, script) as first:
        await first.say("hello")
        learned = first.agent.meter.corrected(1_000)
        size = first.agent.room.size()
    assert learned > 1_500
    async with stage(tmp_path, script, source="resume", reference=first.agent.session.id) as again:
        assert again.agent.meter.corrected(1_000) == learned
        assert again.agent.room.size() == size


async def test_j_04_what_a_run_left_unfinished_is_told_once(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("Hello.")) as first:
        await first.say("hello")
        started: dict[str, Any] = {
            "id": "toolu_1",
            "tool": "Write",
            "arguments": {},
            "origin": "model",
            "turn": 1,
        }
        first.agent.session.journal.append("call_started", started)
    told: list[bool] = []
    for _ in range(2):
        identifier = first.agent.session.id
        async with stage(tmp_path, turns("Yes."), source="resume", reference=identifier) as again:
            told.append(any("Write (toolu_1)" in event.text for event in again.of(Notice)))
            await again.say("go on")
    assert told == [True, False]


async def test_s_10_a_summary_whose_request_is_too_long_is_asked_for_with_less_of_the_session(
    tmp_path: Path,
) -> None:
    refused: list[int] = []

    def reply(view: RequestView) -> Reply:
        if is_about_summary(view) and count_request(view.body).total > 2_200:
            refused.append(view.number)
            error = ErrorReply(400, "invalid_request_error", "prompt is too long: 9000 tokens > 8000 maximum")
            return Reply((), None, error=error)
        return text_reply(SUMMARY if is_about_summary(view) else "word " * 900)

    script = Script((Turn(reply, limit=20),), None, "small for summaries")
    async with stage(tmp_path, script, settings=SMALL, new_prefixes=20) as session:
        for number in range(6):
            await session.say(f"question {number}")
        result = await typed(session, "/compact")
        assert SUMMARY in result.text
        assert refused


async def test_instruction_files_as_they_are_now_and_running_jobs_stand_behind_a_summary(
    tmp_path: Path,
) -> None:
    prepare(tmp_path)
    memory = tmp_path / "project" / "AGENTS.md"
    memory.write_text("Use tabs.")
    job = use("Bash", "b1", command="sleep 60", run_in_background=True)
    async with stage(tmp_path, turns(job, "Runs.", SUMMARY, "On."), new_prefixes=2) as session:
        session.answer("once")
        await session.say("start it")
        memory.write_text("Use blanks.")
        await typed(session, "/compact")
        await session.say("go on")
        body = session.client.requests[-1]
        assert "Use blanks." in str(body["system"])
        assert "Use tabs." not in str(body)
        assert (
            "Background jobs that still run:\n- b1 (`sleep 60`)" in body["messages"][0]["content"][2]["text"]
        )


async def test_a_turn_that_would_begin_while_a_summary_is_written_waits_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    def reply(view: RequestView) -> Reply:
        if is_about_summary(view):
            session.agent.queue("what a job has to say meanwhile", typed=False)
            return Reply(({"type": "text", "text": SUMMARY},), "end_turn", delay=0.2)
        return text_reply(f"answer {view.number}")

    script = Script((Turn(reply, limit=10_000),), None, "meanwhile")
    async with stage(tmp_path, script, settings=SMALL, new_prefixes=3) as session:
        await session.say("word " * 3_000)
        await session.say("the second question")
        await typed(session, "/compact")
        await until(lambda: "what a job has to say meanwhile" in str(session.client.requests[-1]))
        await until(lambda: not session.agent.busy)
        await session.say("the last question")
        sent = str(session.client.requests[-1]["messages"])
    assert SUMMARY in sent
    for said in ("the second question", "answer 2", "what a job has to say meanwhile", "the last question"):
        assert said in sent


async def test_a_turn_goes_on_behind_a_summary_where_the_model_must_think_before_its_calls(
    tmp_path: Path,
) -> None:
    asked: list[bool] = []

    def reply(view: RequestView) -> Reply:
        if is_about_summary(view):
            return text_reply(SUMMARY)
        thinks = "thinking" in view.body
        last = [each for each in view.body["messages"] if each["role"] == "assistant"][-1:]
        if thinks and last and last[0]["content"][0]["type"] != "thinking":
            words = (
                "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
            )
            return Reply((), None, error=ErrorReply(400, "invalid_request_error", words))
        asked.append(thinks)
        if len(asked) % 12 == 0:
            return Reply((thinking("done"), {"type": "text", "text": "Finished."}), "end_turn")
        call = use("Bash", f"toolu_{len(asked)}", command="cat big.txt")
        words = {"type": "text", "text": "word " * 600}
        return Reply((*([thinking("hm")] if thinks else []), words, call), "tool_use")

    settings = {**SMALL, "mcode": {**SMALL["mcode"], "extraBody": {"thinking": {"type": "enabled"}}}}
    prepare(tmp_path)
    script = Script((Turn(reply, limit=10_000),), None, "thinker")
    async with stage(tmp_path, script, settings=settings, new_prefixes=20) as session:
        assert (await session.say("read it often")).reason == "end"
        assert SUMMARY in [each.summary for each in session.of(Compacted)]
        assert False in asked
        (told,) = [each.text for each in session.of(Notice) if "thinking, until this turn ends" in each.text]
        assert "Expected `thinking`" in told
        before = len(asked)
        assert (await session.say("once more")).reason == "end"
        assert asked[before]
