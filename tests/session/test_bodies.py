"""What of a record must never be altered by masking, lest the provider refuse it (K-01, S-08)."""

# ruff: noqa: RUF001 -- the marks have angle quotes

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcode.masking import Masker
from mcode.session.bodies import masked_body

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

SECRET = "ghp" + "_" + "a8F3kZ9qLm2XwP7rTy4B" * 2


def test_thinking_signatures_base64_and_ids_stay_byte_for_byte() -> None:
    body: JsonObject = {
        "id": SECRET,
        "message": {
            "id": SECRET,
            "content": [
                {"type": "thinking", "thinking": f"I saw {SECRET}", "signature": SECRET},
                {"type": "redacted_thinking", "data": SECRET},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": SECRET}},
                {"type": "tool_use", "id": SECRET, "name": "Bash", "input": {}},
                {"type": "tool_result", "tool_use_id": SECRET, "content": "ok"},
                {"type": "server_tool", "encrypted_content": SECRET},
            ],
        },
    }
    assert masked_body(body, Masker()) == body


def test_everything_else_is_masked_wherever_it_stands() -> None:
    body: JsonObject = {
        "text": SECRET,
        "message": {
            "content": [
                {"type": "text", "text": f"It is {SECRET}."},
                {
                    "type": "tool_use",
                    "id": "t1",
                    "name": "Bash",
                    "input": {"command": f"echo {SECRET}", "id": SECRET},
                },
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": SECRET}]},
            ]
        },
        "arguments": {"type": "thinking", "signature": SECRET, "id": SECRET, SECRET: "a key"},
        "data": {"id": SECRET, "nested": [{"type": "redacted_thinking", "data": SECRET}]},
    }
    masked = masked_body(body, Masker())
    assert SECRET not in json.dumps(masked)
    assert masked["message"]["content"][1]["input"]["command"].startswith("echo ‹secret:github:")


def test_a_body_without_secrets_comes_back_equal_with_its_keys_in_order() -> None:
    body: JsonObject = {"z": 1, "a": {"y": [1, 2.5, None, True], "b": "text"}, "data": {"k": "v"}}
    masked = masked_body(body, Masker())
    assert json.dumps(masked) == json.dumps(body)
    assert masked is not body
