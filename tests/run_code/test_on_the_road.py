"""Programs in whole sessions: their calls take the road that direct calls take, with everything on it."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

import pytest

from mcode.call import FailureKind, Status
from mcode.commands.host import CommandContext
from mcode.commands.standard import standard_registry
from mcode.events import ApprovalRequested, ApprovalResolved, ToolFinished, ToolStarted
from mcode.model.usage import count_request
from mcode.run_code.audit_read import read_audits
from mcode.tool import Placement
from tests.run_code.sessions import hook_script, noted, project, result_of, session
from tests.stage import use
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


ACCEPT = {"permissions": {"defaultMode": "acceptEdits"}}


async def test_r_02_calls_of_a_program_are_shown_judged_and_recorded_with_their_parent(
    tmp_path: Path,
) -> None:
    project(tmp_path, a_txt="one\ntwo\n", b_txt="three\n")
    code = "const all = await Promise.all(['a.txt', 'b.txt'].map(file_path => tools.Read({file_path})));\n"
    async with session(tmp_path, code + "return all.map(r => r.value.lines)") as here:
        await here.say("count")
        assert result_of(here) == "ok: 2 calls\n\n[2,1]"
        shown = [(event.call.id, event.call.tool, event.call.parent) for event in here.of(ToolStarted)]
        assert shown == [("prog", "run_code", None), ("prog_1", "Read", "prog"), ("prog_2", "Read", "prog")]
        assert here.outcomes[-1].call.id == "prog"
        records = [
            (r["type"], r["body"].get("id"), r["body"].get("parent"))
            for r in here.journal
            if "call" in r["type"]
        ]
        assert ("call_started", "prog_1", "prog") in records
        assert ("call_finished", "prog_2", "prog") in records
        assert records[-1][:2] == ("call_finished", "prog")
        logged = [
            json.loads(line) for line in (here.bench.places.logs / "verdicts.jsonl").read_text().splitlines()
        ]
        assert [(line["tool"], line["parent"]) for line in logged] == [
            ("run_code", None),
            ("Read", "prog"),
            ("Read", "prog"),
        ]
        sent = here.client.requests[1]["messages"][-1]["content"]
        assert [block["tool_use_id"] for block in sent] == ["prog"]


async def test_12_types_are_restored_and_what_cannot_be_is_an_error_value(tmp_path: Path) -> None:
    project(tmp_path, a_txt="one\ntwo\nTHREE\n")
    code = (
        "const r = [];\n"
        "r.push((await tools.Read({file_path: 'a.txt', offset: '2', limit: '1'})).value.text);\n"
        "r.push((await tools.Grep({pattern: 'three', '-i': 'true', output_mode: 'content'})).value.length);\n"
        "const bad = await tools.Read({file_path: 'a.txt', limit: 'five'});\n"
        "const none = await tools.Bash('ls');\n"
        "return [...r, bad.error.kind, bad.error.message, none.error.kind, none.error.message]"
    )
    async with session(tmp_path, code) as here:
        await here.say("go")
        text, hits, *errors = json.loads(result_of(here).partition("\n\n")[2])
        assert (text, hits) == ("two\n", 1)
        assert (errors[0], errors[2]) == ("invalid_args", "invalid_args")
        assert "limit: expected integer" in errors[1]
        assert "expected one object argument" in errors[3]
        assert here.outcomes[0].call.arguments["limit"] == 1
        assert "Its signature: Read(a: {file_path: string" in errors[1]
        assert "Its signature: Bash(a: {command: string" in errors[3]
        (program,) = read_audits(here.agent.session.directory)
        read, grep, *rest = (record["restorations"] for record in program.records if record["type"] == "call")
        assert (len(read), len(grep), rest) == (2, 1, [[], []]), (read, grep, rest)


async def test_18_an_answer_may_take_longer_than_the_cpu_budget(tmp_path: Path) -> None:
    root = project(tmp_path)
    async with session(tmp_path, "(await tools.Write({file_path: 'new.txt', content: 'x'})).ok") as here:
        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("write"))
        await until(lambda: here.agent.desk.waiting)
        await asyncio.sleep(0.8)
        (asked,) = here.of(ApprovalRequested)
        assert (asked.call.parent, asked.call.tool) == ("prog", "Write")
        assert here.agent.desk.decide(asked.approval_id, "once")
        await turn
        assert result_of(here) == "ok: 1 call\n\ntrue"
        assert (root / "new.txt").read_text() == "x"
        audit = (here.agent.session.directory / "program-prog.jsonl").read_text().splitlines()
        call = json.loads(audit[1])
        assert call["judged_ms"] >= 800
        assert call["duration_ms"] < call["judged_ms"]


async def test_19_a_denied_edit_among_five_is_a_value_and_the_other_four_are_made(tmp_path: Path) -> None:
    names = [f"{letter}.txt" for letter in "abcde"]
    root = project(tmp_path, **{name.replace(".", "_"): "old\n" for name in names})
    code = (
        "const out = [];\n"
        f"for (const file_path of {json.dumps(names)}) {{\n"
        "  await tools.Read({file_path});\n"
        "  const r = await tools.Edit({file_path, old_string: 'old', new_string: 'new'});\n"
        "  out.push(r.ok ? 'edited' : r.error.kind);\n"
        "}\n"
        "return out"
    )
    async with session(tmp_path, code) as here:
        here.agent.desk.attach()

        def answer(event: object) -> None:
            if isinstance(event, ApprovalRequested):
                choice = "deny" if event.call.arguments["file_path"].endswith("b.txt") else "once"
                asyncio.get_running_loop().call_soon(here.agent.desk.decide, event.approval_id, choice)

        here.agent.events.subscribe(answer)
        await here.say("edit")
        assert result_of(here) == 'ok: 10 calls, 1 denied\n\n["edited","denied","edited","edited","edited"]'
        assert [(root / name).read_text() for name in names] == ["new\n", "old\n", "new\n", "new\n", "new\n"]
        kept = [entry.path for entry in here.agent.session.undo.entries()]
        assert [os.path.basename(str(path)) for path in kept] == ["a.txt", "c.txt", "d.txt", "e.txt"]
        states = [r["body"]["status"] for r in here.journal if r["type"] == "call_finished"]
        assert states.count("denied") == 1
        (program,) = read_audits(here.agent.session.directory)
        edits = [call.state for call in program.calls if call.tool == "Edit"]
        assert edits == ["ok", "denied", "ok", "ok", "ok"]


async def test_where_nobody_can_be_asked_a_call_is_denied_at_once(tmp_path: Path) -> None:
    root = project(tmp_path)
    code = "const r = await tools.Write({file_path: 'n.txt', content: ''});\nreturn r.error.kind"
    async with session(tmp_path, code) as here:
        await here.say("write")
        assert result_of(here) == "ok: 1 call, 1 denied\n\ndenied"
        assert not (root / "n.txt").exists()


async def test_three_noes_of_the_user_stop_the_program_and_a_rule_does_not(tmp_path: Path) -> None:
    project(tmp_path)
    code = "for (let n = 0; n < 5; n++) await tools.Bash({command: `touch ${n}`});\nreturn 'through'"
    async with session(tmp_path, code) as here:
        here.answer("deny", "not that")
        await here.say("go")
        assert result_of(here).startswith("failed (stopped_by_user): 3 calls, 3 denied")
    async with session(tmp_path, code, settings={"permissions": {"deny": ["Bash(touch *)"]}}) as here:
        await here.say("go")
        assert result_of(here) == "ok: 5 calls, 5 denied\n\nthrough"


SAY = "print(json.dumps({'hookSpecificOutput': {'hookEventName': given['hook_event_name'], **%s}}))"


async def test_21_hooks_deny_rewrite_and_replace_for_programs_as_for_direct_calls(tmp_path: Path) -> None:
    root = project(tmp_path, secret_txt="hidden", a_txt="of a\n", b_txt="of b\n")
    before = hook_script(
        tmp_path,
        "before",
        "path = given['tool_input'].get('file_path', '')\n"
        "if path.endswith('secret.txt'):\n    "
        + SAY % "{'permissionDecision': 'deny', 'permissionDecisionReason': 'secret'}"
        + "\nelif path.endswith('a.txt'):\n    "
        + SAY
        % "{'permissionDecision': 'allow', 'updatedInput': {'file_path': path.replace('a.txt', 'b.txt')}}"
        + "\nelif path.endswith('c.txt'):\n    "
        + SAY % "{'permissionDecision': 'allow', 'updatedInput': {'file_path': '/etc/shadow'}}",
    )
    after = hook_script(
        tmp_path,
        "after",
        "if given['tool_name'] == 'Glob':\n    " + SAY % "{'updatedToolOutput': ['replaced']}",
    )
    settings = {
        "hooks": {
            "PreToolUse": [{"matcher": "Read|Glob", "hooks": [{"type": "command", "command": before}]}],
            "PostToolUse": [{"matcher": "Read|Glob", "hooks": [{"type": "command", "command": after}]}],
        },
        "permissions": {"deny": ["Read(//etc/**)"]},
    }
    code = (
        "const read = async file_path => {\n"
        "  const r = await tools.Read({file_path}); return r.ok ? [r.value.text, r.meta] : r.error.kind };\n"
        "return [await read('secret.txt'), await read('a.txt'), await read('c.txt'),\n"
        "  (await tools.Glob({pattern: '*.txt'})).value]"
    )
    direct = [
        use("Read", "d1", file_path="secret.txt"),
        use("Read", "d2", file_path="a.txt"),
        use("Read", "d3", file_path="c.txt"),
        use("Glob", "d4", pattern="*.txt"),
    ]
    async with session(tmp_path, code, direct, settings=settings) as here:
        await here.say("go")
        shown = result_of(here).partition("\n\n")[2]
        assert json.loads(shown) == ["hook_denied", ["of b\n", {"rewritten": True}], "denied", ["replaced"]]
        inputs = noted(tmp_path, "before")
        nested = [given for given in inputs if given.get("parent_tool_use_id") == "prog"]
        plain = [given for given in inputs if "parent_tool_use_id" not in given]
        assert len(nested) == len(plain) == 4
        assert [given["tool_name"] for given in nested] == ["Read", "Read", "Read", "Glob"]
        assert len({given["tool_use_id"] for given in inputs}) == 8
        assert len(noted(tmp_path, "after")) == 4
        (program,) = read_audits(here.agent.session.directory)
        assert program.records[0]["message"].startswith("msg_")
        heard = [record["hooks"] for record in program.records if record["type"] == "call"]
        said = [
            [(each.split(" ")[0].rstrip(":"), each.rpartition(": ")[2]) for each in says] for says in heard
        ]
        rewritten = [("PreToolUse", "allow"), ("PreToolUse", "other arguments")]
        assert said == [[("PreToolUse", "deny")], rewritten, rewritten, [("PostToolUse", "another result")]]
        assert (root / "secret.txt").read_text() == "hidden"


async def test_a_call_that_waited_for_earlier_ones_and_no_hook_has_changed_is_not_called_rewritten(
    tmp_path: Path,
) -> None:
    project(tmp_path)
    code = (
        "const all = await Promise.all(['a', 'b', 'c'].map(\n"
        "  name => tools.Write({file_path: name + '.txt', content: name})));\n"
        "return all.map(r => r.ok ? r.meta || 'as given' : r.error)"
    )
    async with session(tmp_path, code, settings=ACCEPT) as here:
        await here.say("go")
        shown = json.loads(result_of(here).partition("\n\n")[2])
        assert shown == ["as given"] * 3


async def test_a_hook_that_ends_the_turn_ends_the_program_too(tmp_path: Path) -> None:
    project(tmp_path, a_txt="x")
    stop = hook_script(tmp_path, "stop", "print(json.dumps({'continue': False, 'stopReason': 'enough'}))")
    settings = {
        "hooks": {"PostToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": stop}]}]}
    }
    async with session(
        tmp_path, "while (true) await tools.Read({file_path: 'a.txt'})", settings=settings
    ) as here:
        finished = await here.say("go")
        assert (finished.reason, finished.text) == ("stopped", "enough")
        assert result_of(here).startswith("failed (stopped_by_hook): 1 call")
        assert len(here.client.requests) == 1
        assert len(noted(tmp_path, "stop")) == 1


TOP_LEVEL = ["AskUserQuestion", "ExitPlanMode", "Agent", "TodoWrite", "call_tool", "run_code", "tool_search"]


async def test_22_tools_that_belong_to_the_top_level_are_refused_in_programs(tmp_path: Path) -> None:
    code = (
        f"const out = {{}};\nfor (const n of {json.dumps(TOP_LEVEL)})\n"
        "  out[n] = (await tools[n]({code: '1', todos: []})).error.kind;\n"
        "return out"
    )
    async with session(tmp_path, code) as here:
        belongs = {tool.name for tool in here.agent.catalog if tool.placement is Placement.TOP_LEVEL_ONLY}
        assert belongs == set(TOP_LEVEL)
        await here.say("go")
        refused = json.dumps(dict.fromkeys(TOP_LEVEL, "top_level_only"), separators=(",", ":"))
        count = len(TOP_LEVEL)
        assert result_of(here) == f"ok: {count} calls, {count} failed\n\n{refused}"
        assert [event.call.id for event in here.of(ToolStarted)] == ["prog"]


async def test_in_plan_mode_programs_run_and_their_edits_are_denied(tmp_path: Path) -> None:
    root = project(tmp_path, a_txt="x\n")
    code = (
        "const read = await tools.Read({file_path: 'a.txt'});\n"
        "const write = await tools.Write({file_path: 'b.txt', content: 'y'});\n"
        "return [read.ok, write.error.kind]"
    )
    async with session(tmp_path, code, settings={"permissions": {"defaultMode": "plan"}}) as here:
        await here.say("go")
        assert result_of(here) == 'ok: 2 calls, 1 denied\n\n[true,"denied"]'
        assert not (root / "b.txt").exists()


@pytest.mark.parametrize("moment", ["spinning", "command", "prompt"])
async def test_30_an_interrupt_at_any_moment_leaves_a_truthful_record(tmp_path: Path, moment: str) -> None:
    root = project(tmp_path)
    code = {
        "spinning": "await tools.Write({file_path: 'a.txt', content: 'x'});\nwhile (true) {}",
        "command": "await tools.Write({file_path: 'a.txt', content: 'x'});\nawait tools.Bash({command: 'sleep 60'})",
        "prompt": "await tools.Write({file_path: 'a.txt', content: 'x'});\nawait tools.Bash({command: 'python3 -c 0'})",
    }[moment]
    settings = {"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash(sleep 60)"]}}
    async with session(tmp_path, code, settings=settings) as here:
        here.agent.desk.attach()
        turn = asyncio.create_task(here.say("go"))

        def reached() -> bool:
            written = any(each.outcome.call.tool == "Write" for each in here.of(ToolFinished))
            running = any(event.call.tool == "Bash" for event in here.of(ToolStarted))
            return (
                written
                and {"spinning": True, "command": running, "prompt": bool(here.agent.desk.waiting)}[moment]
            )

        await until(reached)
        await asyncio.sleep(0.05)
        assert here.agent.interrupt()
        assert (await asyncio.wait_for(turn, 30)).reason == "interrupted"
        told = result_of(here)
        assert "The program was cancelled when the user stopped the turn" in told
        assert "Write {" in told
        assert "(call 1, line 1): +1 -0" in told
        assert ("(call 2, line 2): cancelled, and may have had effects" in told) is (moment == "command")
        assert ("never started:\n- Bash" in told) is (moment == "prompt")
        assert (root / "a.txt").read_text() == "x"
        ended = {each.call.id: each.status for each in here.outcomes}
        assert ended["prog"] is Status.CANCELLED
        if moment != "spinning":
            assert ended["prog_2"] is Status.CANCELLED
        if moment == "prompt":
            assert here.of(ApprovalResolved)[-1].choice == "withdrawn"
        finished = [r["body"]["id"] for r in here.journal if r["type"] == "call_finished"]
        assert finished[-1] == "prog"


async def test_a_program_that_dies_half_way_says_what_has_happened(tmp_path: Path) -> None:
    project(tmp_path)
    code = (
        "await must(tools.Write({file_path: 'a.txt', content: 'x'}));\n"
        "await must(tools.Read({file_path: 'missing.txt'}));\n"
        "await must(tools.Write({file_path: 'b.txt', content: 'y'}))"
    )
    async with session(tmp_path, code, settings=ACCEPT) as here:
        await here.say("go")
        outcome = next(each for each in here.outcomes if each.call.id == "prog")
        assert outcome.failure is FailureKind.TOOL_ERROR
        assert outcome.text.startswith("failed (exception): 2 calls, 1 failed")
        assert "ToolError: " in outcome.text
        assert "at line 2, column " in outcome.text
        assert 'Write {"file_path":"a.txt","content":"x"} (call 1, line 1): +1 -0' in outcome.text
        assert 'Read {"file_path":"missing.txt"} (call 2, line 2): tool_error' in outcome.text


async def test_11_r_05_a_deferred_tool_is_not_loaded_until_a_search_has_shown_it(tmp_path: Path) -> None:
    project(tmp_path)
    code = "const r = await tools.TaskStop({task_id: 'b1'});\nreturn r.error.kind + ': ' + r.error.message"
    search = use("tool_search", "s", queries=["select:TaskStop"])
    async with session(tmp_path, code, search, code) as here:
        await here.say("go")
        first, second = result_of(here), result_of(here, "prog2")
        assert first.startswith(
            "ok: 1 call, 1 failed\n\nnot_loaded: TaskStop is not loaded, and nothing was done."
        )
        assert "Its signature: TaskStop(a: {task_id: string" in first
        assert "tool_error: " in second
        made = [event.call.id for event in here.of(ToolStarted) if event.call.tool == "TaskStop"]
        assert made == ["prog2_1"]


async def test_what_a_program_wrote_is_undone_with_its_turn(tmp_path: Path) -> None:
    root = project(tmp_path, a_txt="old\n")
    code = (
        "await tools.Read({file_path: 'a.txt'});\n"
        "await tools.Edit({file_path: 'a.txt', old_string: 'old', new_string: 'new'});\n"
        "await tools.Write({file_path: 'b.txt', content: 'b'});"
    )
    async with session(tmp_path, code, settings=ACCEPT, prefixes=1) as here:
        await here.say("go")
        assert (root / "a.txt").read_text() == "new\n"
        registry = standard_registry()
        context = CommandContext(here.agent, here.bench.surroundings(), registry)
        undone = await registry.run("/rewind 1", context)
        assert not undone.failed, undone.text
        assert (root / "a.txt").read_text() == "old\n"
        assert not (root / "b.txt").exists()


async def test_first_requests_stay_small_in_every_mode(tmp_path: Path) -> None:
    sizes: dict[str, int] = {}
    for mode in ("beside", "first"):
        directory = tmp_path / mode
        directory.mkdir()
        project(directory)
        async with session(directory, settings={"mcode": {"programs": mode}}) as here:
            await here.say("hello")
            (body,) = here.client.requests
            sizes[mode] = count_request(body).total
            names = {tool["name"] for tool in body["tools"]}
            assert {"run_code", "tool_search"} <= names
    assert sizes["first"] <= sizes["beside"] <= 4_000, sizes
