"""Hooks and servers at the head of Markdown files, as people indent them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.config.file_hooks import servers_in
from mcode.config.front_matter import read_front_matter
from mcode.config.nested import DEPTH, NestedError, nested

if TYPE_CHECKING:
    from mcode.jsontext import JsonValue

WHOLE = """\
value:
  # who looks
  PreToolUse:
    - matcher: "Bash|Edit"
      hooks:
        - type: command
          command: "./check.sh '$X': now"   # quoted
          timeout: 10
          once: true
  'Stop':
  - hooks:
    - {type: command, command: "echo a, b", args: [one, "two, three"]}
    - command: |
        # kept
        echo hi

        echo there
      ratio: 2.5
    -
      command: >
        one
        line
  nothing:
other: x
"""


def read(text: str, key: str = "value") -> JsonValue:
    front = read_front_matter(f"---\n{text}\n---\nBody.")
    assert front.body.strip() == "Body."
    return nested(front.get(key))


def test_mappings_lists_blocks_and_words_are_what_they_look_like() -> None:
    assert read(WHOLE) == {
        "PreToolUse": [
            {
                "matcher": "Bash|Edit",
                "hooks": [
                    {"type": "command", "command": "./check.sh '$X': now", "timeout": 10, "once": True}
                ],
            }
        ],
        "Stop": [
            {
                "hooks": [
                    {"type": "command", "command": "echo a, b", "args": ["one", "two, three"]},
                    {"command": "# kept\necho hi\n\necho there", "ratio": 2.5},
                    {"command": "one line"},
                ]
            }
        ],
        "nothing": None,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("value: {a: [1, -2.5, 'x'], b: {c: null}}", {"a": [1, -2.5, "x"], "b": {"c": None}}),
        ("value:\n- one\n- 'two'", ["one", "two"]),
        ("value: plain words", "plain words"),
        ("value: # nothing", None),
        ("value:\n  url: https://host.example/x#y", {"url": "https://host.example/x#y"}),
        ("value:\n  - - a\n    - b\n  - c: [d]", [["a", "b"], {"c": ["d"]}]),
        ("value: [a,\n  # why\n  b]", ["a", "b"]),
        (f"value:\n  a: {'9' * 5_000}", {"a": "9" * 5_000}),
    ],
)
def test_short_forms(text: str, value: JsonValue) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("value:\n  - a: b\n c: d", "belongs to nothing above"),
        ("value:\n  a: b\n  words", "is no `key: value`"),
        ("value:\n  a: 1\n  a: 2", "stands there twice"),
        ("value:\n\ta: 1", "tabs"),
        ("value: [a, b", "is not closed"),
        ("value: {a}", "is no `key: value`"),
        ("value:\n  a: - b", "stands on no line of its own"),
        (f"value:\n  a{' ' * 100_000}b", "is no `key: value`"),
        (f"value: {{a{' ' * 100_000}b}}", "is no `key: value`"),
        (f"value: {'[' * (DEPTH + 2)}{']' * (DEPTH + 2)}", "deep"),
        ("value:\n" + "\n".join(f"{' ' * (depth + 1)}a:" for depth in range(DEPTH + 3)), "deep"),
    ],
)
def test_what_is_none_of_it_is_an_error_and_never_half_a_value(text: str, why: str) -> None:
    with pytest.raises(NestedError, match=why):
        read(text)


def test_a_comment_at_the_margin_does_not_cut_a_value_off() -> None:
    text = "value:\n  Stop:\n    - {command: a}\n# and before a call\n\n  PreToolUse:\n    - {command: b}\n# the end"
    assert read(text) == {"Stop": [{"command": "a"}], "PreToolUse": [{"command": "b"}]}
    assert read(f"{text}\nlast: x", "last") == "x"


def test_servers_are_named_or_stand_in_the_field_itself() -> None:
    listed = read("value:\n  - wiki, tickets\n  - own:\n      command: a\n  - name: far\n    url: http://h")
    assert servers_in(listed) == (("wiki", "tickets"), {"own": {"command": "a"}, "far": {"url": "http://h"}})
    assert servers_in(read("value:\n  own:\n    command: a")) == ((), {"own": {"command": "a"}})
    assert servers_in("wiki") == (("wiki",), {})
    assert servers_in(None) == ((), {})
