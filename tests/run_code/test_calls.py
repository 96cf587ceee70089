"""Calls from programs: what they resolve to, how they are spelled, in which order they run."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcode.call import FailureKind, Outcome, Status
from mcode.tool import Placement
from tests.run_code.workplace import QUICK, Failed
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from tests.run_code.workplace import Workplace

FILES = {f"f{n}.txt": "line\n" * (n + 1) for n in range(50)}


def read(arguments: JsonObject) -> JsonObject:
    text = FILES[arguments["file_path"]]
    return {"text": text, "lines": text.count("\n")}


async def test_01_three_reads_overlap_and_come_back_as_one_result(place: Workplace) -> None:
    async def slow(arguments: JsonObject) -> JsonObject:
        await until(lambda: place.most_running == 3)
        return read(arguments)

    place.tool("Read", slow)
    ran = await place.run(
        "const all = await Promise.all(['f0.txt', 'f1.txt', 'f2.txt'].map(p => tools.Read({file_path: p})));\n"
        "return all.map(r => r.value.lines)"
    )
    assert ran.value == "[1,2,3]"
    assert ran.text.startswith("ok: 3 calls\n")
    assert sorted(call["index"] for call in ran.calls) == [1, 2, 3]


async def test_02_fifty_one_calls_are_in_the_audit_and_three_items_in_the_result(place: Workplace) -> None:
    place.tool("Grep", lambda _: [{"path": name, "line": 1, "text": "line"} for name in FILES])
    place.tool("Read", read)
    ran = await place.run(
        "const hits = await must(tools.Grep({pattern: 'line'}));\n"
        "const found = [];\n"
        "for (const hit of hits) {\n"
        "  const file = await must(tools.Read({file_path: hit.path}));\n"
        "  if (file.lines > 47) found.push(hit.path);\n"
        "}\n"
        "return found"
    )
    assert ran.value == '["f47.txt","f48.txt","f49.txt"]'
    assert len(ran.calls) == 51
    assert {call["line"] for call in ran.calls} == {1, 4}
    end = ran.audit[-1]
    assert end["bytes_in"] > 50 * end["chars_out"]
    assert " KB in, " in ran.result.summary


async def test_07_a_failing_tool_is_a_value_and_must_makes_it_an_exception(place: Workplace) -> None:
    place.tool("Read", lambda _: Failed(FailureKind.TOOL_ERROR, "no such file: x"))
    ran = await place.run(
        "const r = await tools.Read({file_path: 'x'});\nreturn r.ok ? 'there' : r.error.kind + ' ' + r.error.message"
    )
    assert ran.value == "tool_error no such file: x"
    assert ran.text.startswith("ok: 1 call, 1 failed")
    for code in ("await must(tools.Read({}))", "must(await tools.Read({}))", "must([await tools.Read({})])"):
        ran = await place.run(code)
        assert ran.status == "exception"
        assert "ToolError: no such file: x" in ran.text
        assert (
            "The last failed calls that the program had seen:\n- Read {} (call 1, line 1): tool_error"
            in ran.text
        )
    ran = await place.run(
        "try { await must(tools.Read({})) } catch (e) { return [e.kind, e instanceof Error] }"
    )
    assert ran.value == '["tool_error",true]'
    ran = await place.run("must('text')")
    assert "must takes the result of a tool call" in ran.text


async def test_08_a_result_used_as_its_value_says_where_the_value_is(place: Workplace) -> None:
    place.tool("fetch-page", lambda _: "one\ntwo")
    place.tool("Read", lambda _: {"text": "one", "lines": 1})
    uses = {
        "r.split('x')": "tools.fetch_page returned a result object; use .value.split",
        "r.length": "use .value.length",
        "r.map(x => x)": "use .value.map",
        "for (const x of r) {}": "use .value",
        "`${r}`": "use .value",
        "r + 1": "use .value",
    }
    for use, hint in uses.items():
        ran = await place.run(
            f"const r = await tools.fetch_page({{}});\nreturn {use}"
            if "for" not in use
            else f"const r = await tools.fetch_page({{}});\n{use}"
        )
        assert ran.status == "exception"
        assert hint in ran.text, (use, ran.text)
        assert "at line 2" in ran.text
    ran = await place.run("const r = await tools.Read({});\nr.split('x')")
    assert "use .value.text.split" in ran.text


async def test_09_a_failed_call_can_be_taken_apart_without_an_error(place: Workplace) -> None:
    place.tool("Read", lambda _: Failed(FailureKind.DENIED, "no", Status.DENIED))
    ran = await place.run(
        "const {ok, value, error} = await tools.Read({});\nreturn [ok, typeof value, error.kind, error.message]"
    )
    assert ran.value == '[false,"undefined","denied","no"]'
    assert ran.text.startswith("ok: 1 call, 1 denied")


async def test_10_names_with_foreign_characters_work_in_both_spellings(place: Workplace) -> None:
    for name in ("mcp__my-server__get.item", "4chan", "a-b", "a.b", "Read"):
        place.tool(name, lambda _, name=name: name, source="my-server")
    ran = await place.run(
        "const r = [];\n"
        "r.push((await tools.mcp__my_server__get_item({})).value);\n"
        "r.push((await tools['mcp__my-server__get.item']({})).value);\n"
        "r.push((await tools._4chan({})).value, (await tools['a-b']({})).value, (await tools['a.b']({})).value);\n"
        "r.push((await tools.read({})).value, (await tools.mcpMyServerGetItem({})).value);\n"
        "return r"
    )
    name = "mcp__my-server__get.item"
    assert json.loads(ran.value) == [name, name, "4chan", "a-b", "a.b", "Read", name]
    ran = await place.run("tools.a_b({})")
    assert 'did you mean tools["a-b"] or tools["a.b"]?' in ran.text
    assert ran.calls == []
    described = place.run_code.description
    assert '["a-b"](' in described
    assert "\nmcp__my_server__get_item(" in described


async def test_11_a_misspelt_name_is_an_error_at_once_with_the_near_one(place: Workplace) -> None:
    place.tool("Read", read)
    place.tool("mcp__github__create_issue", read, source="github")
    cases = {
        "tools.Raed({})": "did you mean tools.Read?",
        "tools.create_issue({})": "did you mean tools.mcp__github__create_issue?",
        "tools.mcp__github__createIssues({})": "did you mean tools.mcp__github__create_issue?",
        "tools.somethingElse({})": "ALL_TOOLS lists the tools; others must be found with tool_search first",
    }
    for code, hint in cases.items():
        ran = await place.run(f"const before = 1;\n{code}")
        assert "ReferenceError: there is no tool called" in ran.text
        assert hint in ran.text, ran.text
        assert "at line 2, column 1" in ran.text
        assert ran.calls == []
    ran = await place.run("return ['Read' in tools, 'Raed' in tools, Object.keys(tools)]")
    assert ran.value == '[true,false,["Read","mcp__github__create_issue"]]'


async def test_11_r_05_a_known_tool_that_is_not_loaded_says_how_to_load_it(place: Workplace) -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    place.tool("create_issue", lambda _: "made", source="github", placement=Placement.DEFERRED, schema=schema)
    code = "const r = await tools.create_issue({title: 'x'});\nreturn [r.ok, r.error, ALL_TOOLS.length]"
    ran = await place.run(code)
    failed, error, listed = json.loads(ran.value)
    assert (failed, error["kind"], listed) == (False, "not_loaded", 0)
    assert "Load it with tool_search" in error["message"]
    assert "create_issue(a: {title: string})" in error["message"]
    assert place.calls == []
    assert [(call["state"], call["kind"]) for call in ran.calls] == [("failed", "not_loaded")]
    assert "create_issue" not in place.run_code.description
    place.loaded.add("create_issue")
    place.tool("Late", read)
    ran = await place.run(
        "[Object.keys(tools), ALL_TOOLS.length, (await tools.create_issue({title: 'x'})).ok]"
    )
    assert ran.value == '[["Late","create_issue"],2,true]'


async def test_13_an_argument_that_is_no_object_reaches_the_gate_as_a_fault(place: Workplace) -> None:
    place.tool("bash", read, reads=False)
    faults = {
        "tools.bash('ls')": "expected one object argument, got string",
        "tools.bash(['ls'])": "expected one object argument, got an array",
        "tools.bash({}, {})": "expected one object argument, got 2 arguments",
        "tools.bash(null)": "expected one object argument, got object",
    }
    for code, fault in faults.items():
        ran = await place.run(f"const r = await {code};\nreturn r.error")
        assert json.loads(ran.value)["kind"] == "invalid_args"
        assert fault in ran.value
        assert place.calls[-1].fault == fault
        assert place.calls[-1].arguments == {}
    place.tool("Empty", lambda arguments: arguments)
    assert (await place.run("(await tools.Empty()).value")).value == "{}"
    assert (await place.run("(await tools.Empty(undefined)).value")).value == "{}"


async def test_14_a_command_gets_the_exact_bytes_of_what_sh_puts_in(place: Workplace, tmp_path: Any) -> None:
    def bash(arguments: JsonObject) -> JsonObject:
        done = subprocess.run(["bash", "-c", arguments["command"]], capture_output=True, check=False)
        return {"stdout": done.stdout.decode()}

    place.tool("Bash", bash, reads=False)
    ran = await place.run(
        "const hard = ['a b', \"it's\", '\"q\"', '$HOME `id` $(id)', 'two\\nlines', '\\\\n', '*', '', '-n'];\n"
        "const r = await must(tools.Bash({command: sh`printf '%s\\0' ${hard} ${7} ${true}`}));\n"
        "return JSON.stringify(r.stdout.split('\\0').slice(0, -1)) === JSON.stringify([...hard, '7', 'true'])"
    )
    assert ran.value == "true"
    for code, why in {
        "sh`rm ${undefined}`": "sh takes text, numbers and arrays",
        "sh`x ${'\\0'}`": "NUL",
        "sh('ls')": "sh is a tag",
    }.items():
        assert why in (await place.run(code)).text


async def test_16_waiting_for_a_timer_costs_no_cpu(place: Workplace) -> None:
    ran = await place.run(
        "const order = [];\n"
        "const late = setTimeout(() => order.push('never'), 20);\n"
        "setTimeout((a, b) => order.push(a + b), 30, 'c', 'd');\n"
        "setTimeout(() => order.push('b'), 10);\n"
        "clearTimeout(late);\n"
        "await new Promise(r => setTimeout(r, 50));\n"
        "await sleep(1);\n"
        "return order"
    )
    assert ran.value == '["b","cd"]'
    assert ran.audit[-1]["wall_ms"] >= 50
    assert ran.audit[-1]["cpu_ms"] < 40
    ran = await place.run("setTimeout(() => { throw new Error('in a timer') }, 1);\nawait sleep(1000)")
    assert ran.status == "exception"
    assert "in a timer" in ran.text


async def test_timers_have_a_limit_in_all(place: Workplace) -> None:
    ran = await place.run("await sleep(601_000)")
    assert ran.status == "exception"
    assert "may wait 600 seconds in all" in ran.text


async def test_17_a_call_that_nobody_awaited_is_run_and_named(place: Workplace) -> None:
    async def slow(_: JsonObject) -> str:
        await asyncio.sleep(0.05)
        return "done"

    place.tool("Read", slow)
    place.tool("Write", lambda _: Failed(FailureKind.TOOL_ERROR, "disk full"), reads=False)
    ran = await place.run("tools.Read({});\nreturn 5")
    assert ran.text.startswith("ok: 1 call\n\n5\n\n1 call was not awaited")
    assert ran.calls[0]["state"] == "ok"
    ran = await place.run("for (const n of [1, 2, 3]) tools.Write({n});\nreturn 5")
    assert "3 calls were not awaited" in ran.text
    assert 'Of these failed:\n- Write {"n":1} (call 1, line 1): tool_error: disk full' in ran.text
    assert [call["state"] for call in ran.calls] == ["failed"] * 3


async def test_after_an_error_what_has_not_started_never_does(place: Workplace) -> None:
    async def slow(_: JsonObject) -> str:
        bridge = place.run_code.bridge_of(place.calls[0])
        assert bridge is not None
        await until(lambda: bridge._closing)  # the program's error has come
        return "written"

    place.limits = replace(QUICK, after_failure=30.0)
    place.tool("Write", slow, reads=False)
    ran = await place.run(
        "for (const n of [1, 2, 3]) tools.Write({n});\nawait sleep(20);\nthrow new Error('enough')"
    )
    assert ran.status == "exception"
    assert ran.text.startswith("failed (exception): 3 calls, 2 not started")
    assert 'their effects stay; do not repeat them:\n- Write {"n":1} (call 1, line 1): done' in ran.text
    assert 'never started:\n- Write {"n":2} (call 2, line 1)\n- Write {"n":3}' in ran.text
    assert len(place.calls) == 1


async def test_after_an_error_what_runs_too_long_is_cancelled(place: Workplace) -> None:
    async def hang(_: JsonObject) -> str:
        await asyncio.sleep(30)
        return "never"

    place.tool("Write", hang, reads=False)
    ran = await place.run("tools.Write({});\nawait sleep(20);\nthrow new Error('enough')")
    assert ran.text.startswith("failed (exception): 1 call, 1 cancelled")
    assert "(call 1, line 1): cancelled, and may have had effects" in ran.text


async def test_reads_run_eight_at_once_and_everything_else_alone_in_order(place: Workplace) -> None:
    running: dict[str, int] = {"Read": 0, "Write": 0}
    most: dict[str, int] = {"Read": 0, "Write": 0}
    written: list[int] = []

    def body(name: str) -> Any:
        async def run(arguments: JsonObject) -> str:
            running[name] += 1
            most[name] = max(most[name], running[name])
            await asyncio.sleep(0.01 if name == "Read" else 0.002)
            running[name] -= 1
            if name == "Write":
                written.append(arguments["n"])
            return "x"

        return run

    place.tool("Read", body("Read"))
    place.tool("Write", body("Write"), reads=False)
    ran = await place.run(
        "const jobs = [];\n"
        "for (let n = 0; n < 20; n++) jobs.push(tools.Write({n}), tools.Read({n}), tools.Read({n}));\n"
        "return (await Promise.all(jobs)).length"
    )
    assert ran.value == "60"
    assert most == {"Read": 8, "Write": 1}
    assert written == list(range(20))
    assert ran.audit[-1]["most_in_flight"] == 9


async def test_values_of_servers_that_send_json_as_text_arrive_as_what_they_mean(place: Workplace) -> None:
    texts = {
        "list": '[{"id": 1}, {"id": 2}]',
        "object": ' {"a": [true]}',
        "long": '{"id": 1234567890123456789}',
        "number": "5",
        "broken": '{"a": ',
        "plain": "hello",
    }
    for name, text in texts.items():
        place.tool(name, lambda _, text=text: text, source="server")
    place.tool("core", lambda _: '{"a": 1}')
    ran = await place.run(
        "const o = {};\n"
        "for (const t of ['list', 'object', 'long', 'number', 'broken', 'plain', 'core']) {\n"
        "  const r = await tools[t]({}); o[t] = [r.value, typeof r.text];\n}\nreturn o"
    )
    assert json.loads(ran.value) == {
        "list": [[{"id": 1}, {"id": 2}], "string"],
        "object": [{"a": [True]}, "string"],
        "long": [{"id": "1234567890123456789"}, "string"],
        "number": ["5", "string"],
        "broken": ['{"a": ', "string"],
        "plain": ["hello", "string"],
        "core": ['{"a": 1}', "string"],
    }


async def test_a_failure_carries_what_the_tool_had_so_far(place: Workplace) -> None:
    def timed_out(_: JsonObject) -> Outcome:
        call = place.calls[-1]
        return Outcome(call, Status.FAILED, "timed out", {"stdout": "half"}, failure=FailureKind.TIMEOUT)

    place.tool("Bash", timed_out, reads=False)
    ran = await place.run("const r = await tools.Bash({}); return [r.ok, r.error.kind, r.error.value.stdout]")
    assert ran.value == '[false,"timeout","half"]'


async def test_helpers_of_other_dialects_work(place: Workplace) -> None:
    place.tool("Read", read)
    place.tool("run_code", read, placement=Placement.TOP_LEVEL_ONLY)
    ran = await place.run("text('one');\ntext({two: 2});\nimage('data');\nexit();\ntext('never')")
    assert ran.text.startswith('ok: no calls\n\none\n{"two":2}\n\nPrograms cannot return images')
    assert (await place.run("text('a'); return 'b'")).value == "a\nb"
    assert (await place.run("try { exit('early') } catch {}\nwhile (true) await sleep(1)")).value == "early"
    listed = json.loads((await place.run("ALL_TOOLS")).value)
    assert [entry["name"] for entry in listed] == ["Read"]
    assert listed[0]["description"].startswith("Read(")


async def test_a_first_line_of_options_says_how_much_the_model_wants_to_read(place: Workplace) -> None:
    many = "return 'x'.repeat(30_000)"
    ran = await place.run(f'// @exec: {{"max_output_tokens": 10000, "yield_time_ms": 1000}}\n{many}')
    assert ran.value == "x" * 30_000
    assert len((await place.run(f'```js\n//@exec: {{"max_output_tokens": 100}}\n{many}\n```')).text) < 1_000
    ran = await place.run(f'// @exec: {{"max_output_tokens": 10000}}\n{many}', max_output_chars=500)
    assert len(ran.text) < 1_000  # the argument is the plainer word
    for line in (
        "// @exec: {",
        '// @exec: {"max_output_tokens": "many"}',
        '// @exec: {"max_output_tokens": -1}',
    ):
        assert 20_000 < len((await place.run(f"{line}\n{many}")).text) < 21_000, line


async def test_ids_of_calls_are_made_of_the_programs_id_and_a_number(place: Workplace) -> None:
    place.tool("Read", read)
    await place.run("await tools.Read({file_path: 'f1.txt'}); await tools.Read({file_path: 'f2.txt'})")
    assert [(call.id, call.parent, str(call.origin), call.turn) for call in place.calls] == [
        ("p1_1", "p1", "program", 1),
        ("p1_2", "p1", "program", 1),
    ]


@pytest.mark.parametrize("amount", [2000])
async def test_thousands_of_calls_in_a_row_are_no_trouble(place: Workplace, amount: int) -> None:
    place.limits = place.limits.__class__(cpu=5, calls=amount)
    place.tool("Read", lambda _: "x")
    ran = await place.run(
        f"let n = 0;\nfor (let i = 0; i < {amount}; i++) n += (await tools.Read({{i}})).value.length;\nn"
    )
    assert ran.value == str(amount)
