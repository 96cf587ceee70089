"""What /context says the window holds: every part split until a user sees what costs, and all of it adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.commands.context_parts import BROUGHT, CALLED, PROMPT, SAID, SUMMARY, THOUGHT, YOURS
from tests.commands.typing import typed
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.commands.registry import CommandResult

PARTS = ("definitions", "system", "messages", "results")


def adds_up(shown: CommandResult, request: str = "request") -> dict[str, dict[str, int]]:
    """The parts of what was shown, once they are known to add up to the request's figures."""
    data: dict[str, Any] = shown.data
    assert {name: sum(data["parts"][name].values()) for name in PARTS} == {
        name: data[request][name] for name in PARTS
    }
    assert sum(data[request][name] for name in PARTS) == data[request]["used"]
    return data["parts"]


def row(shown: CommandResult, name: str) -> str:
    return next(line for line in shown.text.split("\n") if line.startswith(f"    {name} "))


async def test_the_window_is_split_by_what_it_holds_and_adds_up(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").write_text("Use tabs. " * 100)
    (project / "notes.txt").write_text("a line of text\n" * 200)
    script = turns(
        [
            {"type": "thinking", "thinking": "I have to read it first. " * 20},
            use("Read", file_path="notes.txt"),
        ],
        use("Grep", pattern="line"),
        "There is much in it. " * 10,
        "Nothing more.",
        "It is short. " * 300,
        "On.",
    )
    async with stage(tmp_path, script, new_prefixes=2) as session:
        before = await typed(session, "/context")
        assert before.text.startswith("Next request ")
        assert before.data["request"] is None
        parts = adds_up(before, "next")
        assert str(project / "AGENTS.md") in parts["system"]
        assert parts["messages"] == parts["results"] == {}
        await session.say("look at notes.txt " + "and tell me " * 30)
        shown = await typed(session, "/context")
        heading, cost, *_ = shown.text.split("\n")
        assert max(len(heading), len(cost)) < 80  # no phrase is broken in a terminal of the usual width
        assert cost == "Cost of the session: unknown (no prices set)"
        parts = adds_up(shown)
        assert list(parts["results"]) == ["Read", "Grep"]
        assert set(parts["messages"]) == {YOURS, BROUGHT, THOUGHT, CALLED}
        assert parts["messages"][THOUGHT] > parts["messages"][YOURS] > parts["messages"][CALLED]
        assert set(parts["system"]) == {str(project / "AGENTS.md"), PROMPT}
        assert "11 tools, run_code " in row(shown, "of mcode")
        assert row(shown, "AGENTS.md").split()[1] == str(parts["system"][str(project / "AGENTS.md")])
        await session.say("and then?")
        assert adds_up(await typed(session, "/context"))["messages"][SAID] > 0
        assert not (await typed(session, "/compact")).failed
        await session.say("go on")
        parts = adds_up(await typed(session, "/context"))
        assert parts["messages"][SUMMARY] > 0
        await session.say("this has no answer")
        unanswered = adds_up(await typed(session, "/context"))
        assert unanswered["messages"][YOURS] > parts["messages"][YOURS]
        identifier = session.agent.session.id
    async with stage(tmp_path, turns("x"), source="resume", reference=identifier) as resumed:
        again = await typed(resumed, "/context")
        assert adds_up(again, "next")["messages"][SUMMARY] > 0
        assert "none was sent since the session was opened" in again.text
