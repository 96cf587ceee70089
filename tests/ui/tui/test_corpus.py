"""Hostile text in every place of the transcript: no byte of it steers the terminal, and no row leaves its bounds."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from textual.theme import BUILTIN_THEMES

from mcode.call import Call, Origin, Status
from mcode.events import (
    AnswerSuperseded,
    ApprovalResolved,
    AssistantMessage,
    HookRan,
    Notice,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.tool import Preview
from mcode.ui.tui.blocks import Fold
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import look_for
from mcode.ui.tui.row_cache import RowCache
from tests.ui.tui.stories import finish, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcode.events import Event

CORPUS = {
    "clipboard": "\x1b]52;c;aGVsbG8=\x07",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\",
    "device control": "\x1bPq#0;2;0;0;0\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "report": "\x1b[6n\x1b[c",
    "reset": "\x1bc",
    "C1 CSI": "\x9b2J",
    "C1 OSC": "\x9d0;owned\x9c",
    "unterminated": "\x1b]0;never ends",
    "bell": "\x07\x07",
    "backspaces": "abc\b\b\bxyz",
    "carriage return": "safe\rEVIL",
    "null": "a\x00b\x7fc",
    "bidi": "\u202egpj.exe\u2066\u2069\u200f",
    "zero width": "a\u200bb\u200cc\u2060d\ufeffe",
    "tags": "hi\U000e0041\U000e0042",
    "colour that hides": "\x1b[8mhidden\x1b[0m\x1b[38;5;0;48;5;0mblack",
    "separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "marks": "z" + "\u0300" * 200,
    "surrogate": "a\ud800b",
    "private": "\ue000\U000f0000",
    "markup": "x[/oops] [@click=app.quit]q[/] [bold]b",
    "wide": "漢字" * 60,
    "joined": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 20,
    "long line": "x" * 12_000,
    "tabs": "\t\t\ttab",
    "html": "<script>alert(1)</script>&#x1b;[2J&#27;]0;t&#7;",
    "entity": "&#155;2J &#x9b;H",
}

FORBIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)


def own_command(text: str) -> Iterator[Event]:
    call = Call("u", "Bash", {"command": text}, Origin.USER)
    started = ToolStarted(call, Preview(text))
    yield started
    yield finish(started, text, text, full_text=text)


def call(text: str, status: Status = Status.OK) -> Iterator[Event]:
    started = start("c", text, text, source=text, file_path=text)
    yield started
    yield ToolProgress("c", text)
    yield finish(started, text, text, status, decision=text)


def bash(text: str) -> Iterator[Event]:
    started = start("c", "Bash", text, command=text)
    yield started
    yield finish(started, "exit 0", text, data={"stdout": text, "stderr": text, "exit_code": 0})


def edit(text: str) -> Iterator[Event]:
    started = start("c", "Edit", text)
    yield started
    line = text.replace("\n", " ")
    diff = f"--- {line}\n+++ {line}\n@@ -1,1 +1,2 @@\n {line}\n-{line}\n+{line}\n\\ {line}\n"
    yield finish(started, text, text, diff=diff, decision=text)


def program(text: str) -> Iterator[Event]:
    outer = start("p", "run_code", text, code=f"{text}\n{text}")
    yield outer
    for status in Status:
        inner = start(f"c{status}", f"mcp__{text}__{text}", text, parent="p", source=text)
        yield inner
        yield finish(inner, text, text, status, decision=text)
    running = start("c", "mcp__a__b", "", parent="p", source="a", words=text)
    yield running
    yield ToolProgress("c", text)
    yield finish(outer, text, f"ok: 1 call\n\n{text}")


PLACES: dict[str, Callable[[str], Iterator[Event]]] = {
    "assistant text": lambda text: iter([TextDelta(text), AssistantMessage({"content": []})]),
    "open answer": lambda text: iter([TextDelta(f"so {text}")]),
    "code of an answer": lambda text: iter(
        [TextDelta(f"```python\n{text}\n```\n"), AssistantMessage({"content": []})]
    ),
    "table and link": lambda text: iter(
        [TextDelta(f"| {text} |\n|---|\n| [{text}](http://a/{text}) |\n\n[{text}]({text})\n")]
    ),
    "thinking": lambda text: iter([ThinkingDelta(text), AssistantMessage({"content": []})]),
    "void answer": lambda text: iter([TextDelta("a"), AnswerSuperseded(text)]),
    "user": lambda text: iter([TurnStarted(1, text)]),
    "own command": own_command,
    "call": call,
    "failed call": lambda text: call(text, Status.FAILED),
    "denied call": lambda text: call(text, Status.DENIED),
    "command output": bash,
    "change": edit,
    "program": program,
    "hook": lambda text: iter([HookRan("h", text, text, "blocked", exit_code=2, stderr=text)]),
    "notice": lambda text: iter([Notice(text, "warning"), Notice(text, "error")]),
    "end": lambda text: iter([TurnFinished(1, "stopped", text), TurnFinished(2, text, text)]),
    "approval": lambda text: iter([ApprovalResolved("a", "withdrawn", text)]),
    "steps": lambda text: iter([TodosChanged(({"content": text, "status": text},))]),
}


@pytest.mark.parametrize("place", PLACES)
def test_t_nothing_in_this_place_reaches_the_terminal_as_a_command(place: str) -> None:
    width = 70
    console = Console(force_terminal=True, color_system="truecolor")
    look = look_for(BUILTIN_THEMES["ansi-dark"])
    for name, text in CORPUS.items():
        document = Document(lambda: 0.0)
        for event in PLACES[place](text):
            document.apply(event)
        document.say(text, "command")
        cache = RowCache(document, look)
        cache.reset(width)
        for fold in (Fold.AUTO, Fold.OPEN):
            for block in document.blocks:
                document.fold(block, fold)
                for index, row in enumerate(cache.rows(block.number)):
                    assert FORBIDDEN.search(row.text) is None, (name, row.text)
                    strip = cache.strip(block.number, index)
                    assert strip.cell_length == width, (name, row.text)
                    shown = re.sub("\x1b\\[[0-9;]*m", "", strip.render(console))
                    assert FORBIDDEN.search(shown) is None, (name, shown)
                assert FORBIDDEN.search(block.whole_text().replace("\n", "").replace("\t", "")) is None, name


@pytest.mark.parametrize("place", sorted(set(PLACES) - {"thinking", "void answer", "approval"}))
def test_markup_is_shown_as_it_was_written(place: str) -> None:
    text = "x[/oops]"
    document = Document(lambda: 0.0)
    for event in PLACES[place](text):
        document.apply(event)
    cache = RowCache(document, look_for(BUILTIN_THEMES["ansi-dark"]))
    cache.reset(200)
    assert text in "\n".join(row.text for block in document.blocks for row in cache.rows(block.number))


@pytest.mark.parametrize("place", PLACES)
def test_no_mark_can_fall_on_what_stands_beside_it(place: str) -> None:
    document = Document(lambda: 0.0)
    for event in PLACES[place]("\u0301\u0301first"):
        document.apply(event)
    cache = RowCache(document, look_for(BUILTIN_THEMES["ansi-dark"]))
    for block in document.blocks:
        for row in cache.rows(block.number):
            assert not row.text or unicodedata.category(row.text[0])[0] != "M"
