"""A script from a file: everything can be said, and what is wrong is named with its place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.script import (
    Reply,
    ResultMatch,
    ScriptError,
    load_script,
    parse_script,
    reply,
    use,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_can_say_everything_that_python_can(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text(
        json.dumps(
            {
                "name": "all",
                "turns": [
                    {"reply": "Plain words."},
                    {
                        "name": "read",
                        "when": {
                            "user": "read (?P<name>.+)",
                            "result": {"contains": "x", "matches": "x", "is_error": False, "tool": "Read"},
                            "requests": {"least": 1, "most": 9},
                            "declares": ["Read"],
                            "lacks": ["Bash"],
                        },
                        "once": True,
                        "reply": {
                            "blocks": ["Words.", use("Read", {"file_path": "{name}"}, "id_1")],
                            "stop_reason": "tool_use",
                            "usage": {"input_tokens": 5},
                            "fault": ["crlf", "stall:1"],
                            "delay": 0.5,
                            "pace": 1,
                            "chunk": 3,
                        },
                    },
                    {
                        "repeat": 3,
                        "reply": {
                            "error": {
                                "status": 429,
                                "message": "slow down",
                                "headers": {"x-should-retry": "true"},
                                "retry_after": 2,
                                "after_events": 3,
                            }
                        },
                    },
                    {"repeat": True, "reply": {"text": "x", "fault": "cr"}},
                ],
                "fallback": "Rest.",
            }
        )
    )
    script = load_script(file)
    plain, read, error, endless = script.turns
    assert plain.reply == reply("Plain words.")
    assert isinstance(read.reply, Reply)
    assert read.reply.faults == ("crlf", "stall:1")
    assert (read.limit, read.name, read.reply.pace, read.reply.chunk) == (1, "read", 1, 3)
    assert read.when is not None
    assert read.when.result == ResultMatch("x", re.compile("x"), False, "Read")
    assert isinstance(error.reply, Reply)
    assert error.reply.error is not None
    assert error.reply.error.headers == {"x-should-retry": "true", "retry-after": "2"}
    assert error.reply.error.kind == "rate_limit_error"
    assert endless.uses > 1_000_000
    assert script.fallback == reply("Rest.")
    assert script.name == "all"


WRONG: list[tuple[Any, str]] = [
    ([], "expected an object, got an array"),
    ({}, "`turns` is missing"),
    ({"turns": [], "turn": []}, "the key `turn` is unknown; known here: name, turns, fallback"),
    ({"turns": [{}]}, "turn 1: the key `reply` is missing"),
    ({"turns": [{"reply": 3}]}, "turn 1: `reply` must be a text or an object, not a number"),
    ({"turns": [{"reply": "a"}, {"reply": {"texts": "a"}}]}, "turn 2: reply: the key `texts` is unknown"),
    ({"turns": [{"reply": {"text": "a", "blocks": []}}]}, "`text` and `blocks` exclude"),
    ({"turns": [{"reply": {"blocks": [{}]}}]}, "turn 1: reply: block 1: must be an object with a `type`"),
    (
        {"turns": [{"reply": {"blocks": [{"type": "tool_use"}]}}]},
        "a tool_use block needs the text `name`",
    ),
    (
        {"turns": [{"reply": {"blocks": [{"type": "tool_use", "name": "x", "input": "y"}]}}]},
        "see `raw_input`",
    ),
    (
        {"turns": [{"reply": {"delay": True}}]},
        "`delay` must be a whole number or a number, not a boolean",
    ),
    ({"turns": [{"reply": {"delay": -1}}]}, "turn 1: reply: `delay`"),
    (
        {"turns": [{"reply": {"error": {"status": 200}}}]},
        "turn 1: reply: error: `status` must be 400 to 599",
    ),
    ({"turns": [{"reply": {"error": {"shape": "round"}}}]}, "`shape` must be one of anthropic"),
    ({"turns": [{"reply": "a", "once": True, "repeat": 2}]}, "`once` and `repeat` exclude"),
    ({"turns": [{"reply": "a", "repeat": 0}]}, "turn 1: repeat: must be 1 or more"),
    (
        {"turns": [{"reply": "a", "when": {"user": "("}}]},
        "turn 1: when.user: '(' is not a regular expression",
    ),
    (
        {"turns": [{"reply": "a", "when": {"declares": [1]}}]},
        "turn 1: when.declares: expected a list of texts",
    ),
    (
        {"turns": [{"reply": "a", "when": {"result": {"tool": 1}}}]},
        "turn 1: when.result: `tool` must be a text",
    ),
    ({"turns": [], "fallback": {"colour": 1}}, "fallback: the key `colour` is unknown"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_a_file_that_is_wrong_is_refused_with_its_place(given: Any, words: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script(given, "demo.json")
    assert str(caught.value).startswith("demo.json")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), (b"{", "is not JSON"), (b"\xff", "cannot be read")]
)
def test_a_file_that_is_no_script_is_named(tmp_path: Path, content: bytes | None, words: str) -> None:
    file = tmp_path / "script.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ScriptError, match=words) as caught:
        load_script(file)
    assert str(file) in str(caught.value)
