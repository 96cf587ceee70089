"""Bodies that are the same for the same state, and share their beginning with the last one."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.model.reading import is_list, is_object
from mcode.model.request import RequestState, build_request, strip_cache_marks
from tests.model.conftest import call, words

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

MARK = {"type": "ephemeral"}

TOOLS: tuple[JsonObject, ...] = (
    {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}},
    {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}},
)


def user(content: JsonValue) -> JsonObject:
    return {"role": "user", "content": content}


def assistant(*content: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(content)}


def result(text: str, identifier: str = "toolu_1") -> JsonObject:
    return {"type": "tool_result", "tool_use_id": identifier, "content": text}


def state_of(*messages: JsonObject, stable: int = 0, system: str = "Be terse.") -> RequestState:
    return RequestState("m", system, TOOLS, messages, max_tokens=100, stable=stable)


def marks_in(value: JsonValue, path: str = "") -> list[str]:
    """Where cache marks stand in a body."""
    if is_list(value):
        return [place for at, item in enumerate(value) for place in marks_in(item, f"{path}/{at}")]
    if not is_object(value):
        return []
    found = [path] if "cache_control" in value else []
    return found + [place for key, item in value.items() for place in marks_in(item, f"{path}/{key}")]


def test_the_same_state_gives_the_same_bytes_and_is_not_changed() -> None:
    state = state_of(
        user("Hi"), assistant(words("Yes?"), call(command="ls")), user([result("a\nb")]), stable=1
    )
    before = copy.deepcopy(state)
    texts = {jsontext.dump(build_request(state)) for _ in range(3)}
    assert len(texts) == 1
    assert state == before
    assert texts.pop().startswith('{"model":"m","max_tokens":100,"system":[{"type":"text","text":"Be terse."')


def test_marks_stand_at_the_ends_of_tools_system_last_request_and_this_one() -> None:
    state = state_of(
        user("Hi"),
        assistant(words("Yes?"), call(command="ls")),
        user([result("a"), words("and on")]),
        stable=1,
    )
    body = build_request(state)
    assert marks_in(body) == ["/system/0", "/tools/1", "/messages/0/content/0", "/messages/2/content/1"]
    assert body["tools"][1]["cache_control"] == MARK


def test_consecutive_requests_share_their_prefix_and_the_mark_of_the_last_end() -> None:
    history = [user("Look around.")]
    previous: JsonObject | None = None
    for turn in range(5):
        state = state_of(*history, stable=0 if previous is None else len(previous["messages"]))
        body = build_request(state)
        assert len(marks_in(body)) <= 4
        if previous is not None:
            plain, old = strip_cache_marks(body), strip_cache_marks(previous)
            assert plain["messages"][: len(old["messages"])] == old["messages"]
            assert jsontext.dump(plain).startswith(jsontext.dump(old).partition(',"stream"')[0][:-1])
            assert marks_in(previous)[-1] in marks_in(body), "what was stored is looked up at the same place"
        previous = body
        history += [
            assistant({"type": "thinking", "thinking": "", "signature": "s"}, call(command=str(turn))),
            user([result(str(turn))]),
        ]


def test_marks_are_never_on_thoughts_or_empty_text() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    state = state_of(user("Hi"), assistant(thought, {"type": "redacted_thinking", "data": "x"}), user(""))
    body = build_request(state)
    assert marks_in(body["messages"]) == ["/0/content/0"]
    assert body["messages"][1]["content"][0] == thought


def test_a_deferred_tool_carries_no_mark() -> None:
    deferred = {**TOOLS[1], "name": "Late", "defer_loading": True}
    body = build_request(replace(state_of(user("Hi")), tools=(*TOOLS, deferred)))
    assert marks_in(body["tools"]) == ["/1"]


def test_text_becomes_a_block_whether_it_is_marked_or_not() -> None:
    body = build_request(state_of(user("one"), assistant(words("two")), user("three"), stable=3))
    assert strip_cache_marks(body)["messages"][0]["content"] == [words("one")]
    assert strip_cache_marks(body)["messages"][2]["content"] == [words("three")]


def test_empty_parts_are_left_out() -> None:
    body = build_request(RequestState("m", "", (), (user("Hi"),), max_tokens=5))
    assert list(body) == ["model", "max_tokens", "messages", "stream"]


def test_extra_fields_are_sent_but_cannot_replace_the_conversation() -> None:
    extra: JsonObject = {
        "thinking": {"type": "adaptive"},
        "messages": [],
        "stream": False,
        "cache_control": MARK,
    }
    body = build_request(replace(state_of(user("Hi")), extra=extra))
    assert body["thinking"] == {"type": "adaptive"}
    assert body["stream"] is True
    assert len(body["messages"]) == 1
    assert "cache_control" not in body


def test_marks_that_came_with_the_history_are_replaced_by_ours() -> None:
    old = [{**words(str(n)), "cache_control": MARK} for n in range(6)]
    body = build_request(state_of(user(old), assistant({**words("x"), "cache_control": MARK}), user("y")))
    assert marks_in(body["messages"]) == ["/2/content/0"]


def test_stripping_marks_leaves_the_content_of_calls_and_schemas_alone() -> None:
    schema = {"type": "object", "properties": {"cache_control": {"type": "string"}}}
    tools = ({"name": "T", "description": "", "input_schema": schema},)
    asked = call(cache_control="kept")
    inner = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [{**words("r"), "cache_control": MARK}],
    }
    state = RequestState("m", "s", tools, (user("Hi"), assistant(asked), user([inner])), max_tokens=5)
    plain = strip_cache_marks({**build_request(state), "cache_control": MARK})
    assert plain["tools"] == list(tools)
    assert plain["messages"][1]["content"][0]["input"] == {"cache_control": "kept"}
    assert plain["messages"][2]["content"][0]["content"] == [words("r")]
    assert plain["system"] == [words("s")]
    assert "cache_control" not in plain


def test_odd_histories_do_not_break_the_builder() -> None:
    odd: tuple[JsonObject, ...] = ({"role": "user"}, {"role": "user", "content": [None, "x", {"no": "type"}]})
    body = build_request(state_of(*odd, stable=9))
    assert len(body["messages"]) == 2
    assert strip_cache_marks(body)["messages"][1] == odd[1]


def test_half_a_character_from_a_path_or_an_argument_does_not_end_the_conversation() -> None:
    outcome: JsonObject = {"type": "tool_result", "tool_use_id": "a", "content": "caf\udce9.txt"}
    state = replace(
        state_of(
            user("hi \udcff there"), assistant(call(path="x\ud800")), {"role": "user", "content": [outcome]}
        ),
        system="in /home/caf\udce9",
    )
    body = build_request(state)
    jsontext.dump(body).encode()
    assert "hi \ufffd there" in str(body["messages"])
    assert "caf\ufffd.txt" in str(body["messages"])
    assert "caf\ufffd" in str(body["system"])
