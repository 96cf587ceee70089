"""How a found tool becomes callable at an endpoint: by reference, or at the end of the tools; and what refusals do."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from mcode.agent.reach import unreachable
from mcode.call import Status
from mcode.model.anthropic import AnthropicClient, preload
from mcode.model.profiles import choose_profile
from mcode.model.script import parse_script
from mcode.model.usage import count_request
from tests.catalog.stand_ins import Servers, ServerTool, jira, join, names
from tests.commands.typing import typed
from tests.prefixes import check_prefixes
from tests.stage import Stage, stage, turns, use
from tools.local_session import local_workbench
from tools.messages_server import Capabilities, MessagesServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from mcode.model.scripted import ScriptedClient

CREATE = "mcp__jira__create_issue"
BOARDS = "mcp__jira__list_boards"
ALLOWED = {"permissions": {"allow": ["mcp__jira", "mcp__late"]}}


def loading(way: str) -> dict[str, Any]:
    return {**ALLOWED, "mcode": {"toolSearch": {"loading": way}}}


def search(identifier: str, *queries: str) -> dict[str, Any]:
    return use("tool_search", identifier, queries=list(queries))


STORY = turns(
    search("s1", "create an issue"),
    use(CREATE, "c1", project="A", title="b"),
    search("s2", "boards"),
    use(BOARDS, "c2", id="7"),
    "Done.",
)


async def test_appended_definitions_stand_at_the_end_and_never_move(tmp_path: Path) -> None:
    async with stage(tmp_path, STORY, settings=loading("append")) as here:
        tools = jira()
        join(here, tools)
        await here.say("go")
        sent = [names(body) for body in here.client.requests]
        assert "call_tool" not in sent[0]
        assert sent[1] == [*sent[0], CREATE] == sent[2]
        assert sent[3] == [*sent[1], BOARDS] == sent[4]
        result = here.client.requests[1]["messages"][-1]["content"][0]["content"]
        assert "input_schema" not in result
        assert f"A call: {CREATE} with" in result
        assert tools[0].calls
        assert tools[2].calls


@asynccontextmanager
async def at_endpoint(
    directory: Path, capabilities: Capabilities, script: dict[str, Any], **opening: Any
) -> AsyncGenerator[tuple[Stage, MessagesServer]]:
    """A session with a loopback endpoint that counts as one where references may be tried."""
    preload()
    async with MessagesServer(parse_script(script, "test"), capabilities=capabilities) as server:
        client = AnthropicClient(choose_profile(server.url), "none")
        bench = local_workbench(directory, client, settings=ALLOWED)
        bench.endpoint = replace(bench.endpoint, base_url="https://example.org", reference_loading=True)
        source = opening.pop("source", "startup")
        agent = await bench.open_agent(source, opening.pop("reference", None))
        here = Stage(agent, bench, cast("ScriptedClient", client), bench.start)
        agent.events.subscribe(here.events.append)
        try:
            await agent.start(source)
            yield here, server
        finally:
            await agent.close("other")
        deferred = [tool.name for tool in agent.builder.deferred()]
        assert not unreachable(server.bodies[-1], deferred, agent.builder.shelf.way)


async def test_references_are_expanded_where_a_result_names_them(tmp_path: Path) -> None:
    async with at_endpoint(tmp_path, Capabilities(), STORY) as (here, server):
        tools = jira()
        join(here, tools)
        assert (await here.say("go")).text == "Done."
        bodies = server.bodies
        check_prefixes(bodies)
        assert "call_tool" not in names(bodies[0])
        deferred = [tool for tool in bodies[1]["tools"] if tool.get("defer_loading")]
        assert [tool["name"] for tool in deferred] == [CREATE]
        content = bodies[1]["messages"][-1]["content"][0]["content"]
        assert content[-1] == {"type": "tool_reference", "tool_name": CREATE}
        assert "input_schema" not in content[0]["text"]
        assert tools[0].calls
        assert tools[2].calls
        # The journal holds the words of no provider.
        assert "tool_reference" not in here.agent.session.journal.path.read_text("utf-8")
        assert count_request(bodies[1]).definitions > count_request(bodies[0]).definitions


@pytest.mark.parametrize(
    "capabilities",
    [Capabilities(defer_loading="400"), Capabilities(tool_reference="400")],
    ids=["defer_loading", "tool_reference"],
)
async def test_a_refusal_of_references_is_mended_at_once_and_remembered(
    tmp_path: Path, capabilities: Capabilities
) -> None:
    meant = {"name": CREATE, "arguments": {"project": "A", "title": "b"}}
    through = {"type": "tool_use", "id": "c1", "name": "call_tool", "input": meant}
    script = turns(search("s1", "create an issue"), through, "Done.")
    async with at_endpoint(tmp_path, capabilities, script) as (here, server):
        tools = jira()
        join(here, tools)
        assert (await here.say("go")).text == "Done."
        assert tools[0].calls
        assert here.result().status is Status.OK
        bodies = server.bodies
        assert "tool_reference" in str(bodies[1])
        assert not any("tool_reference" in str(body) or "defer_loading" in str(body) for body in bodies[2:])
        assert "call_tool" in names(bodies[2])
        assert "input_schema" in str(bodies[2]["messages"][-1])
        check_prefixes(bodies[2:])
        reasons = [row["body"]["reason"] for row in here.journal if row["type"] == "prefix"]
        assert reasons == ["start", "fallback"]
        session = here.agent.session.id
    again = turns(search("s9", "boards"), "So.")
    async with at_endpoint(tmp_path, capabilities, again, source="resume", reference=session) as (
        here,
        server,
    ):
        join(here, jira())
        await here.say("more")
        check_prefixes([bodies[-1], *server.bodies])
    async with at_endpoint(tmp_path, capabilities, turns("Hello.")) as (here, server):
        join(here, jira())
        await here.say("new")
        assert "call_tool" in names(server.bodies[0]), "the next session does not even try"


@pytest.mark.parametrize("way", ["reference", "call", "append"])
async def test_prefixes_hold_through_searches_late_servers_and_resume(tmp_path: Path, way: str) -> None:
    async with stage(tmp_path, STORY_OF_CHANGES, settings=loading(way)) as here:
        servers = Servers()
        servers.put("late", "connecting")
        join(here, jira(), servers)
        await here.say("one")
        join(here, [ServerTool("late", "ping", "Ping it.")], servers)
        await here.say("two")
        join(here, jira(59), servers)
        await here.say("three")
        before, session = here.client.requests, here.agent.session.id
    script = turns(search("s4", "boards"), "Again.")
    async with stage(tmp_path, script, settings=loading(way), source="resume", reference=session) as here:
        servers = join(here, jira(59))
        join(here, [ServerTool("late", "ping", "Ping it.")], servers)
        await here.say("four")
        check_prefixes([*before, *here.client.requests])
        loaded = list(here.agent.builder.shelf.seen.loaded)
        assert loaded == [CREATE, "mcp__late__ping", BOARDS]


STORY_OF_CHANGES = turns(
    search("s1", "create an issue"),
    "One.",
    search("s2", "ping"),
    "Two.",
    "Three.",
)


@pytest.mark.parametrize("way", ["reference", "call", "append"])
async def test_what_was_loaded_survives_a_compaction_and_the_resume_after_it(
    tmp_path: Path, way: Any
) -> None:
    meant = {"name": CREATE, "arguments": {"project": "A", "title": "b"}}
    again = use("call_tool", "c1", **meant) if way == "call" else use(CREATE, "c1", project="A", title="b")
    script = turns(search("s1", "create an issue"), "One.", "A summary.", again, "Two.")
    async with stage(tmp_path, script, settings=loading(way), new_prefixes=2) as here:
        tools = jira()
        join(here, tools)
        await here.say("one")
        await typed(here, "/compact")
        here.answer("once")
        assert (await here.say("two")).text == "Two."
        body, session = here.client.requests[-1], here.agent.session.id
        assert tools[0].calls, "it is called without another search"
        assert "input_schema" in str(body["messages"][0]) if way == "call" else CREATE in names(body)
        assert not [tool for tool in body["tools"] if tool.get("defer_loading")]
        assert not unreachable(body, [tool.name for tool in here.agent.builder.deferred()], way)
    script = turns(search("s2", "list boards"), "Three.")
    async with stage(tmp_path, script, settings=loading(way), source="resume", reference=session) as here:
        join(here, jira())
        await here.say("three")
        check_prefixes([body, *here.client.requests])
        assert next(iter(here.agent.builder.shelf.seen.loaded)) == CREATE


async def test_a_changed_definition_stays_as_it_was_shown(tmp_path: Path) -> None:
    script = turns(search("s1", "create an issue"), "One.", "Two.")
    async with stage(tmp_path, script, settings=loading("append")) as here:
        servers = join(here, jira())
        await here.say("one")
        changed = jira()
        changed[0].description = "Now it does something else."
        join(here, changed, servers)
        await here.say("two")
        shown = next(tool for tool in here.client.requests[-1]["tools"] if tool["name"] == CREATE)
        assert shown["description"] == "Create an issue in a project."


async def test_the_setting_may_name_an_endpoint(tmp_path: Path) -> None:
    settings = {"mcode": {"toolSearch": {"loading": {"scripted model": "append", "*": "call"}}}}
    async with stage(tmp_path, turns("Hello."), settings=settings) as here:
        assert here.agent.builder.shelf.way == "append"
