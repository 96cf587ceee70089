"""`--permission-prompt-tool`: a server's tool answers in the user's place, along the road and under the rules."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest

from mcode.call import Call, Outcome, Status
from mcode.command_line import parse
from mcode.errors import UsageError
from mcode.events import EventBus, Notice
from mcode.permissions.verdict import Behavior, Verdict
from mcode.pipeline.ask import Desk
from mcode.tool import Preview
from mcode.wiring.options import Options
from mcode.wiring.prompt_tool import PromptTool, check_prompt_tool, read_answer
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.pipeline.run import Pipeline

SERVER = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, result = message.get("method"), {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "guard", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "approve", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        asked = message["params"]["arguments"]
        command = asked["input"].get("command", "")
        said = {"behavior": "deny", "message": "not " + asked["tool_name"]}
        if command.startswith("touch"):
            said = {"behavior": "allow", "updatedInput": asked["input"]}
            if "there" in command:
                update = {"type": "addDirectories", "directories": ["~nobody-of-this-name/x"]}
                said["updatedPermissions"] = [update]
        elif command.startswith("rm"):
            said = {"behavior": "allow", "updatedInput": {"command": "touch instead"}}
        elif command.startswith("mv"):
            said = {"behavior": "allow", "updatedInput": {"command": "curl x"}}
        elif command.startswith("cp"):
            said = {"behavior": "deny", "message": "enough", "interrupt": True}
        result = {"content": [{"type": "text", "text": json.dumps(said, ensure_ascii=False)}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

NAME = "mcp__guard__approve"


def guarded(tmp_path: Path, name: str = NAME) -> Options:
    path = tmp_path / "guard.py"
    path.write_text(SERVER)
    entry = {"mcpServers": {"guard": {"command": sys.executable, "args": [str(path)]}}}
    return Options(prompt_tool=name, allowed=(name,), mcp_configs=(json.dumps(entry),))


def bash(identifier: str, command: str) -> dict[str, Any]:
    return use("Bash", identifier, command=command)


async def test_it_allows_denies_and_changes_what_would_be_asked_and_no_rule_is_overruled(
    tmp_path: Path,
) -> None:
    calls = [
        bash("a", "touch made"),
        bash("b", "rm made"),
        bash("c", "mv a b"),
        bash("d", "ln -s x y"),
        bash("e", "curl y"),
    ]
    settings = {"permissions": {"deny": ["Bash(curl *)"]}}
    async with stage(tmp_path, turns(calls, "Done."), settings=settings, options=guarded(tmp_path)) as here:
        await here.bench.pool.settle(30)
        await here.say("go")
        log = here.bench.places.logs / "verdicts.jsonl"
        verdicts = [json.loads(line) for line in log.read_text().splitlines()]
    asked = [each for each in here.outcomes if each.call.tool == NAME]
    by_id = {each.call.id: each for each in here.outcomes if each.call.tool == "Bash"}
    assert [each.call.parent for each in asked] == ["a", "b", "c", "d"]
    assert [by_id[each].status for each in "abcde"] == [
        Status.OK, Status.OK, Status.DENIED, Status.DENIED, Status.DENIED,
    ]  # fmt: skip
    assert sorted(path.name for path in here.project.iterdir()) == ["instead", "made"]
    assert f"{NAME} said no: not Bash" in by_id["d"].text
    decided = [each["decided_by"] for each in verdicts if each["tool"] == "Bash"]
    assert decided[:2] == [NAME, NAME]


async def test_it_may_end_the_turn(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(bash("a", "cp a b"), "Never."), options=guarded(tmp_path)) as here:
        await here.bench.pool.settle(30)
        assert (await here.say("go")).reason == "interrupted"


async def test_its_answer_is_read_whole_and_as_it_came(tmp_path: Path) -> None:
    """Also where a hook has something to say of it, and where it holds more, or other signs, than a model gets."""
    told = json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Noted."}})
    hook = {"matcher": "mcp__.*", "hooks": [{"type": "command", "command": f"echo '{told}'"}]}
    settings = {"hooks": {"PostToolUse": [hook]}}
    commands = [f"touch made # {'x' * 120_000}", "touch made #\u2028\u200b\ufeff"]
    calls = [bash(f"toolu_{at}", command) for at, command in enumerate(commands)]
    async with stage(tmp_path, turns(calls, "Done."), settings=settings, options=guarded(tmp_path)) as here:
        await here.bench.pool.settle(30)
        await here.say("go")
        ran = [each for each in here.outcomes if each.call.tool == "Bash"]
    assert [each.status for each in ran] == [Status.OK, Status.OK]
    assert [each.call.arguments["command"] for each in ran] == commands


async def test_an_answer_that_cannot_be_carried_out_leaves_nobody_waiting(tmp_path: Path) -> None:
    async with stage(tmp_path, turns(bash("a", "touch there"), "Done."), options=guarded(tmp_path)) as here:
        await here.bench.pool.settle(30)
        await here.say("go")
        assert "the working directories stay as they are" in " ".join(each.text for each in here.of(Notice))
        assert here.outcomes[-1].status is Status.OK

    async def fail(updates: list[JsonObject]) -> None:
        raise OSError(f"no room for {updates}")

    class Road:
        """Every call ends with a permission."""

        async def run(self, call: Call) -> Outcome:
            return Outcome(call, Status.OK, "", {"behavior": "allow"})

    events, asked, road = EventBus(), Call("a", "Bash", {"command": "touch x"}), cast("Pipeline", Road())
    desk = Desk(events)
    PromptTool(NAME, road, desk, fail, list, str).begin(events)
    answer = await desk.approve(asked, Preview("touch"), Verdict(Behavior.ASK, "it writes"), "/")
    assert not answer.allowed
    assert answer.comment == "mcode failed over its answer: no room for []"


async def test_where_it_fails_or_says_nothing_clear_the_call_is_denied(tmp_path: Path) -> None:
    options = guarded(tmp_path, "mcp__guard__nothing")
    async with stage(tmp_path, turns(bash("a", "touch made"), "Done."), options=options) as here:
        await here.bench.pool.settle(30)
        await here.say("go")
        assert here.result().status is Status.DENIED
        assert "it failed: " in here.result().text
    assert "no JSON object" in read_answer("yes").message
    assert not read_answer("{}").allows
    assert 'no "behavior"' in read_answer('{"behavior": "maybe"}').message
    assert read_answer('{"behavior": "allow", "updatedPermissions": [{"type": "setMode"}, 1]}').updates == (
        {"type": "setMode"},
    )


async def test_a_name_that_can_never_be_there_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("unused"), options=Options(prompt_tool="approve"), start=False) as here:
        with pytest.raises(UsageError, match="takes the name of a server's tool"):
            check_prompt_tool(here.bench)
    async with stage(tmp_path, turns("unused"), options=Options(prompt_tool=NAME), start=False) as here:
        with pytest.raises(UsageError, match="there is no server 'guard' that may run here"):
            check_prompt_tool(here.bench)
    with pytest.raises(UsageError, match="goes with -p"):
        parse(["--permission-prompt-tool", NAME])
    options = parse(["-p", "--permission-prompt-tool", NAME, "--allowedTools", "Read", "--", "hello"])
    assert (options.prompt_tool, options.allowed) == (NAME, ("Read", NAME))


async def test_bare_reads_nothing_but_what_the_command_line_names(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    files = {
        home / ".claude/CLAUDE.md": "Of mine.",
        project / "AGENTS.md": "Of the project.",
        project / "lib/CLAUDE.md": "Of the library.",
        project / "lib/a.txt": "x\n",
        home / ".claude/skills/look/SKILL.md": "---\ndescription: L\n---\nLook.",
        home / ".claude/agents/s.md": "---\nname: s\ndescription: d\n---\nS.",
        project / ".mcp.json": '{"mcpServers": {"w": {"command": "w"}}}',
        project / ".claude/settings.json": '{"permissions": {"deny": ["Read"]}}',
        home / ".mcode/tools.json": "no hints at all",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = parse(["--bare", "-p", "--append-system-prompt", "Be brief.", "go"])
    assert (options.setting_sources, options.strict_mcp) == (frozenset(), True)
    script = turns(use("Read", file_path="lib/a.txt"), "Read.")
    settings = {"model": "of-the-settings"}
    async with stage(tmp_path, script, settings=settings, options=options) as here:
        await here.say("go")
        assert not here.agent.skills.all
        assert list(here.agent.subagents.kinds) == ["general-purpose"]
        assert not here.bench.pool.statuses()
        assert here.agent.model == "scripted-1"
        assert not [each.text for each in here.of(Notice) if "tools.json" in each.text]
    sent = json.dumps(here.client.requests[-1])
    for text in ("Of mine", "Of the project", "Of the library", "TodoWrite", "MemoryNote"):
        assert text not in sent
    assert "Be brief." in sent
    assert here.result().status is Status.OK
    assert {tool["name"] for tool in here.client.requests[0]["tools"]} >= {"Bash", "Read", "Edit"}
