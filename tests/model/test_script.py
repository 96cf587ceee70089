"""A script: which turn a request gets, what is filled into it, and how it becomes stream events."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcode.model.script import (
    Reply,
    RequestView,
    ResultMatch,
    Script,
    ScriptError,
    ScriptPlayer,
    Turn,
    When,
    reply,
    script_of,
    text,
    use,
)


def body(*messages: dict[str, Any], tools: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "model": "m",
        "max_tokens": 10,
        "messages": list(messages),
        "tools": [{"name": name} for name in tools],
    }


def said(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


def called(tool: str, identifier: str = "a", **arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [use(tool, arguments, identifier)]}


def answered(words: Any, identifier: str = "a", *, is_error: bool = False, then: str = "") -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": identifier, "content": words, "is_error": is_error}
    return {"role": "user", "content": [result, *([text(then)] if then else [])]}


def spoken(script: Script, *requests: dict[str, Any]) -> list[str]:
    """The first words of each answer."""
    player = ScriptPlayer(script)
    return [player.play(request).message["content"][0]["text"] for request in requests]


HELLO = body(said("hello"))


def test_turns_without_a_predicate_are_given_in_order_then_the_fallback() -> None:
    assert spoken(script_of("one", "two", fallback="rest"), HELLO, HELLO, HELLO, HELLO) == [
        "one",
        "two",
        "rest",
        "rest",
    ]


def test_a_script_at_its_end_names_itself_the_request_and_the_newest_message() -> None:
    player = ScriptPlayer(script_of("one", name="short.json"))
    player.play(HELLO)
    with pytest.raises(ScriptError, match=r'short\.json: no turn fits request 2 .* \[1\]\. .*"hello"'):
        player.play(HELLO)


def test_a_turn_with_a_predicate_goes_first_and_stays() -> None:
    turn = Turn(reply("found"), When(user=re.compile("find")))
    script = Script((Turn(reply("one")), turn), reply("rest"))
    find = body(said("find it"))
    assert spoken(script, find, HELLO, find, HELLO) == ["found", "one", "found", "rest"]


def test_a_limit_says_how_often_a_turn_is_given() -> None:
    script = Script((Turn(reply("twice"), limit=2), Turn(reply("last"))))
    assert spoken(script, HELLO, HELLO, HELLO) == ["twice", "twice", "last"]


def test_what_the_user_said_counts_only_while_it_is_new() -> None:
    script = Script((Turn(reply("found"), When(user=re.compile("find"))),), reply("rest"))
    going_on = body(said("find it"), called("Grep"), answered("nothing"))
    assert spoken(script, body(said("find it")), going_on) == ["found", "rest"]


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        (ResultMatch(contains="3 files"), True),
        (ResultMatch(contains="4 files"), False),
        (ResultMatch(matches=re.compile(r"\d files")), True),
        (ResultMatch(tool="Grep"), True),
        (ResultMatch(tool="Bash"), False),
        (ResultMatch(is_error=True), False),
        (ResultMatch(contains="3", tool="Grep", is_error=False), True),
    ],
)
def test_a_result_is_matched_by_text_tool_and_error(match: ResultMatch, fits: bool) -> None:
    script = Script((Turn(reply("yes"), When(result=match)),), reply("no"))
    request = body(said("count"), called("Grep"), answered([text("3 files")]))
    assert spoken(script, request) == ["yes" if fits else "no"]


def test_an_old_result_is_not_matched_again() -> None:
    script = Script((Turn(reply("yes"), When(result=ResultMatch(contains="3"))),), reply("no"))
    assert spoken(
        script,
        body(said("x"), called("Grep"), answered("3"), {"role": "assistant", "content": "3!"}, said("y")),
    ) == ["no"]


def test_the_number_of_the_request_and_the_declared_tools_are_predicates() -> None:
    script = Script(
        (
            Turn(reply("third"), When(least_requests=3, most_requests=3)),
            Turn(reply("has Bash"), When(declares=("Bash",), lacks=("Write",))),
            Turn(reply("by check"), When(check=lambda view: view.turns == 2)),
        ),
        reply("rest"),
    )
    two_turns = body(said("a"), {"role": "assistant", "content": "b"}, said("c"))
    requests = (
        HELLO,
        body(said("x"), tools=("Bash",)),
        HELLO,
        body(said("x"), tools=("Bash", "Write")),
        two_turns,
    )
    assert spoken(script, *requests) == ["rest", "has Bash", "third", "rest", "by check"]


def test_named_groups_fill_the_templates_of_the_reply_and_other_braces_stay() -> None:
    when = When(user=re.compile(r"read (?P<name>\S+)( for (?P<who>\w+))?"))
    turn = reply(
        "I read {name}{who} {other} {}.", use("Read", {"file_path": "{name}", "deep": [{"x": "{name}!"}]})
    )
    message = ScriptPlayer(Script((Turn(turn, when),))).play(body(said("read a.txt"))).message
    assert message["content"][0]["text"] == "I read a.txt {other} {}."
    assert message["content"][1]["input"] == {"file_path": "a.txt", "deep": [{"x": "a.txt!"}]}


def test_groups_of_user_and_result_fill_one_reply() -> None:
    when = When(re.compile(r"count (?P<what>\w+)"), ResultMatch(matches=re.compile(r"(?P<count>\d+) found")))
    script = Script((Turn(reply("{count} {what}"), when),), reply("other"))
    assert spoken(script, body(said("count cats"), called("Grep"), answered("7 found"))) == ["7 cats"]


def test_a_reply_function_sees_the_request() -> None:
    def answer(view: RequestView) -> Reply:
        result = view.last_result("Grep")
        assert result is not None
        return reply(f"{view.number} {view.user_text} {result.data['count']} {result.arguments['pattern']}")

    request = body(said("how many"), called("Grep", pattern="x"), answered('{"count": 3}'))
    assert spoken(Script(fallback=answer), request) == ["1 how many 3 x"]


def test_a_view_tells_typed_text_from_what_programs_put_beside_it() -> None:
    reminder = text("<environment>\nDate: today\n</environment>")
    first = {"role": "user", "content": [reminder, text("hello")]}
    view = RequestView(
        body(first, called("Read"), answered("text"), called("Read", "b"), answered("more", "b")), 1
    )
    assert view.user_text == "hello"
    assert not view.user_spoke
    assert [result.text for result in view.results] == ["more"]
    assert [result.text for result in view.turn_results] == ["text", "more"]
    assert view.turns == 1


def test_a_view_keeps_the_results_of_a_turn_apart_from_a_text_that_comes_with_them() -> None:
    view = RequestView(body(said("one"), called("Read"), answered("denied", is_error=True, then="two")), 1)
    assert (view.user_text, view.user_spoke) == ("two", True)
    assert [result.is_error for result in view.results] == [True]
    assert view.turn_results == ()
    assert view.texts_before_turn() == ("one",)


def test_ids_are_the_same_for_the_same_request_and_differ_between_requests() -> None:
    script = Script(fallback=reply(use("Bash"), use("Bash")))

    def ids(player: ScriptPlayer, request: dict[str, Any]) -> list[str]:
        return [block["id"] for block in player.play(request).message["content"]]

    player = ScriptPlayer(script)
    first, second = ids(player, HELLO), ids(player, HELLO)
    longer = ids(player, body(said("hello"), called("Bash"), answered("x")))
    assert ids(ScriptPlayer(script), HELLO) == first
    assert len({*first, *second, *longer}) == 6


def test_a_resumed_conversation_gets_fresh_ids_from_a_fresh_player() -> None:
    script = Script(fallback=reply(use("Bash")))
    once = ScriptPlayer(script).play(HELLO).message["content"][0]["id"]
    request = body(said("hello"), called("Bash", once), answered("x", once), said("hello"))
    assert ScriptPlayer(script).play(request).message["content"][0]["id"] != once


@pytest.mark.parametrize(
    ("blocks", "stop"),
    [((text("x"),), "end_turn"), ((text("x"), use("Bash")), "tool_use")],
)
def test_the_stop_reason_follows_from_the_blocks_unless_it_is_given(
    blocks: tuple[Any, ...], stop: str
) -> None:
    assert ScriptPlayer(Script(fallback=Reply(blocks))).play(HELLO).message["stop_reason"] == stop
    given = Reply(blocks, stop_reason="max_tokens")
    assert ScriptPlayer(Script(fallback=given)).play(HELLO).message["stop_reason"] == "max_tokens"


def test_a_refusal_carries_its_details_at_the_end() -> None:
    details = {"category": "cyber", "explanation": "no"}
    turn = Reply((text("I"),), stop_reason="refusal", stop_details=details)
    events = list(ScriptPlayer(Script(fallback=turn)).play(HELLO).events())
    assert events[-2]["delta"]["stop_details"] == details
    assert "stop_details" not in events[0]["message"]
