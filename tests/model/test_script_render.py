"""Messages become events and usage: cuts, signatures, and the cache model."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.model.script import (
    PromptCache,
    ScriptPlayer,
    raw_use,
    render_events,
    reply,
    script_of,
    signature_of,
    text,
    thinking,
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


HELLO = body(said("hello"))


def assembled(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks that a plain reader of the protocol makes of the events."""
    blocks: list[dict[str, Any]] = []
    inputs: dict[int, str] = {}
    for event in events:
        if event["type"] == "content_block_start":
            assert event["index"] == len(blocks)
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta":
            delta: dict[str, Any] = event["delta"]
            block = blocks[int(event["index"])]
            match delta["type"]:
                case "text_delta":
                    block["text"] += delta["text"]
                case "thinking_delta":
                    block["thinking"] += delta["thinking"]
                case "signature_delta":
                    block["signature"] += delta["signature"]
                case _:
                    inputs[event["index"]] = inputs.get(event["index"], "") + delta["partial_json"]
    for index, whole in inputs.items():
        blocks[index]["input"] = json.loads(whole) if whole else {}
    return blocks


def rendered(*blocks: dict[str, Any], chunk: int | None = None) -> list[dict[str, Any]]:
    message = {"id": "msg_1", "role": "assistant", "content": list(blocks), "usage": {"output_tokens": 9}}
    return list(render_events(message, chunk))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, database=None)
@given(
    words=st.text(min_size=1, max_size=200),
    arguments=st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=4),
    chunk=st.none() | st.integers(1, 30),
)
def test_what_is_rendered_can_be_put_together_again(words: str, arguments: Any, chunk: int | None) -> None:
    blocks = [
        {"type": "thinking", "thinking": words, "signature": "s"},
        text(words),
        use("Bash", arguments, "a"),
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "song", "verse": 3},
    ]
    assert assembled(rendered(*blocks, chunk=chunk)) == blocks


def test_inputs_are_cut_inside_strings_and_right_behind_a_backslash() -> None:
    events = rendered(use("Bash", {"command": 'printf "a\\tb\\n"; echo "ünïcode" and some more words'}, "a"))
    parts = [event["delta"]["partial_json"] for event in events if event["type"] == "content_block_delta"]
    assert parts[0] == ""
    assert any(part.endswith("\\") for part in parts)
    whole = "".join(parts)
    inside = whole.index("some more")
    cuts = {sum(map(len, parts[: at + 1])) for at in range(len(parts))}
    assert cuts & set(range(inside, inside + 20))


def test_a_call_without_arguments_has_one_empty_fragment() -> None:
    parts = [
        e["delta"]["partial_json"]
        for e in rendered(use("Read", {}, "a"))
        if e["type"] == "content_block_delta"
    ]
    assert parts == [""]


def test_raw_input_is_sent_as_it_is() -> None:
    events = rendered({**raw_use("Bash", '{"a": NaN', "a")})
    assert (
        "".join(e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta")
        == '{"a": NaN'
    )
    assert "raw_input" not in events[2]["content_block"]


def test_thinking_that_is_left_out_still_has_one_signature() -> None:
    deltas = [e["delta"] for e in rendered(thinking("", "s")) if e["type"] == "content_block_delta"]
    assert deltas == [{"type": "signature_delta", "signature": "s"}]


def test_thinking_without_a_signature_gets_the_one_of_its_words() -> None:
    message = ScriptPlayer(script_of(reply(thinking("Hm.")))).play(HELLO).message
    assert message["content"][0]["signature"] == signature_of("Hm.") != signature_of("Hm")


def test_two_conversations_share_what_stands_before_their_messages() -> None:
    cache = PromptCache(needs_marks=False)
    system = "You are kind. " * 50
    first = cache.measure({**body(said("one")), "system": system})
    other = cache.measure({**body(said("two")), "system": system})
    assert first.read == 0
    assert 0 < other.read < first.written
    again = cache.measure(
        {**body(said("one"), {"role": "assistant", "content": "x"}, said("y")), "system": system}
    )
    assert again.read == first.written


def test_another_model_reads_nothing_from_the_cache() -> None:
    cache = PromptCache(needs_marks=False)
    cache.measure(body(said("one")))
    assert cache.measure({**body(said("one")), "model": "other"}).read == 0


def test_a_moved_cache_mark_changes_nothing_in_the_prefix() -> None:
    cache = PromptCache()

    def marked(*places: int) -> dict[str, Any]:
        mark = {"cache_control": {"type": "ephemeral"}}
        blocks = [{**text(f"part {at} " * 20), **(mark if at in places else {})} for at in range(3)]
        return body({"role": "user", "content": blocks})

    first = cache.measure(marked(1))
    second = cache.measure(marked(2))
    assert (first.read, first.plain > 0) == (0, True)
    assert second.read == first.written
    assert second.total == first.total
