"""What crosses between a program and the agent: only JSON text, and each odd value has a laid down result."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcode.run_code.bigjson import encode, is_small
from tests.heart import heart
from tests.run_code.workplace import QUICK

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from tests.run_code.workplace import Workplace

ARGUMENTS: dict[str, Any] = {
    r"{s: 'nul\0in'}": {"s": "nul\0in"},
    r"{s: 'lines\u2028and\u2029'}": {"s": "lines\u2028and\u2029"},
    "{s: 'emoji 😀 é'}": {"s": "emoji 😀 é"},
    "{n: 2 ** 53 + 1}": {"n": 2**53},
    "{n: -0, m: 1e21, k: 0.1}": {"n": 0, "m": 1e21, "k": 0.1},
    "{d: new Date(0)}": {"d": "1970-01-01T00:00:00.000Z"},
    "{u: undefined, list: [undefined, 1]}": {"list": [None, 1]},
    'JSON.parse(\'{"__proto__": {"a": 1}, "constructor": 2}\')': {"__proto__": {"a": 1}, "constructor": 2},
    "{s: 'a'.repeat(5000) + 'b'.repeat(5000)}": {"s": "a" * 5000 + "b" * 5000},
    "Object.fromEntries([['k'.repeat(5000) + 'l'.repeat(5000), 1]])": {"k" * 5000 + "l" * 5000: 1},
}

REFUSED = {
    "{n: 10n}": "`n` is 10n, which JSON cannot carry",
    "{n: NaN}": "`n` is NaN, which JSON cannot carry",
    "{n: [1, Infinity]}": "`1` is Infinity, which JSON cannot carry",
    "{f() {}}": "`f` is [function f], which JSON cannot carry",
    "{m: new Map([[1, 2]])}": "`m` is Map(1), which JSON cannot carry",
    "{b: new Uint8Array(3)}": "`b` is Uint8Array(3), which JSON cannot carry",
    r"{s: '\ud800'}": "`s` holds half of a surrogate pair",
    "{p: Promise.resolve(1)}": "`p` is a promise; await it first",
    "{r: await tools.Echo({})}": "`r` is the result object of a call; pass its .value",
    "(() => { const o = {}; o.o = o; return o })()": "circular",
    "{get x() { throw new Error('getter') }}": "getter",
    "{toJSON() { return 5 }}": "expected one object argument",
    "{s: 'x'.repeat(5e6)}": "the arguments have 5000008 characters; at most 4194304 are taken",
    "(() => { let a = {}; for (let i = 0; i < 101; i++) a = {a}; return a })()": "nested deeper than 100 levels",
}


async def test_r_04_arguments_arrive_as_json_means_them(place: Workplace) -> None:
    place.tool("Echo", lambda arguments: arguments)
    code = "".join(f"await tools.Echo({argument});\n" for argument in ARGUMENTS)
    ran = await place.run(f"{code}return 'sent'")
    assert ran.value == "sent"
    assert [call.arguments for call in place.calls] == list(ARGUMENTS.values())


async def test_r_04_what_json_cannot_carry_is_an_error_value_that_says_why(place: Workplace) -> None:
    place.limits = replace(QUICK, cpu=2.0)
    place.tool("Echo", lambda arguments: arguments)
    listed = ", ".join(f"() => tools.Echo({argument})" for argument in REFUSED).replace(
        "() => tools.Echo({r:", "async () => tools.Echo({r:"
    )
    ran = await place.run(
        f"const out = [];\nfor (const send of [{listed}]) out.push((await send()).error);\n"
        "out.map(e => [e.kind, e.message])"
    )
    got = json.loads(ran.value)
    assert [kind for kind, _ in got] == ["invalid_args"] * len(REFUSED)
    for (_, message), (argument, why) in zip(got, REFUSED.items(), strict=True):
        assert why in message, (argument, message)


async def test_r_04_results_of_tools_arrive_with_every_digit_and_character(place: Workplace) -> None:
    sent: JsonObject = {
        "big": 2**53 + 1,
        "safe": 2**53 - 1,
        "negative": -(2**60),
        "nan": float("nan"),
        "text": "nul\0 half \ud800 \u2028 😀",
        "__proto__": {"polluted": True},
        "nested": [[[{"deep": [None, True, 1.5]}]]],
    }
    place.tool("Get", lambda _: sent)
    ran = await place.run(
        "const {value: v} = await tools.Get({});\n"
        "return [v.big, v.safe, v.negative, v.nan, v.text === 'nul\\0 half \\ud800 \\u2028 😀',\n"
        "  Object.keys(v).includes('__proto__'), ({}).polluted === undefined, v.nested[0][0][0].deep[2]]"
    )
    assert json.loads(ran.value) == [
        "9007199254740993",
        2**53 - 1,
        str(-(2**60)),
        "nan",
        True,
        True,
        True,
        1.5,
    ]


SHOWN = {
    "[1, 'a', null, true]": '[1,"a",null,true]',
    "({f() {}, m: new Map([[1, 2]]), s: new Set([1]), n: NaN, b: 5n})": (
        '{"f":"[function f]","m":"Map(1)","s":"Set(1)","n":"NaN","b":"5n"}'
    ),
    "10n ** 20n": "100000000000000000000n",
    "Symbol('x')": "Symbol(x)",
    "/a+/gi": "/a+/gi",
    "new Error('kept')": "Error: kept",
    "new Date(0)": '"1970-01-01T00:00:00.000Z"',
    "[undefined, -0, 2 ** 53 + 1]": "[null,0,9007199254740992]",
    "const o = {name: 'x'}; o.self = o; o.list = [o]; o": '{"name":"x","self":"[circular]","list":["[circular]"]}',
    "const shared = {a: 1}; [shared, shared]": '[{"a":1},{"a":1}]',
    "'half \\ud800 and nul \\0.'": "half ? and nul \0.",
    "'a'.repeat(6000) + 'b'.repeat(6000)": "a" * 6000 + "b" * 6000,
    "null": "null",
    "''": "",
    "[new Uint8Array(4), new ArrayBuffer(8), new WeakMap()]": '["Uint8Array(4)","ArrayBuffer(8)","[WeakMap]"]',
}


async def test_results_are_shown_whatever_they_are(place: Workplace) -> None:
    for code, expected in SHOWN.items():
        ran = await place.run(code)
        assert ran.status == "ok", (code, ran.text)
        shown = ran.text.removeprefix("ok: no calls").removeprefix("\n\n")
        assert shown.split("\n\nA Map or Set is only named")[0] == expected


async def test_results_of_calls_are_shown_without_their_text(place: Workplace) -> None:
    place.tool("Get", lambda _: {"a": 1})
    place.tool("Say", lambda _: "words")
    ran = await place.run("return [await tools.Get({}), await tools.Say({})]")
    assert ran.value == '[{"ok":true,"value":{"a":1}},{"ok":true,"value":"words"}]'
    ran = await place.run("const {ok, value, text} = await tools.Get({}); return {ok, value, text}")
    assert ran.value == '{"ok":true,"value":{"a":1},"text":"the text"}'


async def test_notes_say_what_was_only_named(place: Workplace) -> None:
    ran = await place.run("return {m: new Map(), p: [Promise.resolve(1)]}")
    assert "return Object.fromEntries(map) or [...set]" in ran.text
    assert "use `await Promise.all(list)`" in ran.text


async def test_long_strings_built_by_adding_cross_in_every_field(place: Workplace) -> None:
    place.tool("Echo", lambda arguments: arguments)
    long = "('x'.repeat(5000) + 'y'.repeat(5000))"
    expected = "x" * 5000 + "y" * 5000
    ran = await place.run(
        f"console.log({long}); text({long}); store({long}.slice(0, 100) + 'k', {long}); throw new Error({long})"
    )
    assert ran.status == "exception"
    assert expected[:8000] in ran.text
    ran = await place.run(f"const r = await tools[{long}]({{}})")
    assert "there is no tool called" in ran.text
    ran = await place.run(f"throw {long}")
    assert expected[:8000] in ran.text
    ran = await place.run(f"load({long}.slice(0, 100) + 'k') === {long}")
    assert ran.value == "true"


async def test_ten_megabytes_go_in_and_one_kilobyte_comes_out_without_stopping_the_loop(
    place: Workplace,
) -> None:
    rows = [{"id": n, "name": f"person {n}", "note": "x" * 400} for n in range(24_000)]
    place.limits = replace(QUICK, cpu=5.0, memory=256 * 1024 * 1024)
    place.tool("List", lambda _: rows)
    async with heart() as beats:
        ran = await place.run(
            "const {value} = await tools.List({});\n"
            "return value.filter(p => p.id % 1000 === 7).map(p => p.name)"
        )
    assert len(json.loads(ran.value)) == 24
    assert ran.audit[-1]["bytes_in"] > 10_000_000
    assert sorted(beats)[int(len(beats) * 0.9)] < 0.05


async def test_ten_megabytes_come_out_into_a_file(place: Workplace) -> None:
    place.limits = replace(QUICK, cpu=5.0, memory=256 * 1024 * 1024)
    ran = await place.run("return 'line of text\\n'.repeat(800_000)")
    assert len(ran.text) < 25_000
    path = ran.text.split("the whole text is in ")[1].split(" …]")[0]
    with open(path, encoding="utf-8") as file:
        assert file.read() == "line of text\n" * 800_000


async def test_a_result_over_the_limit_is_refused_and_the_call_named_as_done(place: Workplace) -> None:
    place.limits = replace(QUICK, call_result=10_000)
    place.tool("Get", lambda _: "x" * 20_000, reads=False)
    ran = await place.run("const r = await tools.Get({}); throw new Error(r.error.kind)")
    assert "Error: too_large" in ran.text
    assert "Get ran, but its result has 20,0" in ran.text
    assert "- Get {} (call 1, line 1): done" in ran.text


def test_large_values_are_written_in_parts_and_mean_the_same() -> None:
    values: list[Any] = [
        {"rows": [{"n": n, "t": "é" * (n % 50)} for n in range(5_000)], "long": 'a"\\\n' * 50_000},
        [[n] * (n % 7) for n in range(10_000)],
        ["x" * 100_000, 1, 2, ["y" * 100_000], {}],
        {f"key {n}": [n] for n in range(9_000)},
        [],
        {},
    ]
    for value in values:
        assert json.loads(encode(value)) == value
    assert not is_small(values[0])
    assert is_small({"a": [1, 2, {"b": "c"}]})
    assert json.loads(encode({"half": "\ud800", "path": object})) == {"half": "\ud800", "path": str(object)}
