"""Resources, prompts and questions of servers."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from mcode.agent.mentions import mentioned_resources
from mcode.call import FailureKind
from mcode.errors import UsageError
from mcode.events import QuestionAsked
from mcode.mcp import limits
from mcode.ui.completion import Completer
from mcode.ui.file_names import FileNames
from tests.commands.typing import context_of
from tests.mcp.live import HOSTILE, hostile, live
from tests.stage import stage, turns, use
from tests.waiting import let_pass, until

if TYPE_CHECKING:
    from pathlib import Path


def _configure(root: Path, fault: str, *arguments: str, **more: Any) -> None:
    state = root / "home" / ".mcode"
    state.mkdir(parents=True, exist_ok=True)
    entry = {"command": sys.executable, "args": [str(HOSTILE), fault, *arguments], **more}
    (state / "mcp.json").write_text(json.dumps({"mcpServers": {"h": entry}}))


async def test_resources_are_listed_and_read(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("extras")) as servers:
        await servers.connected()
        extras = servers.servers.extras
        await until(extras.resources)
        (memo,) = extras.resources()
        assert (memo.mention, memo.title) == ("@h:memo://one", "The first memo")
        text, images = await extras.read("h", "memo://one", servers.services.spill_path)
        assert "buy milk" in text
        assert not images


async def test_a_prompt_is_a_command_with_its_arguments_in_order(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("extras")) as servers:
        await servers.connected()
        extras = servers.servers.extras
        await until(extras.prompts)
        (prompt,) = extras.prompts()
        assert (prompt.name, prompt.usage) == ("mcp__h__brief_me", "topic [tone]")
        assert await extras.prompt_text(prompt.name, ["bees"]) == "Brief me on bees, plainly."
        said = await extras.prompt_text(prompt.name, ["bees", "very", "gravely"])
        assert said == "Brief me on bees, very gravely."
        with pytest.raises(UsageError, match="needs topic"):
            await extras.prompt_text(prompt.name, [])
        assert await extras.prompt_text("mcp__h__other", []) is None


async def test_a_prompt_that_is_not_known_yet_is_waited_for_and_a_server_that_fails_is_named(
    tmp_path: Path,
) -> None:
    broken = replace(hostile(name="broken"), command=str(tmp_path / "nothing"), args=())
    async with live(tmp_path, hostile("extras"), broken) as servers:
        extras = servers.servers.extras
        assert await extras.prompt_text("mcp__h__brief_me", ["bees"]) is None
        await extras.learn_prompt("mcp__h__brief_me", 120)
        assert await extras.prompt_text("mcp__h__brief_me", ["bees"]) == "Brief me on bees, plainly."
        await extras.learn_prompt("mcp__elsewhere__brief_me", 120)  # no server of ours: at once
        with pytest.raises(UsageError, match="could not be had from the server broken"):
            await extras.learn_prompt("mcp__broken__brief_me", 120)


async def test_a_list_that_cannot_be_had_anew_stays_as_it_was(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    async with live(tmp_path, hostile("extras", str(broken))) as servers:
        await servers.connected()
        await until(servers.servers.extras.prompts)
        broken.touch()
        servers.server().connection._orders.put_nowait("prompts")
        await until(lambda: "no prompts now" in servers.server().log.path.read_text())
        await servers.call("echo", text="afterwards")
        assert servers.servers.extras.prompts()
        assert servers.servers.extras.resources()


async def test_resources_and_prompts_are_offered_while_they_are_typed(tmp_path: Path) -> None:
    _configure(tmp_path, "extras")
    async with stage(tmp_path, turns("hello")) as opened:
        (opened.project / "memo.txt").write_text("")
        await opened.bench.pool.settle(60)
        await until(opened.bench.pool.extras.resources)
        files = FileNames(lambda: opened.agent.workspace.roots)
        completer = Completer(lambda: context_of(opened), files)
        offered = await completer.matching("look at @h:me")
        assert [(each.text, each.replaces, each.note) for each in offered] == [
            ("@h:memo://one", 5, "The first memo")
        ]
        assert [each.text for each in await completer.matching("@memo")] == ["@memo.txt", "@h:memo://one"]
        (prompt,) = await completer.matching("/brief")
        assert (prompt.text, prompt.replaces) == ("/mcp__h__brief_me", 6)
        assert prompt.note == "topic [tone] A briefing."


def test_mentions_of_resources_are_found_among_other_words() -> None:
    text = 'Compare @h:memo://one, and (@db:postgres://x/y?a=1). Mail me@home.org @notes.txt @"a b"'
    assert mentioned_resources(text) == (("h", "memo://one"), ("db", "postgres://x/y?a=1"))


async def test_a_mentioned_resource_is_read_along_the_road_and_stands_before_the_message(
    tmp_path: Path,
) -> None:
    _configure(tmp_path, "extras")
    async with stage(tmp_path, turns("fine")) as opened:
        opened.answer("once")
        await opened.say("What is in @h:memo://one?")
        sent = str(opened.client.requests[0]["messages"])
        assert "The user mentions @h:memo://one" in sent
        assert "buy milk" in sent


async def test_the_tools_for_resources_say_why_one_cannot_be_read(tmp_path: Path) -> None:
    _configure(tmp_path, "extras")
    missing = {"server": "h", "uri": "memo://none"}
    unknown = {"server": "x", "uri": "memo://one"}
    script = turns(
        use("ReadMcpResourceTool", "a", **missing), use("ReadMcpResourceTool", "b", **unknown), "done"
    )
    async with stage(tmp_path, script) as opened:
        opened.answer("once")
        await opened.say("go")
        assert "no such memo" in opened.result(0).text
        assert "configured are: h" in opened.result(1).text
        assert opened.result(1).failure is FailureKind.TOOL_ERROR


async def test_a_form_becomes_questions_and_the_answers_are_typed(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("elicit")) as servers:
        await servers.connected()
        servers.services.answers = [(("main",), ("3",), ("Yes",), ("green",))]
        answered = json.loads((await servers.call("form")).text)
        assert answered == {
            "action": "accept",
            "content": {"branch": "main", "count": 3, "force": True, "colour": "green"},
        }
        asked = servers.services.asked
        assert asked[0].text.startswith("The MCP server h asks: Which branch?")
        assert [choice.label for choice in asked[2].choices] == ["Yes", "No", "(leave it out)"]
        servers.services.answers = [None]
        assert json.loads((await servers.call("form")).text) == {"action": "decline"}
        servers.services.answers = [(("main",), ("many",), (), ())]
        assert json.loads((await servers.call("form")).text) == {"action": "cancel"}


async def test_a_link_is_shown_and_never_opened(tmp_path: Path) -> None:
    async with live(tmp_path, hostile("elicit")) as servers:
        await servers.connected()
        servers.services.answers = [(("I have opened it and am done",),), (("Decline",),)]
        assert json.loads((await servers.call("link")).text)["action"] == "accept"
        assert "https://example.invalid/x" in servers.services.asked[0].text
        assert json.loads((await servers.call("link")).text)["action"] == "decline"


async def test_the_time_of_a_call_stands_still_while_the_user_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = 0.0
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + passed))
    _configure(tmp_path, "elicit", timeout=30_000)
    async with stage(tmp_path, turns(use("mcp__h__form"), "done")) as opened:
        await opened.bench.pool.settle(60)
        opened.answer("once")

        def receive(event: Any) -> None:
            nonlocal passed
            if isinstance(event, QuestionAsked):
                passed += 40.0
                let_pass(40.0)
                answers = (("main",), ("2",), (), ())
                asyncio.get_running_loop().call_later(
                    0.2, opened.agent.desk.answer, event.question_id, answers
                )

        opened.agent.events.subscribe(receive)
        await opened.say("go")
        assert passed
        assert json.loads(opened.result().text)["content"] == {"branch": "main", "count": 2}


async def test_m_04_with_nobody_to_ask_an_elicitation_is_declined(tmp_path: Path) -> None:
    _configure(tmp_path, "elicit")
    settings = {"permissions": {"allow": ["mcp__h__form"]}}
    async with stage(tmp_path, turns(use("mcp__h__form"), "done"), settings=settings) as opened:
        await opened.bench.pool.settle(60)
        await opened.say("go")
        assert json.loads(opened.result().text) == {"action": "decline"}
