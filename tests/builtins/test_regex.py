"""ripgrep's dialect of regular expressions, translated for Python."""

from __future__ import annotations

import re

import pytest

from mcode.builtins.regex import spans_lines, to_python


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("[[:alpha:]_]+$", "ab_", "1"),
        ("[^[:digit:]]", "a", "1"),
        ("[[:punct:]]", "~", "a"),
        ("[[:xdigit:]]{2}", "fF", "g0"),
        (r"(?<year>\d+)-(?P=year)", "12-12", "12-13"),
        (r"(?<=a)b", "ab", "b"),
        (r"(?<!a)b", "b", "ab"),
        (r"a\z", "xa", "ab"),
        (r"\<a", "x a", "xa"),
        (r"a\>", "a x", "ax"),
        (r"\x{e9}", "é", "e"),
        (r"\e\[", "\x1b[", "["),
        ("[a[b]", "[", "c"),
        ("[]a]", "]", "b"),
        ("[^]a]", "b", "]"),
        (r"[\]]", "]", "\\"),
        ("{}", "{}", "{"),
        (r"\[[[:digit:]]", "[1", "1"),
        (r"[\<]", "<", "a"),
        (r"\/\"\-\ ", '/"- ', "/"),
    ],
)
def test_what_ripgrep_understands_is_translated(pattern: str, matching: str, other: str) -> None:
    expression = re.compile(to_python(pattern))
    assert expression.search(matching)
    assert not expression.search(other)


@pytest.mark.parametrize(
    "pattern",
    [r"\p{L}", r"\pL", "[a&&b]", "a(?i)b", "[[:^alpha:]]", "[[:nope:]]", "(", r"\x{110000}", "a{2,1}"],
)
def test_what_python_cannot_do_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        to_python(pattern)


@pytest.mark.parametrize("pattern", [r"a\nb", "a\nb", r"(a|\n)", r"\\\n"])
def test_a_line_end_outside_a_class_spans_lines(pattern: str) -> None:
    assert spans_lines(pattern)


@pytest.mark.parametrize("pattern", [r"[^\n]*", r"\\n", r"\s", "[\n]", "$"])
def test_other_patterns_do_not(pattern: str) -> None:
    assert not spans_lines(pattern)
