"""Every place in which foreign text can appear, times the whole corpus: no byte of it steers the terminal.

The transcript of the screen has its own table (`tui/test_corpus.py`); these are all the others: panels, popups,
inspectors, the rows around the prompt, the window's title, the line front end, and headless text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pexpect
import pytest

from mcode.call import Call, Origin, Outcome, Status
from mcode.commands.tables import table
from mcode.events import (
    ApprovalChoice,
    ApprovalPart,
    ApprovalRequested,
    AssistantMessage,
    HookRan,
    HookStarted,
    ModelChanged,
    Notice,
    QuestionAsked,
    QueueChanged,
    RetryScheduled,
    TextDelta,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from mcode.text import Kind, clean
from mcode.tool import Choice, Preview, Question
from mcode.ui.line.approval import approval_lines, reminder_lines
from mcode.ui.line.greeting import early_lines
from mcode.ui.line.question import question_lines
from mcode.ui.line.todos import todo_rows
from mcode.ui.line.transcript import Transcript
from mcode.ui.live import LiveArea
from mcode.ui.look import Look
from mcode.ui.questionnaire import Questionnaire
from mcode.ui.suggestion import Suggestion
from mcode.ui.tui.approval_rows import approval_rows, question_rows
from mcode.ui.tui.farewell import Farewell
from mcode.ui.tui.greeting import early_lines as screen_lines
from mcode.ui.tui.inspector import TextInspector
from mcode.ui.tui.notifier import Notifier
from mcode.ui.tui.offers import approval_offers, question_offers
from mcode.ui.tui.session_picker import _rows as preview_rows
from mcode.ui.tui.setup_panel import _rows as setup_rows
from mcode.ui.tui.suggestions import _label
from mcode.ui.tui.table_inspector import TableInspector
from mcode.ui.tui.table_spec import TableSpec
from mcode.ui.tui.table_view import Column
from tests.e2e.binary import Machine
from tests.ui.tui.screen import screen
from tests.ui.tui.test_corpus import CORPUS, FORBIDDEN
from tests.ui.tui.test_corpus import PLACES as EVENTS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.rows import Row

WIDTH = 70
LOOK = Look(color=False)
IN_LINES = re.compile(FORBIDDEN.pattern.replace("\x00-\x1f", "\x00-\x08\x0a-\x1f"))
"""A terminal that writes line by line takes a tab; on the screen it would push what stands beside it."""

OWN_COLOUR = re.compile("\x1b\\[[0-9;]*m")
"""What mcode itself, or a command by way of `clean`, may write."""


def a_path(text: str) -> Path:
    """A path may hold anything but NUL; bytes that are no text arrive as surrogates of their own."""
    return Path("/") / text.replace("\0", "").replace("\ud800", "\udcff")


def call(text: str) -> Call:
    return Call("c", text, {"command": text, text: text}, Origin.MODEL, turn=1)


def approval(text: str, *, diff: bool = False, tool: str = "Bash") -> ApprovalRequested:
    line = text.replace("\n", " ")
    change = f"--- a\n+++ b\n@@ -1 +1 @@\n-{line}\n+{line}\n" if diff else None
    asked = Call("c", tool, {"command": text, "description": text, text: text}, Origin.MODEL, turn=1)
    choices = (ApprovalChoice("once", text), ApprovalChoice("always", text, text, "local"))
    parts = (ApprovalPart(text, False, text),)
    return ApprovalRequested("a", asked, Preview(text, text, change), text, choices, text, parts=parts)


def question(text: str, *, markdown: bool = False) -> Question:
    return Question(text, text, (Choice(text, text),), markdown=markdown)


def of_rows(rows: Iterable[Row]) -> Iterator[str]:
    return (row.text for row in rows)


def of_events(text: str) -> Iterator[str]:
    """The line front end's transcript, of every kind of event that carries text."""
    shown = Transcript(LOOK, lambda: WIDTH)
    started = ToolStarted(call(text), Preview(text, text))
    events = [
        TurnStarted(1, text),
        TextDelta(text),
        AssistantMessage({"content": []}),
        AssistantMessage({"content": [{"type": "text", "text": text}]}, complete=False),
        started,
        ToolProgress("c", text),
        ToolFinished(Outcome(started.call, Status.FAILED, text, summary=text, decision=text)),
        HookRan("h", text, text, "blocked", exit_code=2, stderr=text),
        RetryScheduled(1, 3, 2.0, text),
        TodosChanged(({"content": text, "status": text},)),
        Notice(text, "warning"),
        QueueChanged((text,)),
        TurnFinished(1, "stopped", text),
        TurnFinished(2, "error", text),
    ]
    for event in events:
        yield from shown.receive(event)
        yield from shown.tail
    yield from shown.end_stream()
    yield from shown.said_by_user(text)
    yield from shown.notice(text)
    yield from shown.plain(text)
    yield from shown.remark(text)


