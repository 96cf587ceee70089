"""The widget over a transcript whose old texts are in a file: scrolled, copied, unfolded, resized."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.app import App, ComposeResult
from textual.selection import SELECT_ALL
from textual.theme import BUILTIN_THEMES
from typing_extensions import override

from mcode.events import AssistantMessage, TurnStarted
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import look_for
from mcode.ui.tui.old_blocks import KEPT, KEPT_BORROWED
from mcode.ui.tui.transcript_view import TranscriptView
from tests.ui.tui.screen import screen
from tests.ui.tui.stories import MARKDOWN, finish, start, work_done
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from mcode.events import Event

NEWEST = 12
"""Blocks that keep their text here."""


class Host(App[None]):
    def __init__(self, kept: int) -> None:
        super().__init__()
        self.view = TranscriptView(Document(lambda: 7.0, kept=kept), look_for(BUILTIN_THEMES["ansi-dark"]))

    @override
    def compose(self) -> ComposeResult:
        yield self.view

    @property
    def shown(self) -> list[str]:
        return [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]

    @property
    def away(self) -> int:
        return sum(holder.is_away for block in self.view.document.blocks for holder in block.holders())


def talk(count: int) -> Iterator[Event]:
    """Questions, answers and calls, each with so much text that it goes into the file."""
    for number in range(count):
        yield TurnStarted(number, f"question {number}: {'who calls it? ' * 9}")
        started = start(f"c{number}", "Bash", f"pytest {number}", command=f"pytest {number}")
        yield started
        output = "".join(f"line {line} of {number}\n" for line in range(40))
        yield finish(started, "exit 0", output, data={"stdout": output, "exit_code": 0})
        text = f"Answer {number}: **it** is called `here`.\n\n- {'one ' * 30}\n- two\n"
        yield AssistantMessage({"content": [{"type": "text", "text": text}]})
    yield from work_done()
    yield AssistantMessage({"content": [{"type": "text", "text": MARKDOWN}]})


@pytest.fixture
async def both() -> AsyncGenerator[tuple[Host, Host]]:
    """The same transcript twice, at its end: with old texts in the file, and with all of them in memory."""
    moved, whole = Host(NEWEST), Host(KEPT)
    async with moved.run_test(size=(60, 12)), whole.run_test(size=(60, 12)):
        for host in (moved, whole):
            host.view.replay(talk(40))
            host.view.flush()
        await until(lambda: not moved.view.document.untidy)
        assert moved.away >= 120 - NEWEST
        assert whole.away == 0
        yield moved, whole


async def test_scrolling_up_row_by_row_shows_the_same_rows(both: tuple[Host, Host]) -> None:
    moved, whole = both
    while whole.view.scroll_y > 0:
        assert moved.shown == whole.shown
        for host in both:
            host.view.action_page_up()
    assert moved.shown == whole.shown
    assert moved.shown[0].startswith("\u203a question 0")
    await until(lambda: not moved.view.document.untidy)
    assert moved.away >= 120 - NEWEST - KEPT_BORROWED


async def test_home_end_steps_and_other_widths_show_the_same_rows(both: tuple[Host, Host]) -> None:
    moved, whole = both
    acts: tuple[Callable[[TranscriptView], object], ...] = (
        lambda view: view.action_scroll_home(),
        lambda view: view.step(1),
        lambda view: view.toggle(1),
        lambda view: view.step(30),
        lambda view: view.step(-1),
        lambda view: view.go_back(20, "undone"),
        lambda view: view.action_page_down(),
    )
    for act in acts:
        for host in both:
            act(host.view)
        assert moved.shown == whole.shown
        assert moved.view.text_at_cursor() == whole.view.text_at_cursor()
    for host in both:
        host.view.styles.width = 40
    await until(lambda: moved.view.size.width == whole.view.size.width == 40)
    assert moved.shown == whole.shown


async def test_the_whole_transcript_is_copied_in_slices_and_exactly(
    both: tuple[Host, Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcode.ui.tui.marking.SLICE", 0.0)
    moved, whole = both
    for host in both:
        host.screen.selections = {host.view: SELECT_ALL}
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    beside = asyncio.create_task(others())
    copied = await moved.view.gather_selected()
    beside.cancel()
    assert turns > 50
    assert copied == whole.view.selected_text() == moved.view.selected_text()
    assert "line 39 of 0" in copied
    assert MARKDOWN.rstrip() in copied
    await until(lambda: not moved.view.document.untidy)
    assert moved.away >= 120 - NEWEST - KEPT_BORROWED


async def test_an_idle_transcript_does_not_wake_up_once_it_is_tidy(both: tuple[Host, Host]) -> None:
    moved, _ = both
    assert moved.view._chores._tidier is None


def open_files() -> list[str]:
    """What this process has open, by name; other threads may close theirs meanwhile."""
    found: list[str] = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(os.readlink(each))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are looked at in /proc")
async def test_in_a_session_the_file_lies_with_it_and_ctrl_c_copies_what_is_in_it(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        view = on.app.transcript
        view.replay(TurnStarted(number, f"question {number}: {'who? ' * 30}") for number in range(KEPT + 20))
        await on.until(lambda: bool(view.document.blocks) and not view.document.untidy)
        directory = on.stage.agent.session.directory
        opened = open_files()
        assert any(each.startswith(f"{directory}/") and each.endswith("(deleted)") for each in opened), opened
        first = next(block for block in view.document.blocks if "question 0:" in block.whole_text())
        view._viewport.go((first.number, 0))
        view.flush()
        on.app.screen.selections = {view: SELECT_ALL}
        await on.press("ctrl+c")
        await on.until(lambda: "question 0:" in on.app.clipboard)
        assert f"question {KEPT + 19}:" in on.app.clipboard
