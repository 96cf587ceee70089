"""Reading a line for letting it run: what is plain, and what it is rendered as."""

from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.permissions.shell import tree
from mcode.permissions.shell.reading import COMMAND_LIMIT, LENGTH_LIMIT, Form, read_shell, render
from mcode.permissions.shell.words import Word

HIDDEN = "\0\x08\x0b\x0c\r\x1b\x7f\x85\xa0\u1680\u2003\u200b\u200f\u2028\u202e\u205f\u2066\u3000\ufeff\ufffd"


def form(line: str) -> str:
    return str(read_shell(line).form)


def argv(line: str) -> list[list[str]]:
    return [[word.value for word in command.words] for command in read_shell(line).commands]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  \t\n",
        "ls " + "x" * LENGTH_LIMIT,
        *(f"ls a{letter}b" for letter in HIDDEN),
        "ls \ud800",
        "ls \u0378",
        "ls \U000e0041",
    ],
)
def test_p_03_some_text_is_not_even_parsed(line: str) -> None:
    reading = read_shell(line)
    assert reading.form is Form.UNPARSEABLE
    assert reading.why


def test_p_03_the_reason_names_the_character_or_the_limit() -> None:
    assert read_shell("ls\rrm x").why == "it contains the control or invisible character U+000D"
    assert str(LENGTH_LIMIT) in read_shell("x" * (LENGTH_LIMIT + 1)).why


NOT_PLAIN = (
    "ls;;",
    "ls & pwd",
    "ls |& wc",
    "! ls",
    "ls $",
    "a\\ b",
    "ls a\\ b",
    "ls {a,b}",
    "a=1",
    "a=1 ls",
    "ls (a)",
    "((1))",
    "ls 'a",
    "ls && ",
    "&& ls",
    "| ls",
    "ls | | wc",
    "; ls",
    "ls ; ; pwd",
    "ls 'a'\\''b'",
    "time ls",
    "if true; then ls; fi",
    "ls <(pwd)",
    "ls $(pwd)",
    "ls `pwd`",
    "[ -f x ]",
    "[[ -f x ]]",
    "ls [a]",
    "ls a!b",
    'ls "a!b"',
    'ls "$x"',
    'ls "\\a"',
    "ls $'a'",
    'ls $"a"',
    "ls ~",
    "ls ~/x",
    "ls a=~/x",
    "ls x:~/y",
    "ls\\\n-l",
    "l\\\ns",
    "ls > *",
    "ls 2>PWN>/dev/null",
    "f() { ls; }",
    "declare x=1",
    "export x=1",
    "ls a*'b'",
    "ls 'a'*",
    "ls -*",
    "l's'",
    '"ls"',
    "l*",
    "x=y=z ls",
    "NODE_ENV=$x ls",
)


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_p_04_p_05_what_is_not_literal_is_not_plain(line: str) -> None:
    assert read_shell(line).form is not Form.PLAIN


@pytest.mark.parametrize(
    ("line", "rendering"),
    [
        ("ls\t  -l ;", "ls -l"),
        ("ls\n\npwd\n", "ls; pwd"),
        ("ls &&\n  pwd", "ls && pwd"),
        ("a|b||c&&d;e", "a | b || c && d; e"),
        ("ls \\\n  -la", "ls -la"),
        ("echo 'a'\"b\"c", "echo abc"),
        ("echo 'a b'\"c\"", "echo 'a bc'"),
        ('echo "it\'s"', 'echo "it\'s"'),
        ("echo '' \"\"", "echo '' \"\""),
        ("echo 'a;b' \"a && b\"", "echo 'a;b' \"a && b\""),
        ("echo a # b c", "echo a"),
        ("ls *.py a?c", "ls ./*.py a?c"),
        ("ls src/*.py", "ls src/*.py"),
        ("ls 2> /dev/null 2>&1", "ls 2>/dev/null 2>&1"),
        ("ls &>/dev/null | wc", "ls &>/dev/null | wc"),
        (">/dev/null ls", "ls >/dev/null"),
        ("NODE_ENV='a b' CI=1 npm test", "NODE_ENV='a b' CI=1 npm test"),
        ("echo HEAD~1 a@b %c +d ,e ^f -", "echo HEAD~1 a@b %c +d ,e ^f -"),
        ("cat naïve.txt", "cat 'naïve.txt'"),
    ],
)
def test_p_09_a_plain_line_is_rendered_from_its_words(line: str, rendering: str) -> None:
    reading = read_shell(line)
    assert reading.form is Form.PLAIN, reading.why
    assert render(reading.commands) == rendering
    assert argv(rendering) == argv(line.replace("*.py a?c", "./*.py a?c"))


def test_p_04_at_most_fifty_commands() -> None:
    assert form("; ".join(["a"] * COMMAND_LIMIT)) == "plain"
    over = read_shell("; ".join(["a"] * (COMMAND_LIMIT + 1)))
    assert (over.form, over.over_limit) == (Form.UNPARSEABLE, True)
    assert str(COMMAND_LIMIT) in over.why


@pytest.mark.parametrize(
    "line", ["a=(" * 3000, "${" * 4900, "<<a " * 2400, '"' * 9999, "$(" * 4999, "a;" * 4999]
)
def test_p_10_6_parsing_ends_in_time_and_the_limit_switches_nothing_off(line: str) -> None:
    began = time.process_time()
    assert form(line) != "plain"
    assert time.process_time() - began < 2


def test_p_10_6_after_a_line_that_took_too_long_the_next_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "TIME_LIMIT", -1.0)
    late = read_shell("echo " + "'late' " * 1000)
    monkeypatch.undo()
    assert late.over_limit or late.form is Form.PLAIN
    assert argv("echo next one") == [["echo", "next", "one"]]


WORDS = st.text(st.characters(codec="utf-8"), min_size=0, max_size=14)


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(WORDS, min_size=1, max_size=5))
def test_p_09_any_word_that_is_rendered_parses_back_to_itself(words: list[str]) -> None:
    line = " ".join(["x", *(Word(word, f"'{word}'").rendered for word in words)])
    reading = read_shell(line)
    if reading.form is Form.PLAIN:
        assert argv(line) == [["x", *words]]
    else:
        assert any(not letter.isprintable() or letter in "'\ufffd" for word in words for letter in word)


@settings(max_examples=60, deadline=None, database=None)
@given(st.lists(st.text("ab '\"\\$`!*;&|<>(){}#~=\n\t", max_size=10), min_size=1, max_size=4))
def test_p_09_a_rendered_word_reaches_a_program_unchanged(words: list[str]) -> None:
    rendered = " ".join(Word(word, f'"{word}"').rendered for word in words)
    script = f"printf '%s\\0' {rendered}"
    ran = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "".join(f"{word}\0" for word in words)
