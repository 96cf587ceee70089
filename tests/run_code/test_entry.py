"""How a text becomes a program: its entry, its last expression, and where its errors are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.run_code.program_text import ProgramText

if TYPE_CHECKING:
    from tests.run_code.workplace import Workplace

LAST_EXPRESSIONS = {
    "1 + 1": "2",
    "const a = 2;\na * 3": "6",
    "const a = 2\na * 3;": "6",
    "const a = 2; a * 3 // and; so": "6",
    "const a = 2;\na * 3\n// the end\n": "6",
    "const list = [3, 1];\nlist\n.map(n => n * 2)\n.join('+')": "6+2",
    "const list = [3, 1];\nlist\n  .filter(n => n > 1)\n  .length": "1",
    "const n = 4\nn > 3\n? 'more'\n: 'less'": "more",
    "const a = 1;\n[a, 2]": "[1,2]",
    "const a = 1;\n({a})": '{"a":1}',
    "{a: 1, b: 2}": '{"a":1,"b":2}',
    "`line\nbreak; here`": "line\nbreak; here",
    "let x = 'a; b'\nx": "a; b",
    "const f = (n) => {\n  return n;\n};\nf(5)": "5",
    "let n = 0;\nfor (const i of [1, 2]) { n += i }\nn": "3",
    "let n = 0;\nif (n === 0)\nn = 7\nn": "7",
    "await Promise.resolve(9)": "9",
    "(async () => { return 8 })()": "8",
    "async () => { return 5 }": "5",
    "async function main() { return 4 }": "4",
    "const main = async () => 3": "3",
    "const size = 2;\nasync function main() { return size }": "2",
    "const r = 1;\nreturn r": "1",
    "if (true) { return 'early' }\n'late'": "early",
    "'\\u00e9' + \"\\u{1F600}\"": "é😀",
}


async def test_03_04_05_the_last_expression_is_the_value_of_a_program(place: Workplace) -> None:
    got = {code: (await place.run(code)).value for code in LAST_EXPRESSIONS}
    assert got == LAST_EXPRESSIONS


async def test_06_programs_without_a_value_say_ok_and_show_the_log(place: Workplace) -> None:
    ran = await place.run("console.log('seen', {a: [1]}); console.error('bad')")
    assert ran.text == 'ok: no calls\n\nConsole:\nseen {"a":[1]}\nbad'
    assert (await place.run("let a = 1; if (a) { a = 2 }")).text == "ok: no calls"
    assert (await place.run("function helper(n) { return n }\nlet used = helper(1)")).text == "ok: no calls"


async def test_a_helper_at_the_end_is_not_called(place: Workplace) -> None:
    place.tool("Count", lambda _: 1)
    ran = await place.run("await run();\nasync function run() { await tools.Count({}) }")
    assert ran.status == "ok"
    assert len(ran.calls) == 1


async def test_05_a_function_as_the_value_is_called_once_and_a_returned_one_is_named(
    place: Workplace,
) -> None:
    place.tool("Count", lambda _: 1)
    ran = await place.run("async () => { await tools.Count({}); return () => 1 }")
    assert (ran.value, len(ran.calls)) == ("[function anonymous]", 1)
    assert (await place.run("return function named() {}")).value == "[function named]"
    assert (await place.run("class Shape {}\nShape")).value == "[function Shape]"


AROUND = ("```js\n{}\n```", "\n```javascript\n{}\n```\n", "```\n{}```", "\ufeff{}")


async def test_a_fence_or_a_byte_order_mark_around_a_program_is_taken_off(place: Workplace) -> None:
    for around in AROUND:
        code = around.replace("{}", "const a = 1;\na + boom")
        ran = await place.run(code)
        assert "ReferenceError: boom is not defined" in ran.text, code
        line = next(number for number, text in enumerate(code.split("\n"), 1) if "boom" in text)
        assert f"at line {line}, column 5:" in ran.text


CLOSING = (
    "}); globalThis.leaked = 1; (async function () {",
    "}, globalThis.leaked = function () {",
    "} in\nfunction () {",
    "}\n[globalThis.leaked] = function () {",
    "} : 0); globalThis.leaked = 1; (0 ? async () => {",
    "}}); globalThis.leaked = 1; (function () { return async () => {",
    "}",
)


async def test_text_that_closes_the_wrapper_is_a_syntax_error(place: Workplace) -> None:
    for code in CLOSING:
        ran = await place.run(code)
        assert ran.status == "syntax", code
        assert "nothing of the program ran" in ran.text


async def test_places_of_errors_are_those_of_the_models_own_text(place: Workplace) -> None:
    cases = {
        "const a = 1;\nlet b = ;\n": (2, 9, "syntax"),
        "const a = 1;\n  a.b.c;\na": (2, 3, "exception"),
        "const r = 1; undefinedName": (1, 14, "exception"),
        "'x';\n\nconst o = {};\nawait null;\no.missing()": (5, 3, "exception"),
        "// 😀\nconst s = '😀'; boom()": (2, 16, "exception"),
        "const s = '漢é';\n'é漢'; s.a.b": (2, 7, "exception"),
        "let 😀 = 1": (1, 5, "syntax"),
        "for (const x of [1]) {\n  must({ok: false, error: {kind: 'k', message: 'm'}});\n}": (
            2,
            3,
            "exception",
        ),
    }
    for code, (line, column, status) in cases.items():
        ran = await place.run(code)
        assert ran.status == status, (code, ran.text)
        source = code.split("\n")[line - 1]
        shown = f"at line {line}, column {column}:\n  {line} | {source}\n"
        assert shown in ran.text, (code, ran.text)
        caret = ran.text.split(shown)[1].split("\n")[0]
        assert caret == " " * (2 + len(f"{line} | ") + column - 1) + "^", (code, ran.text)


async def test_an_error_tells_from_where_its_function_was_called(place: Workplace) -> None:
    ran = await place.run(
        "function inner() {\n  throw new RangeError('deep');\n}\nfunction outer() { inner() }\nouter()"
    )
    assert "RangeError: deep" in ran.text
    assert "at line 2, column 13:" in ran.text
    assert "called from line 4, column 20 (outer)" in ran.text
    assert "called from line 5, column 1" in ran.text
    assert "10000" not in ran.text


async def test_a_text_that_ends_too_early_is_called_that(place: Workplace) -> None:
    for code in ("foo(1, [", "const s = {\n  a: 1,\n", "if (true) {\n  x();"):
        ran = await place.run(code)
        last = code.rstrip().count("\n") + 1
        assert f"The text ends too early, after line {last}" in ran.text


TYPESCRIPT = (
    "const names: string[] = [];",
    "interface Row { a: number }\nconst r = 1;",
    "function f(a: string, b?: number) { return a }",
    "const f = async (x): Promise<void> => {}",
    "const x = y as any;",
)


async def test_typescript_is_named_as_such(place: Workplace) -> None:
    for code in TYPESCRIPT:
        ran = await place.run(code)
        assert ran.status == "syntax", code
        assert "plain JavaScript: leave the TypeScript types out" in ran.text, code


async def test_what_is_absent_is_answered_with_what_there_is(place: Workplace) -> None:
    hints = {
        "require('fs')": "there are no modules",
        "const fs = await import('fs')": "there are no modules",
        "import fs from 'fs';": "There are no modules",
        "process.env.HOME": "no process or environment",
        "fs.readFileSync('x')": "use tools.Read",
        "await fetch('x')": "no network of their own",
        "Buffer.from('x')": "no Buffer",
        "new Intl.NumberFormat()": "no Intl",
        "new TextEncoder()": "no TextEncoder",
        "new URL('x')": "no URL class",
        "structuredClone(new Map())": "is Map(0), which JSON cannot carry",
    }
    for code, hint in hints.items():
        assert hint in (await place.run(code)).text, code
    assert (await place.run("structuredClone({a: [1]}).a")).value == "[1]"


async def test_shell_text_gets_the_form_that_runs_it(place: Workplace) -> None:
    for line in ("ls -la", "git log --oneline | head -3", 'grep -rn "TODO" src'):
        ran = await place.run(line)
        assert "This is a shell command" in ran.text, ran.text
        assert "return await tools.Bash({command: " in ran.text
    assert "shell" not in (await place.run("find.everything()")).text


async def test_a_quoting_mistake_in_a_command_line_gets_the_tag_as_a_hint(place: Workplace) -> None:
    ran = await place.run('await tools.Bash({command: "grep "x" file"})')
    assert ran.status == "syntax"
    assert "sh`grep -n ${text} ${file}`" in ran.text


def test_a_title_is_the_first_comment_or_the_beginning() -> None:
    assert ProgramText("// Count the lines\nreturn 1").title == "Count the lines"
    assert ProgramText("/* Two\n   lines */ return 1").title == "Two lines"
    assert ProgramText("```js\n// In a fence\n```").title == "In a fence"
    assert ProgramText('// @exec: {"max_output_tokens": 9}\n// Count\nreturn 1').title == "Count"
    assert ProgramText("return " + "x" * 100).title == "return " + "x" * 53 + "…"
