"""A real audit over an MCP server: who exceeded the travel budget? Once by direct calls, once by one program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcode.call import Status
from mcode.model.script.values import Reply, Script, reply, script_of, use
from mcode.model.usage import count_request
from tests.children import no_process_left
from tests.run_code.office_server import PEOPLE, STANDARD, custom_budget, exceeded, people, travel
from tests.stage import stage
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.model.script.view import RequestView
    from tests.stage import Stage

SERVER = Path(__file__).with_name("office_server.py")
QUESTION = "Who exceeded the travel budget? Look custom budgets up only for those over the standard one."

PROGRAM = """\
// who exceeded the travel budget
const people = await must(tools.mcp__office__list_employees({}));
const standard = (await must(tools.mcp__office__get_budget({}))).travel;
const over = [];
await Promise.all(people.map(async ({id}) => {
  const items = await must(tools.mcp__office__get_expenses({employee_id: id}));
  const spent = items.filter(i => i.category === "travel" && i.status === "approved")
    .reduce((sum, i) => sum + i.amount, 0);
  if (spent > standard) over.push({id, spent});
}));
const found = [];
for (const {id, spent} of over) {
  const own = (await must(tools.mcp__office__get_custom_budget({employee_id: id}))).travel;
  if (spent > (own ?? standard)) found.push(id);
}
console.log(`${people.length} people, ${over.length} over the standard budget`);
return found.sort();
"""


def spent_by(view: RequestView) -> dict[str, int]:
    """What the direct model works out from the results that it was sent."""
    return {
        result.arguments["employee_id"]: sum(
            item["amount"]
            for item in json.loads(result.text)
            if item["category"] == "travel" and item["status"] == "approved"
        )
        for result in view.all_results
        if result.tool == "mcp__office__get_expenses"
    }


def ask_for_expenses(view: RequestView) -> Reply:
    listed = json.loads(view.results[0].text)
    return reply(*(use("mcp__office__get_expenses", {"employee_id": each["id"]}) for each in listed))


def ask_for_budgets(view: RequestView) -> Reply:
    over = [person for person, amount in spent_by(view).items() if amount > STANDARD]
    return reply(*(use("mcp__office__get_custom_budget", {"employee_id": each}) for each in over))


def conclude(view: RequestView) -> Reply:
    spent = spent_by(view)
    own = {
        result.arguments["employee_id"]: json.loads(result.text)["travel"]
        for result in view.results
        if result.tool == "mcp__office__get_custom_budget"
    }
    return reply(json.dumps(sorted(each for each, limit in own.items() if spent[each] > (limit or STANDARD))))


def repeat_result(view: RequestView) -> Reply:
    return reply(view.results[0].text.split("\n\n")[1])


DIRECT = script_of(
    reply(use("mcp__office__list_employees"), use("mcp__office__get_budget")),
    ask_for_expenses,
    ask_for_budgets,
    conclude,
)
BY_PROGRAM = script_of(use("run_code", {"code": PROGRAM}, "audit"), repeat_result)


async def run(directory: Path, script: Script) -> tuple[str, Stage, int]:
    """Play one conversation; returns the answer, the closed stage, and the tokens that all its requests sent."""
    state = directory / "home" / ".mcode"
    state.mkdir(parents=True)
    entry = {"command": sys.executable, "args": [str(SERVER)], "alwaysLoad": True}
    (state / "mcp.json").write_text(json.dumps({"mcpServers": {"office": entry}}))
    # The direct way fills a usual window, and would be compacted before it is done.
    settings = {"permissions": {"allow": ["mcp__office"]}, "mcode": {"window": 1_000_000}}
    with no_process_left():
        async with stage(directory, script, settings=settings) as here:
            pool = here.bench.pool
            pool.start()
            await until(lambda: pool.statuses()[0].tools)
            finished = await here.say(QUESTION)
            assert finished.reason == "end", finished.text
    return finished.text, here, sum(count_request(body).total for body in here.client.requests)


async def test_the_audit_by_one_program_gives_the_same_right_answer_for_a_fraction_and_its_file_shows_all(
    tmp_path: Path,
) -> None:
    over = [each["id"] for each in people() if travel(each["id"]) > STANDARD]
    assert 2 <= len(exceeded()) < len(over) < PEOPLE  # custom budgets do matter
    answer, direct, direct_tokens = await run(tmp_path / "direct", DIRECT)
    assert json.loads(answer) == exceeded()
    answer, program, program_tokens = await run(tmp_path / "program", BY_PROGRAM)
    assert json.loads(answer) == exceeded()
    assert len(direct.client.requests) == 4
    assert len(program.client.requests) <= 3
    assert program_tokens <= 0.15 * direct_tokens, (program_tokens, direct_tokens)
    looked_up = {
        each.call.arguments["employee_id"]
        for each in program.outcomes
        if each.call.tool == "mcp__office__get_custom_budget"
    }
    assert looked_up == set(over)
    assert any(custom_budget(each) for each in over)
    shows_every_call_the_counts_and_what_stayed_out(program)


def shows_every_call_the_counts_and_what_stayed_out(here: Stage) -> None:
    """Check the audit file of the program's run."""
    path = here.agent.session.directory / "program-audit.jsonl"
    records: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    assert [records[0]["type"], records[-1]["type"]] == ["start", "end"]
    assert records[0]["code"] == PROGRAM
    calls = records[1:-1]
    over = [each["id"] for each in people() if travel(each["id"]) > STANDARD]
    assert sorted(call["index"] for call in calls) == list(range(1, 2 + PEOPLE + len(over) + 1))
    assert {call["state"] for call in calls} == {"ok"}
    expenses = [call for call in calls if call["tool"] == "mcp__office__get_expenses"]
    assert all(call["result_bytes"] > 20_000 and call["line"] == 6 for call in expenses)
    end = records[-1]
    assert end["calls"] == {"ok": len(calls)}
    assert end["bytes_in"] == sum(call["result_bytes"] for call in calls)
    assert end["bytes_in"] > 500_000
    assert end["chars_out"] < 500
    outcome = next(each for each in here.outcomes if each.call.id == "audit")
    assert outcome.status is Status.OK
    assert f"{PEOPLE} people, {len(over)} over the standard budget" in outcome.text
