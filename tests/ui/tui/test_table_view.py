"""Tables of inspectors: which columns a width has room for, and what their keys do only when confirmed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcode.commands.tool_rows import ToolRows
from mcode.events import Compacted, TurnFinished
from mcode.ui.cut_off import GO_ON
from mcode.ui.tui.inspectors import TOOLS
from mcode.ui.tui.table_inspector import TableInspector
from mcode.ui.tui.table_view import Column, fit
from tests.catalog.stand_ins import ServerTool, join
from tests.stage import turns, use
from tests.ui.tui.screen import Driven, screen

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = (Column("a", "a"), Column("b", "b", least=10), Column("c", "c", worth=2), Column("d", "d", worth=5))
NATURAL = (8, 30, 9, 9)


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (62, {"a": 8, "b": 30, "c": 9, "d": 9}),
        (50, {"a": 8, "b": 18, "c": 9, "d": 9}),
        (42, {"a": 8, "b": 10, "c": 9, "d": 9}),
        (41, {"a": 8, "b": 20, "d": 9}),  # what is worth least goes, and the others have its room
        (30, {"a": 8, "b": 20}),
        (12, {"a": 8}),
    ],
)
def test_columns_give_way_and_then_go(room: int, shown: dict[str, int]) -> None:
    assert {column.member: width for column, width in fit(COLUMNS, NATURAL, room)} == shown


@pytest.mark.parametrize("width", [100, 80, 60])
async def test_tools_keeps_state_name_and_cost_in_every_width(tmp_path: Path, width: int) -> None:
    async with screen(tmp_path, size=(width, 30)) as on:
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        (head,) = (row for row in on.rows if " tokens" in row and "state" in row)
        assert ("last used" in head) == (width >= 80)
        assert "tokens" in head
        assert len(head) < width  # the scroll bar covers nothing
        assert on.rows[-1].strip()  # the status line of the main screen
    assert [column.title for column in TOOLS.columns][:2] == ["state", "tool"]


async def test_what_a_rewind_took_back_is_dim_above_a_divider_and_the_meter_no_longer_tells_it(
    tmp_path: Path,
) -> None:
    script = turns("First answer.", "Second answer. " * 2_000, "Third answer.")
    async with screen(tmp_path, script, new_prefixes=1, size=(100, 30)) as on:
        for number, question in enumerate(("first question", "second question"), 1):
            await on.type(f"{question}\n")
            await on.finished(number)
        await on.type("/rewind 2 conversation\n")
        await on.until(lambda: "rewound to before message 2" in on.shown and "ctx ~" in on.rows[-1])
        blocks = on.app.transcript.document.blocks
        texts = [each.whole_text() for each in blocks]
        (divider,) = (at for at, text in enumerate(texts) if text.startswith("rewound to before message 2"))
        second = texts.index("second question")
        assert all(each.undone for each in blocks[second:divider])
        assert not any(each.undone for each in (*blocks[:second], *blocks[divider:]))
        assert texts.count("first question") == 1
        assert on.draft == "second question"
        await on.press("enter")
        await on.until(lambda: len(on.stage.of(TurnFinished)) == 3 and "ctx ~" not in on.rows[-1])
        assert "ctx " in on.rows[-1]


async def test_a_letter_of_a_command_that_was_meant_for_the_prompt_rewinds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = "mcode.ui.tui.table_inspector._HELD"
    monkeypatch.setattr(held, 60.0)  # "at once" is wide, since a slow machine may take its time
    script = turns(use("Write", file_path="made.txt", content="x"), "Done.")
    settings = {"permissions": {"allow": ["Edit"]}}
    async with screen(tmp_path, script, settings=settings) as on:
        await on.type("make a file\n")
        await on.finished()
        made = on.stage.bench.start / "made.txt"
        await on.type("/rewind\n")
        await on.until(lambda: "make a file" in on.shown and on.app.screen is not on.app.main)
        await on.press("o")
        await on.until(lambda: "Enter confirms" in on.shown)
        await on.press("enter")  # at once, as a key that is held down
        await on.press("x")
        assert "Enter confirms" not in on.shown
        await on.rest(0.1)
        assert made.exists()
        monkeypatch.setattr(held, 0.05)
        await on.press("o")
        await on.until(lambda: "Enter confirms" in on.shown)
        await on.rest(0.1)
        await on.press("enter")
        await on.until(lambda: not made.exists())


@pytest.mark.parametrize(("key", "draft"), [("m", "second question"), ("u", "")])
async def test_a_part_of_the_conversation_is_summarised_from_the_list(
    tmp_path: Path, key: str, draft: str
) -> None:
    script = turns("First answer.", "Second answer.", "Facts: heron.")
    async with screen(tmp_path, script, new_prefixes=1) as on:
        for number, question in enumerate(("first question", "second question"), 1):
            await on.type(f"{question}\n")
            await on.finished(number)
        await on.type("/rewind\n")
        await on.until(lambda: "second question" in on.shown and on.app.screen is not on.app.main)
        await on.press(key)
        await on.until(lambda: "Enter confirms" in on.shown)
        assert "summary takes the place of" in " ".join(on.shown.split())
        await on.rest(0.4)
        await on.press("enter")
        await on.until(lambda: bool(on.stage.of(Compacted)))
        await on.until(lambda: on.app.prompt.draft == draft)
        left = str(on.stage.agent.room.conversation.history.messages)
        assert "Facts: heron." in left
        assert ("First answer." in left, "Second answer." in left) == ((key == "m"), (key == "u"))


async def test_two_escapes_with_other_keys_between_them_open_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mcode.ui.tui.hands._ESCAPES", 60.0
    )  # a slow machine may take its time between two keys
    async with screen(tmp_path, turns("Yes.")) as on:
        await on.type("hello\n")
        await on.finished()
        await on.press("escape", "a", "backspace", "escape")
        await on.rest(0.1)
        assert on.app.screen is on.app.main
        await on.press("escape")
        await on.until(lambda: on.app.screen is not on.app.main)


async def test_enter_asks_for_the_rest_of_an_answer_that_was_cut_off(tmp_path: Path) -> None:
    from mcode.events import AssistantMessage, TextDelta, TurnStarted

    async with screen(tmp_path, turns("And this is the rest.")) as on:
        await on.press("enter")
        await on.rest(0.1)
        assert not on.stage.client.requests
        for event in (
            TurnStarted(1, "tell"),
            TextDelta("The first half"),
            AssistantMessage({"content": [{"type": "text", "text": "The first half"}]}, complete=False),
            TurnFinished(1, "error", "The stream broke."),
        ):
            on.app.pump.receive(event)
        await on.until(lambda: "Enter asks for the rest" in on.shown)
        await on.press("enter")
        await on.until(lambda: "And this is the rest." in on.shown)
        assert GO_ON in json.dumps(on.stage.client.requests[-1])
        assert "Enter asks for the rest" not in on.shown


async def test_tools_makes_only_the_rows_that_its_first_screen_shows(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        names = [f"tool_{number:03}" for number in range(400)]
        join(
            on.stage,
            [ServerTool("many", name, f"Does {name}.") for name in [*names, "tool_with_a_longer_name"]],
        )
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        page = on.app.screen
        assert isinstance(page, TableInspector)
        rows = page.rows
        assert isinstance(rows, ToolRows)
        assert len(rows) > 400
        assert rows.made < 60
        await on.press("end")
        await on.until(lambda: "mcp__many__tool_with_a_longer_name" in on.shown)  # its column had room for it
        assert rows.made < 120
        await on.press("home", "s")
        await on.until(lambda: not isinstance(page.rows, ToolRows))
        assert len(page.rows) == len(rows)


async def test_p_shows_the_permission_of_a_tool_and_pins_nothing(tmp_path: Path) -> None:
    async with screen(tmp_path, settings={"permissions": {"allow": ["Agent"]}}) as on:
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        assert "p permission   i pin" in on.shown
        before = settings_file(on).read_bytes()
        await on.press("p")
        await on.until(lambda: "No rule speaks of it" in on.shown or "Rules that speak of it" in on.shown)
        assert settings_file(on).read_bytes() == before
        await on.press("i")
        await on.until(lambda: "from the next session" in on.shown)
        assert "placement" in settings_file(on).read_text()


def settings_file(on: Driven) -> Path:
    """Where what the user changes is written."""
    return on.app.context().around.places.settings_file


@pytest.mark.parametrize(
    ("width", "columns"),
    [(100, "tool match tokens by the model"), (60, "tool match by the model")],
)
async def test_what_a_search_finds_stands_in_columns_and_is_cut_only_with_a_sign(
    tmp_path: Path, width: int, columns: str
) -> None:
    long = "create_a_subtask_of_an_issue_that_is_there_already"
    async with screen(tmp_path, size=(width, 30)) as on:
        join(
            on.stage, [ServerTool("jira", name, "Make an issue in jira.") for name in ("create_issue", long)]
        )
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        await on.press("/")
        await on.type("jira make issue\n")
        await on.until(lambda: columns in " ".join(on.shown.split()))
        found = [row for row in on.rows if "mcp__jira__" in row and "would " in row]
        assert len(found) == 2
        assert all(row.endswith(("would load it", "would name it")) for row in found)
        (cut,) = (row for row in found if "mcp__jira__create_i" not in row)
        assert f"mcp__jira__{long}" in cut or "\u2026" in cut
