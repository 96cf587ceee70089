"""/mcp: servers, their states and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.catalog.stand_ins import Servers, jira, join
from tests.commands.typing import typed
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Steered(Servers):
    """Servers that can be steered."""

    log: Path | None = None

    async def reconnect(self, name: str) -> str:
        self.put(name, "connected", error="")
        return f"{name} is connected again."

    async def stop(self, name: str) -> str:
        self.put(name, "cached")
        return f"{name} is stopped."

    async def sign_in(self, name: str) -> str:
        return f"You are signed in at {name}."

    def log_path(self, name: str) -> Path | None:
        del name
        return self.log


async def test_without_servers_it_says_how_to_get_one(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        assert "mcode mcp add" in (await typed(session, "/mcp")).text


async def test_servers_are_listed_with_states_and_costs(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        servers = Steered()
        join(session, jira(), servers, line="Issues and boards", transport="http")
        servers.put("down", "failed", error="exit 3: no such file")
        listed = await typed(session, "/mcp")
        by_name = {each["name"]: each for each in listed.data}
        assert by_name["jira"]["deferred"] == 63
        assert by_name["jira"]["tokens"] > 10_000
        assert by_name["jira"]["transport"] == "http"
        assert by_name["down"]["error"] == "exit 3: no such file"
        assert "exit 3" in listed.text
        servers.put("ours", "needs approval", error="new")
        assert "its entry is new; approve lets it run" in (await typed(session, "/mcp")).text
        one = await typed(session, "/mcp jira")
        assert "Issues and boards" in one.text
        assert "taken out" in one.text
        servers.put("jira", taken_out="answers to nothing that waited: 3")
        assert "answers to nothing that waited: 3" in (await typed(session, "/mcp jira")).text
        assert "mcp__jira__create_issue" in one.data["tools"]
        assert (await typed(session, "/mcp nosuch")).failed


async def test_servers_are_steered(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        servers = Steered(log=tmp_path / "down.log")
        join(session, jira(), servers)
        servers.put("down", "failed", error="exit 3")
        assert "no log" in (await typed(session, "/mcp log down")).text
        (tmp_path / "down.log").write_text("one\ntwo\n")
        assert (await typed(session, "/mcp log down")).data["lines"] == ["one", "two"]
        assert (await typed(session, "/mcp reconnect down")).data["state"] == "connected"
        assert (await typed(session, "/mcp stop down")).data["state"] == "cached"
        assert (await typed(session, "/mcp start down")).data["state"] == "connected"
        assert "signed in" in (await typed(session, "/mcp sign-in down")).text


async def test_servers_that_cannot_be_steered_are_left_alone(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("x")) as session:
        join(session, jira())
        assert (await typed(session, "/mcp reconnect jira")).failed
