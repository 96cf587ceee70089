"""The widget: what is painted, where the reader is, and what is copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from textual.app import App, ComposeResult
from textual.events import MouseScrollUp
from textual.theme import BUILTIN_THEMES
from typing_extensions import override

from mcode.events import AssistantMessage, TextDelta, ToolProgress, TurnStarted
from mcode.ui.tui.document import Document
from mcode.ui.tui.look import look_for
from mcode.ui.tui.painting import behind_text
from mcode.ui.tui.transcript_view import TranscriptView
from tests.ui.tui.stories import MARKDOWN, finish, program_at_work, start, work_done
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.geometry import Region
    from textual.pilot import Pilot

    from mcode.events import Event


MARK = "\u203a"


class Recorder(TranscriptView):
    """Notes which rows are refreshed."""

    _noted: list[Region] | None = None

    @override
    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        if repaint:
            self._noted = [*(self._noted or []), *(regions or [self.size.region])]
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def taken(self) -> list[int]:
        rows = [row for region in self._noted or [] for row in region.line_range]
        self._noted = []
        return rows


def scroll_up(view: TranscriptView) -> MouseScrollUp:
    return MouseScrollUp(view, 3, 3, 0, 0, 0, False, False, False)


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.view = Recorder(Document(lambda: self.now), look_for(BUILTIN_THEMES["ansi-dark"]))

    @override
    def compose(self) -> ComposeResult:
        yield self.view


def shown(app: Host) -> list[str]:
    return [app.view.render_line(y).text.rstrip() for y in range(app.view.size.height)]


def say(app: Host, *events: Event) -> None:
    for event in events:
        app.view.receive(event)
    app.view.flush()


def talk(count: int, start_at: int = 0) -> Iterator[Event]:
    for number in range(start_at, start_at + count):
        yield TurnStarted(number, f"question {number}")
        yield AssistantMessage(
            {"content": [{"type": "text", "text": f"answer {number}\n\n" + "word " * (number % 50)}]}
        )


async def test_what_is_said_last_is_in_view() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)):
        say(app, *talk(50))
        assert shown(app)[-1].startswith("  word")
        assert app.view.following


async def test_little_stands_at_the_top() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)):
        say(app, TurnStarted(1, "hello"))
        assert shown(app) == [f"{MARK} hello", *[""] * 9]


async def test_a_word_more_paints_one_row() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        say(app, TurnStarted(1, "hello"), TextDelta("One two"))
        await pilot.pause()
        app.view.taken()
        say(app, TextDelta(" three"))
        assert app.view.taken() == [2]
        assert shown(app)[2] == "  One two three"


async def test_progress_of_one_call_paints_its_row_only() -> None:
    app = Host()
    async with app.run_test(size=(100, 20)) as pilot:
        say(app, *program_at_work())
        await pilot.pause()
        app.view.taken()
        say(app, ToolProgress("c6", "page 2 of 7"))
        (row,) = app.view.taken()
        assert "page 2 of 7" in shown(app)[row]


async def test_16_a_reader_who_scrolled_up_is_neither_moved_nor_repainted() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        say(app, *talk(50))
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = shown(app)
        say(app, TextDelta("new words\n\nand more"))
        app.view.taken()
        after = shown(app)
        assert after[:-1] == before[:-1]
        assert "new row" in after[-1]
        for _ in range(5):
            say(app, TextDelta(" and"))
        assert app.view.taken() == []
        await pilot.press("end")
        assert "new words" in "".join(shown(app))
        assert app.view.following


async def test_rows_are_new_by_their_number_not_by_how_often_they_were_painted() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        say(app, TextDelta("one\n\nmore " * 200))
        await pilot.press("pageup")
        for _ in range(50):
            say(app, TextDelta("and "))
        say(app, TextDelta("\n\none\n\ntwo"))
        assert shown(app)[-1].strip() in {"5+ new rows, End", "2 new rows, End"}


async def test_scrolling_down_to_the_end_follows_again() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        say(app, *talk(50))
        await pilot.press("up", "up", "up")
        assert not app.view.following
        await pilot.press("down", "down", "down")
        assert app.view.following


async def test_scrolling_up_shows_each_row_once_whatever_was_estimated() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)):
        say(app, *talk(12), *work_done())
        rows: list[str] = [*shown(app)]
        while app.view.scroll_y > 0:
            app.view.action_scroll_up()
            rows.insert(0, shown(app)[0])
        whole = app.view.last_rows(100_000)
        assert [row.rstrip() for row in rows] == [row.rstrip() for row in whole]


async def test_home_and_end() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        say(app, *talk(300))
        await pilot.press("home")
        assert shown(app)[0] == f"{MARK} question 0"
        await pilot.press("end")
        assert app.view.following


async def test_the_wheel_scrolls() -> None:
    app = Host()
    async with app.run_test(size=(60, 10)) as pilot:
        say(app, *talk(50))
        before = shown(app)
        app.view.post_message(scroll_up(app.view))
        await pilot.pause()
        assert not app.view.following
        assert shown(app)[2:-1] == before[:-3]


async def test_17_resizing_5000_blocks_keeps_the_block_at_the_top_and_shows_no_row_twice() -> None:
    app = Host()
    async with app.run_test(size=(100, 20)) as pilot:
        say(app, *talk(2_500))
        assert len(app.view.document.blocks) == 5_000
        app.view.step(-2_500)
        await pilot.pause()
        top = next(row for row in shown(app) if row)
        for width in (60, 100):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            rows = [row for row in shown(app)[:-1] if row]
            assert rows[0] == top
            numbered = [row for row in rows if not row.startswith("  word")]
            assert len(set(numbered)) == len(numbered)


async def test_who_follows_goes_on_following_whatever_becomes_of_the_size() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        say(app, *talk(60))
        last = shown(app)[-1]
        for size in ((60, 24), (100, 30), (100, 8), (100, 40), (40, 12), (100, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.view.following, size
            assert shown(app)[-1].split()[-1] == last.split()[-1]
            for height in (3, 12):  # as a panel opens below and goes away
                app.view.styles.height = height
                await pilot.pause()
                assert app.view.following, (size, height)
            app.view.styles.height = "1fr"
            await pilot.pause()
            assert app.view.following, size


async def drag(pilot: Pilot[None], start_at: tuple[int, int], end_at: tuple[int, int]) -> None:
    await pilot.mouse_down(offset=start_at)
    await pilot.hover(offset=end_at)
    await pilot.mouse_up(offset=end_at)
    await pilot.pause()


async def test_what_is_dragged_over_is_copied_exactly() -> None:
    app = Host()
    async with app.run_test(size=(40, 20)) as pilot:
        text = "It is a long sentence that needs more than one row of this screen, 漢字 included."
        say(
            app,
            TurnStarted(1, "say it"),
            TextDelta(f"{text}\n\n```\nfirst\n  second\n```\n"),
            AssistantMessage({"content": []}),
        )
        rows = shown(app)
        last = next(index for index, row in enumerate(rows) if "second" in row)
        await drag(pilot, (2, 2), (39, last - 3))
        assert app.view.selected_text().rstrip("\n") == text
        await drag(pilot, (0, last - 1), (39, last))
        assert app.view.selected_text() == "first\n  second"
        await drag(pilot, (8, 2), (10, 2))
        assert app.view.selected_text() == "a l"


async def test_an_answer_that_is_selected_whole_is_copied_as_markdown() -> None:
    app = Host()
    async with app.run_test(size=(60, 60)) as pilot:
        say(
            app,
            TurnStarted(1, "go"),
            TextDelta(MARKDOWN),
            AssistantMessage({"content": []}),
            TurnStarted(2, "next"),
        )
        last = next(index for index, row in enumerate(shown(app)) if row.endswith("next"))
        await drag(pilot, (0, 0), (50, last))
        assert app.view.selected_text() == f"go\n\n{MARKDOWN.rstrip()}\n\nnext"


async def test_a_selection_stays_on_its_words_while_the_transcript_grows() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        say(app, *program_at_work())
        await drag(pilot, (2, 0), (5, 0))
        assert app.view.selected_text() == "find"
        started = start("c8", "Grep", "more", parent="p")
        say(app, started, finish(started, "1 match"), *talk(10))
        assert app.view.selected_text() == "find"


async def test_a_click_on_a_card_unfolds_it_and_ctrl_o_means_the_last_one() -> None:
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        started = start("r", "Read", "notes.txt", file_path="notes.txt")
        say(app, started, finish(started, "3 lines", "a\nb\nc"))
        assert len([row for row in shown(app) if row]) == 1
        await pilot.click(offset=(5, 0))
        assert shown(app)[1:4] == ["    a", "    b", "    c"]
        app.view.toggle()
        assert len([row for row in shown(app) if row]) == 1


async def test_what_is_unfolded_is_read_from_its_beginning() -> None:
    app = Host()
    async with app.run_test(size=(80, 10)):
        started = start("r", "Read", "notes.txt", file_path="notes.txt")
        say(app, started, finish(started, "3 lines", "\n".join(map(str, range(100)))))
        app.view.toggle()
        assert "notes.txt" in shown(app)[0]
        assert shown(app)[1] == "    0"


async def test_a_running_call_is_painted_once_a_second_and_nothing_wakes_up_when_none_runs() -> None:
    app = Host()
    async with app.run_test(size=(80, 10)):
        say(app, start("b", "Bash", "sleep 9", command="sleep 9"))
        assert app.view._chores.ticker is not None
        app.now = 3.0
        await until(lambda: "running 3 s" in shown(app)[0])
        say(app, finish(start("b", "Bash", "sleep 9"), "exit 0"))
        await until(lambda: app.view._chores.ticker is None)


async def test_wide_and_joined_letters_leave_every_row_at_the_screens_width() -> None:
    app = Host()
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    words = [
        "漢字",
        family,
        "1\ufe0f\u20e3",
        "\u2764\ufe0f",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "e\u0301",
        "ﾊﾝｶｸ",
    ]
    async with app.run_test(size=(30, 20)):
        say(app, TurnStarted(1, " ".join(words * 3)), TextDelta("".join(words * 8)))
        for y in range(20):
            strip = app.view.render_line(y)
            assert strip.cell_length == 30
            assert sum(segment.cell_length for segment in strip) == 30


async def test_another_look_is_shown_at_once() -> None:
    app = Host()
    async with app.run_test(size=(100, 20)) as pilot:
        say(app, *program_at_work())
        app.view.change_look(look_for(BUILTIN_THEMES["nord"], unicode=False))
        await pilot.pause()
        assert "".join(shown(app)).isascii()


def test_new_rows_are_counted_in_steps() -> None:
    assert [behind_text(count) for count in (0, 1, 2, 3, 9, 49, 50, 99, 1234)] == [
        "",
        "1 new row, End",
        "2 new rows, End",
        "2 new rows, End",
        "5+ new rows, End",
        "20+ new rows, End",
        "50+ new rows, End",
        "50+ new rows, End",
        "1000+ new rows, End",
    ]