def of_live_rows(text: str) -> Iterator[str]:
    """The rows around the prompt, which both front ends read."""
    area = LiveArea("m", "default")
    hook = HookStarted("h", text, text)
    running = ToolStarted(call(text), Preview(text))
    for event in (
        ModelChanged(text),
        QueueChanged((text,)),
        TurnStarted(1, text),
        running,
        ToolProgress("c", text),
    ):
        area.receive(event)
        yield from (row.text for row in [*area.rows([], WIDTH), area.status(WIDTH)])
    area.receive(hook)
    yield from (row.text for row in area.rows([], WIDTH))
    area.receive(RetryScheduled(1, 3, 2.0, text))
    yield from (row.text for row in area.rows([], WIDTH))


def of_title(text: str) -> Iterator[str]:
    """Window title and bell, without the sequences that are mcode's own."""
    written: list[str] = []
    notifier = Notifier(written.append, bell=True, title=True, place=text)
    notifier.start()
    notifier.waits(clean(text, Kind.LINE))
    notifier.ended()
    notifier.stop()
    for each in written:
        yield re.sub(r"^\x1b\]0;|^\x1b\]9;|^\x1b\[2[23];[02]t$|\x07$", "", each).removeprefix("\x07")


PLACES: dict[str, Callable[[str], Iterable[str]]] = {
    "approval": lambda text: of_rows(approval_rows(approval(text), WIDTH, start="/")),
    "approval of a change": lambda text: of_rows(approval_rows(approval(text, diff=True), WIDTH, start="/")),
    "approval in full": lambda text: of_rows(
        approval_rows(approval(text, tool="mcp__a__b"), WIDTH, start="/", everything=True)
    ),
    "approval of several": lambda text: of_rows(
        approval_rows(approval(text), WIDTH, start="/", together=(approval(text), approval(text)))
    ),
    "answers of an approval": lambda text: (
        part for offer in approval_offers(approval(text), 2) for part in (offer.label, offer.rule)
    ),
    "question": lambda text: of_rows(question_rows(question(text), "1 of 2  ", WIDTH)),
    "question in Markdown": lambda text: of_rows(question_rows(question(text, markdown=True), "", WIDTH)),
    "answers of a question": lambda text: (offer.label for offer in question_offers(question(text))),
    "list under the prompt": lambda text: [_label(Suggestion(text, 0, text, text)), clean(text, Kind.LINE)],
    "look into a session": lambda text: of_rows(preview_rows([("you", text), ("model", text)], WIDTH)),
    "set-up": lambda text: (row.plain for row in setup_rows([(text, text)], WIDTH, "~", roomy=True)),
    "first lines of the screen": lambda text: screen_lines(a_path(text), Path("/home")),
    "first lines": lambda text: early_lines(a_path(text), Path("/home"), LOOK, WIDTH),
    "title": of_title,
    "transcript in lines": of_events,
    "rows around the prompt": of_live_rows,
    "approval in lines": lambda text: approval_lines(approval(text), "1 of 1", LOOK, WIDTH, start="/"),
    "change in lines": lambda text: approval_lines(
        approval(text, diff=True), "1 of 1", LOOK, WIDTH, start="/"
    ),
    "reminder in lines": lambda text: reminder_lines(approval(text), "1 of 1", LOOK, approval(text).choices),
    "question in lines": lambda text: question_lines(
        Questionnaire(QuestionAsked("q", call(text), (question(text),))), LOOK, WIDTH
    ),
    "Markdown question in lines": lambda text: question_lines(
        Questionnaire(QuestionAsked("q", call(text), (question(text, markdown=True),))), LOOK, WIDTH
    ),
    "steps in lines": lambda text: todo_rows([{"content": text, "status": text}], LOOK, WIDTH),
    "answer of a command in lines": lambda text: Transcript(LOOK, lambda: WIDTH).plain(table([(text, text)])),
}


@pytest.mark.parametrize("place", PLACES)
def test_t_no_byte_of_the_corpus_steers_the_terminal_from(place: str) -> None:
    for name, text in CORPUS.items():
        for written in PLACES[place](text):
            for row in OWN_COLOUR.sub("", written).split("\n"):
                allowed = IN_LINES if "lines" in place else FORBIDDEN
                assert allowed.search(row) is None, (name, row)


def gathered() -> dict[str, str]:
    """The corpus in few texts, since each costs several frames: those that swallow or outgrow others stand alone."""
    alone = {"unterminated", "C1 OSC", "carriage return", "long line"}
    together = " ".join(text for name, text in CORPUS.items() if name not in alone)
    return {"together": together, **{name: CORPUS[name] for name in sorted(alone)}}


