"""Inspectors show what the commands answer, and nothing that they show can drive the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mcode.commands.host import CommandContext
from mcode.commands.registry import CommandResult
from mcode.commands.standard import standard_registry
from mcode.events import Ledger, Notice
from mcode.ui.tui.approval_screen import ApprovalScreen
from mcode.ui.tui.inspectors import special_inspector
from tests.stage import stage, turns, use
from tests.ui.tui.screen import COUNTS, screen
from tools.local_session import MODEL

if TYPE_CHECKING:
    from pathlib import Path

INSPECTED = ("/tools", "/context", "/permissions", "/hooks", "/help", "/config", "/rewind", "/theme")
MARKUP = "x[/oops] [@click=app.quit]q[/]"


async def test_each_command_opens_on_the_whole_screen_and_escape_goes_back(tmp_path: Path) -> None:
    settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    async with screen(tmp_path, turns("Yes."), settings=settings, size=(80, 24)) as on:
        await on.type("hello\n")
        await on.finished()
        for command in INSPECTED:
            await on.type(f"{command}\n")
            await on.until(lambda command=command: on.shown.startswith(f" {command}"))
            await on.press("escape")
            await on.until(lambda: on.app.screen is on.app.main)


async def test_a_sentence_opens_no_screen_and_the_model_in_use_stands_in_the_list_though_it_is_not_offered(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path) as on:
        await on.type("/diff\n")
        await on.until(lambda: "No file differs from what it was" in on.shown)
        assert on.app.screen is on.app.main
        await on.type("/hooks\n")
        await on.until(lambda: "They stand under `hooks`" in on.shown)
        opened = special_inspector("model", on.app, CommandResult("", {"offered": ["one", "two"]}))
        assert opened is not None
        on.app.push_screen(opened)
        await on.until(lambda: "two" in on.shown)
        assert [line.split() for line in on.shown.splitlines() if " now" in line] == [[">", MODEL, "now"]]


async def test_json_is_printed_and_opens_nothing(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("/tools --json\n")
        await on.until(lambda: '"name"' in on.shown)
        assert on.app.screen is on.app.main


async def test_the_test_box_of_permissions_says_what_decides(tmp_path: Path) -> None:
    async with screen(tmp_path, settings={"permissions": {"deny": ["Bash(curl *)"]}}) as on:
        await on.type("/permissions\n")
        await on.until(lambda: "Bash(curl *)" in on.shown)
        await on.press("/")
        await on.type("Bash(curl x)\n")
        await on.until(lambda: "deny" in "\n".join(on.rows[4:12]))


async def test_22_the_search_box_of_tools_is_the_models_own_search_and_loads_nothing(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes.")) as on:
        context = on.app.context()
        expected = await context.registry.run("/tools search fetch a web page", context)
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        before = (await context.registry.run("/tools", context)).data
        await on.press("/")
        await on.type("fetch a web page\n")
        rows = [" ".join(line.split()) for line in expected.text.split("\n")[:3] if line.strip()]
        await on.until(lambda: all(each in " ".join(on.shown.split()) for each in rows))
        assert (await context.registry.run("/tools", context)).data == before
        assert on.stage.agent.ledger is None


async def test_23_context_adds_up_to_the_input_of_the_last_request(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes.")) as on:
        await on.type("hello\n")
        await on.finished()
        last = on.stage.of(Ledger)[-1]
        assert last.definitions + last.system + last.messages + last.results == last.input_tokens
        await on.type("/context\n")
        await on.until(lambda: "definitions" in on.shown)
        await on.press("escape")
        await on.until(lambda: on.app.screen is on.app.main)
        await on.type("/context view\n")
        await on.until(lambda: on.shown.startswith(" /context view"))
        await on.rest(0.2)
        await on.press("end")
        await on.until(lambda: '"text": "hello"' in on.shown)
        assert "[cache mark" in on.shown


async def test_the_request_of_an_earlier_turn_opens_by_its_number_and_as_json_it_is_printed(
    tmp_path: Path,
) -> None:
    async with screen(tmp_path, turns("One.", "Two.")) as on:
        for number, text in enumerate(("hello", "goodbye"), 1):
            await on.type(f"{text}\n")
            await on.finished(number)
        await on.type("/context view 1\n")
        await on.until(lambda: on.shown.startswith(" /context view 1"))
        await on.until(lambda: "turn 1, request 1 of 1" in on.shown)
        await on.press("end")
        await on.until(lambda: '"text": "hello"' in on.shown)
        assert "goodbye" not in on.shown
        await on.press("escape")
        await on.until(lambda: on.app.screen is on.app.main)
        await on.type("/context view 2 --json\n")
        await on.until(lambda: "more characters)" in on.shown)  # what is not laid out of it is said
        assert '"input_schema":{' in on.shown
        assert on.app.screen is on.app.main
        await on.type("/context view 3\n")
        await on.until(lambda: "There is no request 1 of turn 3" in " ".join(on.shown.split()))


async def test_the_request_is_shown_with_its_marks_and_what_differs_from_the_one_before(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, turns("One.", "Two.")) as on:
        registry = standard_registry()
        context = CommandContext(on.agent, on.bench.surroundings(), registry)
        await on.say("first")
        first = await registry.run("/context view", context)
        assert "the first request of this start" in first.text
        await on.say("second")
        second = await registry.run("/context view", context)
        data = cast("dict[str, Any]", second.data)
        assert data["request"] == on.client.requests[-1]
        assert data["difference"] == {
            "messages_as_before": 1,
            "messages_new": 2,
            "messages_gone": 0,
            "model": False,
            "system": False,
            "tools": False,
            "other": False,
            "tools_added": [],
            "tools_gone": [],
            "tools_changed": [],
            "system_lines": [],
        }
        assert {"system", "message 1", "message 3"} <= set(data["cache_marks"])
        assert "1 message as before, 2 new; model, system and tools are the same" in second.text


async def test_resume_shows_the_sessions_and_what_was_said(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("The answer is 42.")) as on:
        await on.type("what is the answer\n")
        await on.finished()
    async with screen(tmp_path, turns("Again.")) as on:
        await on.until(lambda: "1 earlier session" in on.shown)
        await on.type("/resume\n")
        await on.until(lambda: "what is the answer" in on.shown)
        await on.until(lambda: "The answer is 42." in on.shown)
        await on.press("enter")
        await on.until(lambda: on.app.screen is on.app.main and "goes on from here" in on.shown)
        assert "The answer is 42." in on.shown


async def test_an_approval_that_comes_shows_as_a_banner_and_waits_on_the_main_screen(tmp_path: Path) -> None:
    async with screen(tmp_path) as on:
        await on.type("/tools\n")
        await on.until(lambda: on.app.screen is not on.app.main)
        await on.ask("make")
        await on.until(lambda: "1 approval waits on the main screen" in on.shown)
        await on.rest(COUNTS)
        await on.press("1")
        assert not on.decided
        await on.press("escape")
        await on.until(lambda: on.app.screen is on.app.main)
        await on.press("tab")
        await on.press("ctrl+o")
        await on.until(lambda: isinstance(on.app.screen, ApprovalScreen))
        await on.until(lambda: "Esc back to the answers" in on.shown)
        assert "waits on the main screen" not in on.shown  # it is what is shown here


async def test_13_brackets_are_shown_as_they_are_everywhere(tmp_path: Path) -> None:
    script = turns(
        [MARKUP, use(f"No{MARKUP}", "toolu_1", text=MARKUP)],
        use("Read", "toolu_2", file_path=f"{MARKUP}.txt"),
        use("Bash", "toolu_3", command=f"touch '{MARKUP}'", description=MARKUP),
        "The end.",
    )
    async with screen(tmp_path, script) as on:
        on.stage.agent.events.emit(Notice(MARKUP, "warning"))
        await on.type(f"{MARKUP}\n")
        await on.until(lambda: bool(on.app.deciding.waiting))
        assert sum("x[/oops]" in row for row in on.rows) >= 2
        await on.type(MARKUP)
        await on.press("escape")
        await on.finished()
        assert on.app.is_running


async def test_24_without_a_key_and_colour_in_a_small_terminal_everything_is_there(tmp_path: Path) -> None:
    async with screen(tmp_path, turns("Yes."), size=(60, 18), environment={"NO_COLOR": "1"}) as on:
        assert all(len(row) <= 60 for row in on.rows)
        await on.type("/tools\n")
        await on.until(lambda: "RESIDENT" in on.shown)
        await on.press("escape")
        await on.ask(
            "make the whole thing with a rather long command line that needs more than one row of it"
        )
        await on.until(lambda: "wants approval" in on.shown)
        await on.until(lambda: "Enter confirm" in on.shown)
        assert "Allow once" in on.shown


async def test_the_smallest_terminal_shows_prompt_approval_and_status(tmp_path: Path) -> None:
    async with screen(tmp_path, size=(38, 9)) as on:
        await on.ask("make")
        await on.until(lambda: "make" in on.shown)
        await on.until(lambda: "Enter" in on.shown)


async def test_a_key_is_typed_hidden_and_leaves_with_the_draft(tmp_path: Path) -> None:
    key = "-".join(("sk", "ant", "not", "a", "real", "key", "0123456789"))
    async with screen(tmp_path) as on:
        await on.type("/key\n")
        await on.until(lambda: "A key is looked for in this order" in on.shown)
        await on.type(key)
        assert key not in on.shown
        await on.press("enter")
        await on.until(lambda: not on.app.is_running)
        assert on.app.key == key
        assert key not in "".join(on.app.history.texts)
