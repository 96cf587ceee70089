"""Path patterns and the lines of ignore files."""

from __future__ import annotations

import time

import pytest

from mcode.builtins.glob_pattern import GlobPattern, literal_directory, names_hidden
from mcode.builtins.ignore_rules import parse_ignore_rules


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("*.py", ["a.py", ".py"], ["a/b.py", "a.pyc"]),
        ("**/*.py", ["a.py", "x/a.py", "x/y/a.py"], ["a.pyc"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcs/a"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["a/zz", "b/z"]),
        ("**/a/**/b/**", ["a/b/c", "x/a/y/b/z/w"], ["a/b", "b/a/c"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc", "aéc"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
        ("[!a-c]x", ["dx"], ["ax"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("[]]x", ["]x"], ["x"]),
        ("[a-]x", ["ax", "-x"], ["bx"]),
        ("a[", ["a["], ["a"]),
        ("{a,b/c}.{x,y}", ["a.x", "b/c.y"], ["c.x"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"], ["d"]),
        ("a{,b}", ["a", "ab"], ["b"]),
        (r"\*a", ["*a"], ["xa"]),
        (r"\{a,b\}", ["{a,b}"], ["a"]),
        ("a*b*c", ["abc", "axxbxxc", "abbcc"], ["acb", "abcd"]),
        ("*a*", ["a", "xax"], ["b"]),
        ("a**b", ["ab", "axb"], ["a/b"]),
        ("./a", ["a"], ["./a/b"]),
        ("a.b", ["a.b"], ["axb"]),
        ("*\n*".replace("\n", "?"), ["a\nb"], [""]),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, matching: list[str], other: list[str]) -> None:
    glob = GlobPattern(pattern)
    assert [path for path in matching if not glob.matches(path)] == []
    assert [path for path in other if glob.matches(path)] == []


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("{a", "not closed"), ("[z-a]", "backwards"), ("{a,b}" * 9, "more than 256"), ("a\0", "NUL")],
)
def test_a_broken_pattern_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        GlobPattern(pattern)


def test_no_pattern_takes_long() -> None:
    began = time.process_time()
    assert not GlobPattern("*a" * 100 + "b").matches("a" * 255)
    assert not GlobPattern("**/a/" * 50 + "b").matches("a/" * 500 + "a")
    assert not GlobPattern("*?[a]" * 40).matches("b" * 255)
    assert time.process_time() - began < 2


def test_the_fixed_directory_of_a_pattern_is_split_off() -> None:
    assert literal_directory("src/a/*.py") == ("src/a", "*.py")
    assert literal_directory("*.py") == ("", "*.py")
    assert literal_directory("a.py") == ("", "a.py")
    assert literal_directory("/abs/x") == ("/abs", "x")
    assert literal_directory("/x") == ("/", "x")
    assert literal_directory("../{a,b}/c") == ("..", "{a,b}/c")


@pytest.mark.parametrize("pattern", [".env", "**/.*", "a/.b/c", "{.a,b}", "{b,.a}", "..a"])
def test_a_pattern_with_a_dot_at_the_beginning_of_a_name_asks_for_hidden_files(pattern: str) -> None:
    assert names_hidden(pattern)


@pytest.mark.parametrize("pattern", ["*.py", "./a", "../a", "a.b/c.d", "**"])
def test_other_dots_do_not_ask_for_hidden_files(pattern: str) -> None:
    assert not names_hidden(pattern)


def test_ignore_rules_follow_git() -> None:
    rules = parse_ignore_rules(
        "\ufeff# comment\n\n*.log\n!keep.log\n/top\ndir/\nsub/x\n\\#hash\n\\!bang\ntrailing   \nblank\\ \na/**\r\n"
    )
    assert rules.bad == ()

    def out(path: str, *, is_directory: bool = False) -> bool | None:
        return rules.verdict(path, is_directory=is_directory)

    assert out("a.log") is True
    assert out("deep/a.log") is True
    assert out("keep.log") is False
    assert out("top") is True
    assert out("deep/top") is None
    assert out("dir", is_directory=True) is True
    assert out("deep/dir", is_directory=True) is True
    assert out("dir") is None
    assert out("sub/x") is True
    assert out("deep/sub/x") is None
    assert out("#hash") is True
    assert out("!bang") is True
    assert out("trailing") is True
    assert out("blank ") is True
    assert out("a/b") is True
    assert out("a", is_directory=True) is None


def test_a_bad_line_of_an_ignore_file_is_kept_apart() -> None:
    rules = parse_ignore_rules("[z-a]\n*.log\n{x\n")
    assert [(bad.line, bad.text) for bad in rules.bad] == [(1, "[z-a]"), (3, "{x")]
    assert rules.verdict("a.log", is_directory=False) is True
