"""/tools, /context: what the request holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.tools import resident_summary
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
        assert rows["AskUserQuestion"]["state"] == "RESIDENT only"
        text = (await typed(session, "/tools")).text
        assert f"{sum(row['in_request'] for row in rows.values())} tools in every request" in text
        assert resident_summary(context_of(session)) in text.replace(
            "in every request: ", "resident ("
        ).replace(" tokens (estimate", " tokens) (estimate")


async def test_words_narrow_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        names = [row["name"] for row in (await typed(session, "/tools BASH core")).data]
        assert names[0] == "Bash"
        assert "Write" not in names
        assert "No tool matches" in (await typed(session, "/tools nosuchthing")).text


async def test_context_shows_the_ledger_of_the_last_request(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(use("Glob", pattern="*"), "Done.")) as session:
        empty = await typed(session, "/context")
        assert empty.data == {"request": None}
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