async def show_everything(app: McodeApp, check: Callable[[str], Awaitable[None]]) -> None:
    """Every place of the screen times the corpus, on a screen that runs; `check` is told of each after its frame."""
    for name, text in gathered().items():
        for place, events in EVENTS.items():
            for event in events(text):
                app.pump.receive(event)
            app.pump.receive(TurnFinished(1, "end"))
            app.pump.flush()
            await check(f"{place}: {name}")
        await show_around_the_prompt(app, text)
        await check(f"around the prompt: {name}")
        app.suggestions.close()
        app.panel.close()
        app.pump.receive(TurnFinished(1, "end"))
        app.pump.flush()
        rows = [{"a": text, "b": text}] * 3
        columns = (
            Column("a", "first", width=20, least=8),
            Column("b", "second", width=200, least=8, end=True),
        )
        spec = TableSpec(f"/{text}", columns, subtitle=text, box=clean(text, Kind.LINE))
        for inspector in (TableInspector(app, spec, rows, text), TextInspector(app, f"/{text}", text)):
            await app.push_screen(inspector)
            await check(f"inspector: {name}")
            inspector.dismiss()
            await check(f"back: {name}")


async def show_around_the_prompt(app: McodeApp, text: str) -> None:
    """All that stands around the prompt at once."""
    app.pump.receive(ModelChanged(text))
    app.pump.receive(QueueChanged((text, text)))
    app.pump.receive(TurnStarted(1, "work"))
    app.pump.receive(HookStarted("h", text, text))
    app.pump.flush()
    app.notifier.waits(clean(text, Kind.LINE))
    app.prompt.use_draft(text[:200])
    app.suggestions.show([Suggestion(text, 0, text, text)], title=clean(text, Kind.LINE), above=5)
    app.panel.present(
        clean(text, Kind.LINE),
        "1 of 1",
        lambda width: approval_rows(approval(text), width, start="/"),
        approval_offers(approval(text)),
    )


CHILD = """
import asyncio
from mcode.ui.tui import app
from mcode.ui.tui.sessions import Sessions
from tests.ui.test_every_place import show_everything
start = Sessions._start
async def shown(self, agent, source):
    await start(self, agent, source)
    front = self._front
    front.say("the corpus begins")
    async def check(name):
        await asyncio.sleep(0.03)
        width = front.size.width
        wrong = [strip.text for strip in front.screen._compositor.render_strips() if strip.cell_length != width]
        assert not wrong, (name, wrong)
    await asyncio.sleep(0.3)
    await show_everything(front, check)
    front.say("the corpus ends")
    await check("the end")
    front.prompt.clear_draft()
    front.exit(1 if front.work._faults else 0)
Sessions._start = shown
from mcode.__main__ import main
main()
"""

DRAWS = re.compile("\x1b\\[[?<>=]?[0-9;:]*[A-Za-z]")
POINTER = "\x1b]22;default\x07"
"""Textual asks for the usual pointer of the mouse."""
TITLE = re.compile("\x1b\\]0;([^\x00-\x1f\x7f-\x9f]*)\x07")


def test_t_no_byte_of_the_corpus_reaches_a_recorded_terminal_from_any_place(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    machine.settings({"mcode": {"ui": {"bell": False}}})
    written = recorded(machine, CHILD)
    shown = written[written.index("the corpus begins") : written.rindex("the corpus ends")]
    assert "owned" not in "".join(TITLE.findall(shown))
    ours = DRAWS.findall(shown)
    assert {sequence[-1] for sequence in ours} <= set("mHhlABCDGdu"), {each[-1] for each in ours}
    rest = DRAWS.sub("", TITLE.sub("", shown.replace(POINTER, "")))
    found = FORBIDDEN.search(rest.replace("\r", "").replace("\n", ""))
    assert found is None, rest[max(0, found.start() - 40) : found.end() + 40] if found else ""


def recorded(machine: Machine, program: str) -> str:
    """All that a program writes to its terminal until it ends."""
    environment = {**machine.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    arguments = ["-c", program, "--demo"]
    child: Any = cast("Any", pexpect.spawn)(
        sys.executable, arguments, cwd=str(machine.project), env=environment, dimensions=(24, 60), timeout=120
    )
    written: bytes = child.read()
    child.close()
    assert child.exitstatus == 0, written[-2000:]
    return written.decode("utf-8")


async def test_t_the_last_words_hold_none_of_it(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        farewell = Farewell(on.app)
        farewell.say("fine")
        assert FORBIDDEN.search("".join(farewell._words)) is None
