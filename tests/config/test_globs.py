"""Patterns for file names."""

from __future__ import annotations

import pytest

from mcode.config.globs import ALTERNATIVES, expand_braces, matches


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/*.ts", "a.ts"),
        ("**/*.ts", "src/deep/a.ts"),
        ("src/**", "src/a/b"),
        ("src/**", "src"),
        ("src/**/*", "src/a"),
        ("src/**/test/*.py", "src/test/a.py"),
        ("src/**/test/*.py", "src/a/b/test/a.py"),
        ("*.{ts,tsx}", "a.tsx"),
        ("{src,lib}/**/*.{ts,js}", "lib/x/a.js"),
        ("a{b,c{d,e}}f", "acef"),
        ("file[0-9].md", "file7.md"),
        ("?.md", "a.md"),
        ("/h/**/CLAUDE.md", "/h/x/y/CLAUDE.md"),
        ("**", "a/b/c"),
        ("a{b}c", "a{b}c"),
        ("{,x}a", "a"),
    ],
)
def test_what_matches(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.ts", "src/a.ts"),
        ("src/*", "src/a/b"),
        ("src/**", "other/src/a"),
        ("*.{ts,tsx}", "a.js"),
        ("/h/*/CLAUDE.md", "/h/CLAUDE.md"),
        ("h/CLAUDE.md", "/h/CLAUDE.md"),
        ("src/**/*", "src"),
        ("A.md", "a.md"),
        ("a{b,c}", "a{b,c}"),
        ("", "a"),
    ],
)
def test_what_does_not_match(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_a_pattern_of_many_stars_or_braces_takes_no_time() -> None:
    assert not matches("*a" * 200 + "b", "a" * 4000)
    assert not matches("**/" * 300 + "b", "a/" * 1000 + "c")
    assert not matches("{a,b}" * 40, "c")


def test_braces_stand_for_a_bounded_number_of_patterns() -> None:
    assert sorted(expand_braces("{a,b}{c,d}")) == ["ac", "ad", "bc", "bd"]
    assert expand_braces("{a,b}" * 40) == ["{a,b}" * 40]
    assert len(expand_braces("{a,b}" * 7)) == 128 <= ALTERNATIVES
