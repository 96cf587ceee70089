"""Programs that never end, eat memory or tamper with the language: each ends with its reason, the next one runs."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcode.run_code.limits import Limits
from tests.heart import heart
from tests.run_code.workplace import QUICK

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from tests.run_code.workplace import Ran, Workplace

MEGA = 1024 * 1024


def peak_of_this_process() -> int:
    """Bytes of memory that the test's own process has held at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


async def ends(place: Workplace, code: str, *statuses: str) -> Ran:
    """Run a program that must end in one of these ways, soon, and the next one after it."""
    ran = await asyncio.wait_for(place.run(code), 60)
    assert ran.status in statuses, (code, ran.text)
    assert ran.audit[-1]["cpu_ms"] <= 1000 * (QUICK.cpu + QUICK.cpu_grace) + 500
    assert "internal error" not in ran.text
    return ran


SPINNING = (
    "while (true) {}",
    "while (true) { try { while (true) {} } catch {} finally { continue } }",
    "while (true) await null",
    "await Promise.all([1, 2].map(async () => { while (true) await null }))",
    "Error.prototype.toString = Object.prototype.toString = () => { while (true); }; while (true) {}",
    "(function* () { while (true) yield })().next(); [...(function* () { while (true) yield 1 })()]",
)


async def test_23_a_program_that_spins_ends_at_the_cpu_limit_and_the_next_one_runs(place: Workplace) -> None:
    for code in SPINNING:
        ran = await ends(place, code, "cpu_limit", "memory_limit")
        assert "limit of 0.15 s of CPU time" in ran.text or "limit of 48 MB of memory" in ran.text
    assert (await place.run("1 + 1")).value == "2"


async def test_23_what_was_logged_before_the_limit_is_shown(place: Workplace) -> None:
    ran = await ends(place, "console.log('step 1'); store('k', 1); while (true) {}", "cpu_limit")
    assert "Console:\nstep 1" in ran.text
    assert (await place.run("load('k')")).value == "1"


