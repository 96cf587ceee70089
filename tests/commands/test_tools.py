"""/tools, /context: what the request holds."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from mcode.commands.tables import tokens
from mcode.commands.tool_rows import measure_tools
from mcode.commands.tools import resident_summary
from tests.catalog.stand_ins import ServerTool, jira, join
from tests.commands.typing import context_of, typed
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path


async def test_tools_lists_exactly_what_the_request_contained(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("Hello.")) as session:
        before = await typed(session, "/tools")
        await session.say("hi")
        after = await typed(session, "/tools")
        sent = {tool["name"] for tool in session.client.requests[0]["tools"]}
        assert {row["name"] for row in after.data if row["in_request"]} == sent
        assert before.data == after.data
        definitions = session.agent.ledger.definitions if session.agent.ledger else 0
        assert (
            abs(sum(row["tokens"] for row in after.data if row["in_request"]) - definitions)
            <= 0.3 * definitions
        )


async def test_states_permissions_and_costs(tmp_path: Path) -> None:
    rules = {
        "permissions": {"deny": ["Grep"], "allow": ["Bash(git diff *)", "Bash(pytest *)"], "ask": ["Read"]}
    }
    async with stage(tmp_path, turns("x"), settings=rules) as session:
        rows = {row["name"]: row for row in (await typed(session, "/tools")).data}
        assert rows["Grep"]["state"] == "BLOCKED"
        assert rows["Grep"]["permission"] == "deny (user)"
        assert not rows["Grep"]["in_request"]
        assert rows["Bash"]["permission"] == "ask, 2 rules"
        assert rows["Read"]["permission"] == "ask"
        # Neither asks anything itself: what it calls is judged.
        assert (rows["run_code"]["permission"], rows["call_tool"]["permission"]) == ("allow", "allow")
        assert rows["AskUserQuestion"]["state"] == "RESIDENT only"
        text = (await typed(session, "/tools")).text
        assert "RESIDENT only: the model alone may call it, programs may not" in text
        assert f"{sum(row['in_request'] for row in rows.values())} tools in every request" in text
        resident = [row["tokens"] for row in rows.values() if row["in_request"]]
        assert f"{len(resident)} tools in every request: {tokens(sum(resident))} tokens" in text
        deferred = sum(row["state"] == "DEFERRED" for row in rows.values())
        summary = resident_summary(context_of(session))
        assert summary.startswith(
            f"{len(resident)} tools in every request: {tokens(sum(resident))} tokens, 1% of"
        )
        assert summary.endswith(f"; {deferred} deferred")


async def test_the_permission_of_a_tool_names_the_rules_that_speak_of_it(tmp_path: Path) -> None:
    rules = {"permissions": {"allow": ["Bash(git diff *)"], "ask": ["Bash(git push *)", "Read"]}}
    async with stage(tmp_path, turns("x"), settings=rules) as session:
        bash = await typed(session, "/tools permission Bash")
        assert bash.data["permission"] == "ask, 2 rules"
        assert [(row["behavior"], row["rule"]) for row in bash.data["rules"]] == [
            ("ask", "Bash(git push *)"),
            ("allow", "Bash(git diff *)"),
        ]
        assert all(row["path"].endswith("settings.json") and row["line"] for row in bash.data["rules"])
        assert "Read" not in bash.text.replace("Read(", "")
        assert "No rule speaks of it" in (await typed(session, "/tools permission Write")).text
        assert (await typed(session, "/tools permission nosuch")).failed


async def test_words_narrow_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        names = [row["name"] for row in (await typed(session, "/tools BASH core")).data]
        assert names[0] == "Bash"
        assert "Write" not in names
        assert "No tool matches" in (await typed(session, "/tools nosuchthing")).text


async def test_context_shows_the_ledger_of_the_last_request(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Glob", pattern="*"), "Done.")) as session:
        empty = await typed(session, "/context")
        assert empty.data["request"] is None
        await session.say("look")
        ledger = session.agent.ledger
        assert ledger is not None
        request = (await typed(session, "/context")).data["request"]
        parts = ("definitions", "system", "messages", "results")
        assert [request[part] for part in parts] == [getattr(ledger, part) for part in parts]
        assert request["input_tokens"] == ledger.input_tokens == sum(request[part] for part in parts)
        text = (await typed(session, "/context")).text
        assert "definitions" in text
        assert "reported by the provider" in text


async def test_context_names_what_the_parts_are_made_of_and_the_largest_results(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "long.txt").write_text("A line of words.\n" * 900)
    script = turns(use("Read", file_path="long.txt"), "One.", [use("Glob", pattern="*")], "Two. " * 100)
    async with stage(tmp_path, script, settings={"mcode": {"window": 20_000}}) as session:
        for said in ("read", "look"):
            await session.say(said)
        answer = await typed(session, "/context")
        (largest,) = answer.data["largest_results"]
        assert (largest["tool"], largest["about"], largest["turn"]) == ("Read", "long.txt", 1)
        assert largest["tokens"] > 3_000
        assert re.search(r"  results +[\d.]+k .*\n    Read +[\d.]+k\n    Glob +\d+\n", answer.text)
        assert re.search(r"  definitions .*\n    of mcode .* tools, run_code \d+ most\n", answer.text)
        (line,) = (each for each in answer.text.splitlines() if each.startswith("  Read long.txt"))
        assert line.endswith("yes" if largest["old"] else "no, it is recent or needed")


async def test_each_state_has_its_tools(tmp_path: Path) -> None:
    script = turns(use("tool_search", queries=["create an issue"]), "Found.")
    settings = {
        "permissions": {"deny": ["mcp__jira__delete_issue"]},
        "mcode": {"placement": {"Glob": "program-only"}},
    }
    async with stage(tmp_path, script, settings=settings) as session:
        servers = join(session, jira())
        join(session, [ServerTool("down", "ping", "Ping it.")], servers)
        await session.say("find it")
        servers.put("down", "failed", error="exit 3")
        rows = {row["name"]: row for row in (await typed(session, "/tools")).data}
        states = {name: row["state"] for name, row in rows.items()}
        assert states["mcp__jira__create_issue"] == "LOADED"
        assert rows["mcp__jira__create_issue"]["loaded"] == 'turn 1, "create an issue"'
        assert states["mcp__jira__list_boards"] == "DEFERRED"
        assert states["mcp__jira__delete_issue"] == "BLOCKED"
        assert states["mcp__down__ping"] == "MISSING"
        assert states["Glob"] == "PROGRAM"
        assert states["Bash"] == "RESIDENT"
        assert states["tool_search"] == "RESIDENT only"
        assert (rows["tool_search"]["calls"], rows["tool_search"]["last_turn"]) == (1, 1)
        text = (await typed(session, "/tools")).text
        assert "more deferred" in text
        assert "the largest go first" in text


async def test_search_shows_what_the_model_would_find_and_loads_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        join(session, jira())
        found = await typed(session, "/tools search create issue")
        assert found.data["hits"][0]["name"] == "mcp__jira__create_issue"
        assert found.data["hits"][0]["would_load"]
        assert "nothing was loaded" in found.text
        assert re.match(r" +tool +match +tokens +by the model", found.text.splitlines()[1])
        assert "would load it" in found.text
        loose = (await typed(session, "/tools search make a ticket for a bug")).data["hits"]
        assert all(hit["score"] >= 0.15 * loose[0]["score"] for hit in loose), "as the model is shown them"
        shares = [hit["share"] for hit in loose]
        assert shares == sorted(shares, reverse=True)
        assert (shares[0], 1 > shares[-1] >= 0.15) == (1.0, True), "one kind, however the score came about"
        assert not session.agent.builder.shelf.seen.loaded
        assert (await typed(session, "/tools search /(((/")).failed


async def test_why_gives_the_decision_with_its_figures(tmp_path: Path) -> None:
    settings = {"mcode": {"placement": {"mcp__jira__list_boards": "resident"}}}
    async with stage(tmp_path, turns("x"), settings=settings) as session:
        join(session, jira())
        assert "largest go first" in (await typed(session, "/tools why create_issue")).data["because"]
        pinned = (await typed(session, "/tools why mcp__jira__list_boards")).data
        assert pinned["because"] == "`mcode.placement` says resident for mcp__jira__list_boards"
        assert "10,000 tokens" in pinned["limit"]
        assert (await typed(session, "/tools why nosuch")).failed


async def test_pins_are_written_and_count_from_the_next_session(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        join(session, jira())
        assert "next session" in (await typed(session, "/tools pin create_issue")).text
        assert (await typed(session, "/tools hide jira")).data == {"name": "jira", "placement": "hidden"}
        assert (await typed(session, "/tools pin create_issue nowhere")).failed
        before = (await typed(session, "/tools why create_issue")).data["row"]["state"]
        assert before == "DEFERRED"
    async with stage(tmp_path, turns("Hello.")) as session:
        join(session, jira())
        await session.say("hi")
        sent = [tool["name"] for tool in session.client.requests[0]["tools"]]
        assert [name for name in sent if name.startswith("mcp__")] == ["mcp__jira__create_issue"]
        await typed(session, "/tools pin create_issue auto")
        assert "create_issue" not in session.bench.places.settings_file.read_text("utf-8")


async def test_load_shows_a_tool_to_the_model_with_the_next_request(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("One.", "Two.")) as session:
        join(session, jira())
        await session.say("one")
        assert not (await typed(session, "/tools load create_issue")).failed
        await session.say("two")
        said = session.client.requests[1]["messages"][-1]["content"][-1]["text"]
        assert said.startswith("<loaded>")
        assert '"name":"mcp__jira__create_issue"' in said
        assert session.agent.builder.shelf.seen.loaded["mcp__jira__create_issue"].how == "user"
        assert "already" in (await typed(session, "/tools load create_issue")).text


async def test_the_costs_of_many_tools_are_counted_a_few_at_a_time_and_others_have_their_turn(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, turns("x")) as session:
        join(session, [ServerTool("many", f"tool_{number}", f"Does {number}.") for number in range(400)])
        measured = asyncio.create_task(measure_tools(context_of(session)))
        turns_of_others = 0
        while not measured.done():
            turns_of_others += 1
            await asyncio.sleep(0)
        assert turns_of_others > 400 // 50
