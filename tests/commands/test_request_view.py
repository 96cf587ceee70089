"""/context view: requests of earlier turns, made again to the byte, and what each differs in from the one before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from mcode.agent.past_requests import past_request, turns_with_requests
from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.commands.registry import CommandResult
    from tests.stage import Stage


async def command(here: Stage, line: str) -> CommandResult:
    registry = standard_registry()
    return await registry.run(line, CommandContext(here.agent, here.bench.surroundings(), registry))


def made_again(here: Stage) -> list[dict[str, Any]]:
    """All requests of the session, from its records."""
    records, builder = tuple(here.agent.session.journal.records), here.agent.builder
    found = [
        past_request(records, builder.made.anew(), turn, number, builder.max_tokens)
        for turn, count in turns_with_requests(records).items()
        for number in range(1, count + 1)
    ]
    return [each.body for each in found if each is not None]


@pytest.mark.parametrize("loading", ["call", "append", "reference"])
async def test_every_request_can_be_made_again_to_the_byte(loading: str, tmp_path: Path) -> None:
    settings = {"mcode": {"toolSearch": {"loading": loading}}}
    script = turns(
        [use("Glob", "g1", pattern="*"), use("tool_search", "s1", queries=["select:WebFetch,NotebookEdit"])],
        "Two tools more.",
        use("run_code", "p1", code="return (await tools.Glob({pattern: '*'})).ok"),
        "A program.",
        "Another model.",
        "Gone again.",
        "And another way.",
    )
    async with stage(tmp_path, script, settings=settings, new_prefixes=2) as here:
        await here.say("look")
        await here.say("go on")
        here.agent.set_model("scripted-2")
        await here.say("as somebody else")
        await here.say("this is taken back")
        await command(here, "/rewind 4 conversation")
        await here.say("this is not")
        sent, identifier = list(here.client.requests), here.agent.session.id
        assert made_again(here) == sent
    resumed = stage(tmp_path, turns("Here again."), settings=settings, source="resume", reference=identifier)
    async with resumed as here:
        await here.say("on")
        assert made_again(here) == [*sent, *here.client.requests]


async def test_an_answer_that_was_given_more_room_is_made_again_with_that_room(tmp_path: Path) -> None:
    cut: dict[str, Any] = {"blocks": ["The beginning"], "stop_reason": "max_tokens"}
    async with stage(tmp_path, turns(cut, "and the end.", "Again.")) as here:
        await here.say("tell me all")
        await here.say("once more")
        first, more, later = [body["max_tokens"] for body in here.client.requests]
        assert more == 2 * first
        assert later == first
        assert made_again(here) == here.client.requests


async def test_the_request_of_a_turn_is_shown_with_the_prefix_that_came_from_the_cache(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, turns(use("Glob", "g1", pattern="*"), "One.", "Two.")) as here:
        await here.say("first")
        await here.say("second")
        shown = await command(here, "/context view 1")
        data = cast("dict[str, Any]", shown.data)
        assert (data["turn"], data["number"], data["of"]) == (1, 2, 2)
        assert data["request"] == here.client.requests[1]
        assert data["cache_read"] > 0
        assert "turn 1, request 2 of 2" in shown.text
        assert f"from the cache: {data['cache_read']:,} tokens" in shown.text
        before, _, after = shown.text.partition("---- up to here the request is that before it")
        assert '"first"' in before
        assert "[new]" not in before
        assert after.count("[new]") == 2
        first = cast("dict[str, Any]", (await command(here, "/context view 1 1")).data)
        assert first["request"] == here.client.requests[0]
        assert first["difference"] is None
        missing = await command(here, "/context view 1 3")
        assert missing.failed
        assert "There is no request 3 of turn 1" in missing.text
        assert "1 (2), 2 (1)" in missing.text
        assert (await command(here, "/context view one")).failed
        assert json.loads((await command(here, "/context view 1 2 --json")).text) == data
        last = json.loads((await command(here, "/context view --json")).text)
        assert last["request"] == here.client.requests[-1]
        assert last["difference"]["messages_new"] == 2


async def test_tools_that_came_in_and_a_changed_model_are_named(tmp_path: Path) -> None:
    settings = {"mcode": {"toolSearch": {"loading": "append"}}}
    script = turns(use("tool_search", "s1", queries=["select:WebFetch"]), "One.", "Two.")
    async with stage(tmp_path, script, settings=settings, new_prefixes=1) as here:
        await here.say("first")
        here.agent.set_model("scripted-2")
        await here.say("second")
        loaded = await command(here, "/context view 1")
        assert "tools added: WebFetch" in loaded.text
        changed = await command(here, "/context view")
        assert "changed: model" in changed.text
        assert "---- up to here" not in changed.text


async def test_the_requests_of_a_sub_agent_are_made_again_to_the_byte_and_shown(tmp_path: Path) -> None:
    begun = use("Agent", "toolu_a", prompt="find the needle", description="find the needle")
    glob = use("Glob", "toolu_g", pattern="*")
    script = turns(
        begun, glob, "There is none.", "No needle.", begun | {"id": "toolu_b"}, "Still none.", "No."
    )
    async with stage(tmp_path, script, new_prefixes=4) as here:
        none = await command(here, "/context view agent")
        assert none.text == "No sub-agent has sent a request in this session."
        await here.say("where is it")
        await here.say("look again")
        sent = here.client.requests
        listed = await command(here, "/context view agent")
        assert [line.split() for line in listed.text.splitlines()[:2]] == [
            ["1", "find", "the", "needle", "2", "requests"],
            ["2", "find", "the", "needle", "1", "request"],
        ]
        last = await command(here, "/context view agent 1")
        data = cast("dict[str, Any]", last.data)
        assert data["request"] == sent[2]
        assert (data["agent"], data["number"], data["of"]) == ("toolu_a", 2, 2)
        assert data["difference"]["messages_new"] == 2
        assert "sub-agent 1, request 2 of 2" in last.text
        first = cast("dict[str, Any]", (await command(here, "/context view agent 1 1")).data)
        assert first["request"] == sent[1]
        second = cast("dict[str, Any]", (await command(here, "/context view agent 2 1")).data)
        assert second["request"] == sent[5]
        assert (await command(here, "/context view agent 3")).failed
        assert (await command(here, "/context view agent 2 2")).failed
        assert (await command(here, "/context view agent x")).failed
        own = cast("dict[str, Any]", (await command(here, "/context view 1")).data)
        assert own["request"] == sent[3]
