"""The demo of the guide, played whole with its real server: deferral, search, both audits, the balance."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from mcode.call import Status
from mcode.commands.ledger_reading import ledger_of
from mcode.commands.ledger_tables import savings_text
from mcode.demo.office import over_budget, people, spent_on_travel
from mcode.demo.tables import TOOLS, Office
from mcode.events import Notice
from mcode.model.guide import guide_script
from mcode.wiring.demo import make_known, show_ledger, with_demo
from mcode.wiring.options import Options
from tests.children import no_process_left
from tests.stage import stage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.stage import Stage


async def play(
    directory: Path, *words: str, choice: str = "once", fail_every: int = 0
) -> tuple[list[str], Stage]:
    """Say these with the demo's server; whatever asks is answered by `choice`."""
    options = with_demo(Options(demo=True, demo_fail_every=fail_every))
    finished: list[str] = []
    with no_process_left():
        # The server is known from an earlier start, as `make_known` sees to it at the first.
        for known in (False, True):
            async with stage(directory, guide_script(), options=options, start=known) as here:
                make_known(here.bench)
                if not known:
                    continue
                here.answer(choice)
                show_ledger(here.agent)
                turns = [await asyncio.wait_for(here.agent.submit(each), 60) for each in words]
                finished = [turn.text for turn in turns]
                await asyncio.sleep(0)  # the ledger is told behind the turn
                flagged = [each for each in here.outcomes if each.call.tool.endswith("flag_for_review")]
                assert all(each.call.parent for each in flagged)
    return finished, here


async def test_the_demo_plays_in_one_turn_and_its_figures_are_those_of_the_run(tmp_path: Path) -> None:
    (text,), here = await play(tmp_path, "play the demo")
    right = [e["id"] for e in people() if e["department"] == "research" and e["id"] in over_budget()]
    assert right
    assert text.count(", ".join(f"`{each}`" for each in right)) >= 1
    assert "Both answers are right" in text
    assert "flagged" in text
    opening = here.client.requests[0]
    declared = {tool["name"] for tool in opening["tools"]}
    assert not any(name.startswith("mcp__office") for name in declared)
    said = str(here.client.requests[-1]["messages"])
    assert f"{len(TOOLS)} more, and none of them is in it" in said
    flagged = next(each for each in here.outcomes if each.call.tool == "mcp__office__flag_for_review")
    assert flagged.status is Status.OK
    assert flagged.call.arguments["employee_ids"] == right
    rows = [line for line in text.splitlines() if line.startswith("| by ")]
    assert [int(row.split("|")[2]) for row in rows] == [3, 1]
    direct, program = (int(row.split("|")[3].replace(",", "")) for row in rows)
    assert program < 0.15 * direct
    (told,) = (each.text for each in here.of(Notice) if "ledger" in each.text)
    ledger = ledger_of(here.agent)
    assert savings_text(ledger) in told
    assert ledger["savings"]["deferral"]["net"] > 0
    assert ledger["savings"]["round_trips_saved"] > 0


async def test_a_no_to_the_call_that_changes_something_ends_nothing(tmp_path: Path) -> None:
    (text,), here = await play(tmp_path, "audit by program", choice="deny")
    assert "nothing was changed" in text
    assert "By one program" in text
    assert not [each for each in here.of(Notice) if "ledger" in each.text]
    assert len(here.client.requests) <= 5


async def test_where_the_service_fails_calls_are_made_again_and_the_program_asks_again_itself(
    tmp_path: Path,
) -> None:
    (text,), here = await play(tmp_path, "play the demo", fail_every=5)
    said = str(here.client.requests[-1]["messages"])
    assert "failures are switched on" in said
    assert "a program that does so by itself" in said
    assert "Both answers are right" in text
    rows = [line for line in text.splitlines() if line.startswith("| by ")]
    assert [int(row.split("|")[2]) for row in rows][
        1
    ] == 2  # the first program failed, the second asked again


async def test_a_service_that_always_fails_ends_the_demo_with_what_it_said(tmp_path: Path) -> None:
    (text,), here = await play(tmp_path, "play the demo", fail_every=1)
    assert "The demo ends here." in text
    assert "the service did not answer" in text
    assert len(here.client.requests) <= 8


async def test_without_the_office_the_guide_says_how_to_get_it(tmp_path: Path) -> None:
    async with stage(tmp_path, guide_script()) as here:
        finished = await here.say("play the demo")
    assert "mcode --demo" in finished.text


def test_the_office_can_be_made_slow_and_made_to_fail() -> None:
    request: dict[str, Any] = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "get_travel_budget"},
    }
    lines = "".join(json.dumps({**request, "id": number}) + "\n" for number in (1, 2))
    ran = subprocess.run(
        [sys.executable, "-m", "mcode.demo", "--fail-every", "2"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = (json.loads(line)["result"] for line in ran.stdout.splitlines())
    assert json.loads(first["content"][0]["text"]) == {"travel": 3600}
    assert second["isError"]
    assert "failures are switched on" in second["content"][0]["text"]


def test_the_tables_answer_and_the_books_have_a_case_for_a_budget_of_ones_own() -> None:
    office = Office()
    assert len(office.call("list_tickets", {"state": "open", "limit": 5, "fields": ["id"]})) == 5
    assert office.call("count_deploys", {"by": "state"}) == {"live": 52, "failed": 8}
    assert office.call("update_alert", {"id": "alert-3", "state": "done"})["state"] == "done"
    assert [row["id"] for row in office.call("search_deploys", {"query": "deploy-60"})] == ["deploy-60"]
    assert all(office.call(f"list_{many}", {}) for many in ("suppliers", "rooms", "comments"))
    standard = [each["id"] for each in people() if spent_on_travel(each["id"]) > 3600]
    assert set(over_budget()) < set(standard)