@pytest.mark.parametrize(
    "code", ["/^(a+)+$/.test('a'.repeat(40) + '!')", "'a'.repeat(3e6).indexOf('a'.repeat(1e6) + 'b')"]
)
async def test_24_built_ins_that_never_end_are_killed_and_the_loop_goes_on(
    place: Workplace, code: str
) -> None:
    async with heart(0.005) as beats:
        ran = await ends(place, code, "cpu_limit")
    assert "CPU time" in ran.text
    assert len(beats) > 4
    assert sorted(beats)[len(beats) // 2] < 0.05


EATING = (
    "const a = []; while (true) a.push(new Array(1000).fill(a.length))",
    "const a = []; while (true) a.push('x'.repeat(100000) + a.length)",
    "'x'.repeat(1e9)",
    "'x'.repeat(1 << 29)",
    "new ArrayBuffer(1e12)",
    "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; a",
    "const all = []; for (let i = 0; i < 1e6; i++) all.push(new Promise(() => {})); await Promise.all(all)",
)


async def test_25_memory_that_runs_out_ends_the_program_and_costs_the_agent_nothing(place: Workplace) -> None:
    place.limits = replace(QUICK, cpu=2.0)
    await place.run("1")
    before = peak_of_this_process()
    for code in EATING:
        ran = await asyncio.wait_for(place.run(code), 30)
        assert ran.status in {"memory_limit", "exception", "cpu_limit"}, (code, ran.text)
    assert peak_of_this_process() - before < 64 * MEGA
    assert (await place.run("1 + 1")).value == "2"


DEEP = (
    "(function f() { f() })()",
    "const f = async () => { await f() }; await f()",
    "const f = () => [1].map(f); f()",
    "JSON.parse('['.repeat(1e6))",
    "eval('('.repeat(1e5) + ')'.repeat(1e5))",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = {o}; JSON.stringify(o)",
    "(" * 20_000 + ")" * 20_000,
    "new Proxy({}, {get(t, k, r) { return r[k] }}).x",
)


async def test_26_depth_without_end_is_an_error_of_the_program(place: Workplace) -> None:
    for code in DEEP:
        ran = await asyncio.wait_for(place.run(code), 30)
        assert ran.status in {"exception", "syntax", "cpu_limit", "memory_limit", "worker_died"}, (
            code,
            ran.text,
        )
    assert (await place.run("1 + 1")).value == "2"


THROWN = {
    "throw null": ("exception", "The program threw a value: null"),
    "throw undefined": ("exception", "The program threw a value: undefined"),
    "throw Symbol('mark')": ("exception", "Symbol(mark)"),
    "throw {code: 5}": ("exception", '{"code":5}'),
    "throw 'plain text'": ("exception", "plain text"),
    "throw {toString() { throw 1 }, toJSON() { throw 2 }}": ("exception", "The program threw a value"),
    "throw {toJSON() { while (true); }}": ("cpu_limit", "CPU time"),
    "const e = new Error('m'); Object.defineProperty(e, 'stack', {get() { while (true); }}); throw e": (
        "cpu_limit",
        "CPU time",
    ),
    "const e = new Error('m'); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e": (
        "exception",
        "Error: ",
    ),
    "return {toJSON() { while (true); }}": ("cpu_limit", "CPU time"),
    "return {toJSON() { throw new Error('unshowable') }}": (
        "exception",
        "the result cannot be shown: unshowable",
    ),
    "return new Proxy({}, {ownKeys() { throw new Error('trap') }})": ("exception", "trap"),
    "return new Proxy([], {get() { throw new Error('trap') }})": ("exception", "trap"),
    "throw new Proxy(new Error('x'), {get() { throw 1 }, getPrototypeOf() { throw 2 }})": (
        "exception",
        "threw",
    ),
    "Error.prepareStackTrace = () => { while (true); }; throw new Error('x')": ("cpu_limit", "CPU time"),
    "await Promise.reject(new TypeError('async'))": ("exception", "TypeError: async"),
    "await {then(_, no) { no(5) }}": ("exception", "threw a value: 5"),
    "await {get then() { throw new Error('then') }}": ("exception", "Error: then"),
}


async def test_27_whatever_is_thrown_or_returned_is_described(place: Workplace) -> None:
    for code, (status, words) in THROWN.items():
        ran = await ends(place, code, status)
        assert words in ran.text, code


TAMPERING = (
    "JSON.stringify = () => 'rubbish'; JSON.parse = () => ({})",
    "Array.prototype.join = () => '[[[';  Array.prototype.push = () => 0; Array.isArray = () => true",
    "Promise.prototype.then = () => 5; Promise.resolve = () => 6",
    "Object.prototype.toJSON = () => 'rubbish'; String.prototype.toJSON = () => 'rubbish'",
    "Object.defineProperty(Array.prototype, '0', {set() {}, get() { return 'x' }})",
    "Object.prototype.then = undefined; Reflect.apply = null; String.prototype.slice = () => '\"'",
    "Array.prototype[Symbol.iterator] = function* () { yield 'no' }",
    "RegExp.prototype.exec = () => null; String.prototype.indexOf = () => 0; Map.prototype.get = () => 1",
    "Error.stackTraceLimit = 0; globalThis.Promise = undefined; globalThis.JSON = 5; globalThis.tools = tools",
    "Object.create = Object.defineProperty = Object.keys = () => { throw 1 }",
)


async def test_28_changes_to_the_language_reach_neither_calls_nor_the_agent(place: Workplace) -> None:
    place.tool("Write", lambda arguments: {"got": arguments}, reads=False)
    for tampering in TAMPERING:
        code = (
            f"{tampering};\nconst r = await tools.Write({{a: 1}});\nconsole.log('x');\nreturn r.value.got.a"
        )
        ran = await asyncio.wait_for(place.run(code), 30)
        call = place.calls[-1]
        if "toJSON" in tampering:  # then the argument is no object any more, and the gate hears of it
            assert (call.arguments, call.fault) == ({}, "expected one object argument")
        else:
            assert (call.arguments, call.fault) == ({"a": 1}, None), tampering
        assert [(each["tool"], each["index"]) for each in ran.calls] == [("Write", 1)], tampering
        assert ran.status in {"ok", "stalled", "exception"}, (tampering, ran.text)
        if ran.status == "ok":
            assert ran.text == "ok: 1 call\n\n1\n\nConsole:\nx", (tampering, ran.text)
    assert len(place.calls) == len(TAMPERING)
    assert (await place.run("1 + 1")).value == "2"


async def test_29_calls_without_end_reach_the_road_only_up_to_the_limit(place: Workplace) -> None:
    place.limits = replace(QUICK, calls=20, cpu=1.0)
    place.tool("Bash", lambda _: "x", reads=False)
    for code in (
        "while (true) tools.Bash({command: 'true'})",
        "while (true) await tools.Bash({command: 'true'})",
        "while (true) { try { tools.Bash({}) } catch {} }",
    ):
        before = len(place.calls)
        ran = await ends(place, code, "call_limit", "cpu_limit")
        assert len(place.calls) - before <= 20
        assert len(ran.calls) <= 20
    ran = await place.run(
        "let r; for (let i = 0; i < 25; i++) r = await tools.Bash({}); return [r.ok, r.error.kind]"
    )
    assert ran.value == '[false,"call_limit"]'
    assert len(ran.calls) == 20


async def test_29_a_log_without_end_is_capped(place: Workplace) -> None:
    place.limits = replace(QUICK, log=5000, log_shown=1000)
    ran = await ends(place, "while (true) console.log('again and again')", "cpu_limit")
    assert ran.audit[-1]["chars_logged"] <= 5000
    assert "The console was cut off at 5,000 characters" in ran.text
    assert len(ran.text) < 2000


async def test_r_03_many_pending_promises_and_timers_end_with_a_reason(place: Workplace) -> None:
    ran = await ends(
        place, "for (let i = 0; ; i++) setTimeout(() => {}, i)", "cpu_limit", "exception", "memory_limit"
    )
    assert ran.text
    ran = await place.run("await new Promise(() => {})")
    assert ran.status == "stalled"
    assert "no call is open and no timer is set" in ran.text


async def test_r_03_a_million_pending_promises_end_with_a_reason_under_the_limits_that_users_have(
    place: Workplace,
) -> None:
    place.limits = Limits()
    ran = await asyncio.wait_for(
        place.run(
            "const all = [];\nfor (let i = 0; i < 1e6; i++) all.push(new Promise(() => {}));\nawait Promise.all(all)"
        ),
        60,
    )
    assert ran.status in {"stalled", "memory_limit"}, ran.text
    assert ran.audit[-1]["cpu_ms"] < 1000 * (place.limits.cpu + 1)


async def test_r_03_a_program_at_its_limit_says_which_calls_are_done_and_which_never_began(
    place: Workplace,
) -> None:
    async def slow(_: JsonObject) -> str:
        await asyncio.sleep(30)
        return "never"

    place.tool("Write", lambda _: "written", reads=False)
    place.tool("Bash", slow, reads=False)
    ran = await ends(
        place,
        "await tools.Write({file_path: 'a'});\n"
        "tools.Bash({command: 'one'});\n"
        "tools.Bash({command: 'two'});\n"
        "await sleep(20);\n"
        "while (true) {}",
        "cpu_limit",
    )
    assert ran.text.startswith("failed (cpu_limit): 3 calls, 1 cancelled, 1 not started")
    assert "limit of 0.15 s of CPU time" in ran.text
    assert '- Write {"file_path":"a"} (call 1, line 1): done' in ran.text
    assert '- Bash {"command":"one"} (call 2, line 2): cancelled, and may have had effects' in ran.text
    assert 'never started:\n- Bash {"command":"two"} (call 3, line 3)' in ran.text


async def test_a_result_without_measure_is_refused_as_too_large(place: Workplace) -> None:
    place.limits = replace(QUICK, result=50_000)
    for code in ("'x'.repeat(60_000)", "for (let i = 0; i < 9; i++) text('x'.repeat(9_000))"):
        ran = await ends(place, code, "too_large")
        assert "50,000 are taken at most" in ran.text
    place.limits = QUICK
    ran = await place.run("// " + "x" * 300_000)
    assert ran.status == "too_large"
    assert "262,144 are taken at most" in ran.text


async def test_words_of_a_worker_that_lies_are_no_danger(place: Workplace) -> None:
    """The prelude cannot be reached by a program; here its queue is fed with what is no event of ours."""
    place.tool("Write", lambda _: "x", reads=False)
    ran = await place.run(
        'console.log(\'"],["call",1,"Write","{}",1,""],["\');\nreturn \'"]]},{"end":["","",0,0]}\''
    )
    assert place.calls == []
    assert ran.status == "ok"
    assert json.loads(json.dumps(ran.audit[-1]))["calls"] == {}


@pytest.mark.skipif(sys.platform != "linux", reason="the checker reads /proc")
async def test_the_spare_of_a_killed_program_is_fresh(place: Workplace) -> None:
    await ends(place, "globalThis.leaked = 1; Array.prototype.leaked = 2; while (true) {}", "cpu_limit")
    leaked: Any = (await place.run("[typeof globalThis.leaked, typeof [].leaked]")).value
    assert leaked == '["undefined","undefined"]'


async def test_what_a_program_leaves_behind_does_not_spoil_its_end(place: Workplace) -> None:
    for ending in ("return 5", "exit(5)"):
        ran = await place.run(f"(async () => {{ while (true) await null }})();\n{ending}")
        assert ran.value == "5"
        assert ran.audit[-1]["cpu_ms"] < 100


async def test_a_flood_of_empty_lines_leaves_the_loop_to_others(place: Workplace) -> None:
    place.limits = replace(QUICK, cpu=1.0)
    async with heart() as beats:
        ran = await place.run("for (let n = 0; n < 100_000; n++) console.log(); return 'through'")
    assert "through" in ran.text
    assert sorted(beats)[int(len(beats) * 0.9)] < 0.1
