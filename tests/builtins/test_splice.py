"""Content and splice, over many random texts: what is not replaced comes back byte for byte."""

from __future__ import annotations

import codecs

from hypothesis import assume, given
from hypothesis import strategies as st

from mcode.builtins.content import LATIN_1, UTF_8, decode, encode
from mcode.builtins.difference import compare, split_lines
from mcode.builtins.splice import Replacement, places, splice

texts = st.text(alphabet="ab\u00e9\u20ac \r\n\U0001f600", max_size=30)
marks = st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
CODECS = {
    b"": "utf-8",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


@given(st.binary(max_size=60))
def test_any_bytes_come_back_from_text(raw: bytes) -> None:
    content = decode(raw)
    assert encode(content.encoding, content.exact) == raw


@given(marks, texts)
def test_marked_text_comes_back(mark: bytes, text: str) -> None:
    raw = mark + text.encode(CODECS[mark])
    content = decode(raw)
    assert content.exact == text
    assert content.encoding.mark == mark
    assert encode(content.encoding, content.exact) == raw


@given(marks, texts, texts, texts, texts)
def test_bytes_outside_the_replaced_text_never_change(
    mark: bytes, before: str, old: str, after: str, new: str
) -> None:
    """The old text stands once, between two others; the new one takes its place and nothing else moves."""
    before, old, after = f"{before}<", f"{old}|", f">{after}"
    shown_old, shown_new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    assume(shown_old != shown_new)
    content = decode(mark + f"{before}{old}{after}".encode(CODECS[mark]))
    starts = places(content.text, shown_old, overlapping=True)
    assume(len(starts) == 1)
    raw = splice(content, Replacement(shown_old, shown_new), starts)
    result = decode(raw)
    assert result.exact.startswith(before)
    assert result.exact.endswith(after)
    middle = result.exact[len(before) : len(result.exact) - len(after)]
    # A lone CR before a new line end joins it to a CRLF; the text is the same but for that.
    assert middle.replace("\r", "") == new.replace("\r", "")


@given(texts, texts)
def test_replacing_everywhere_is_what_python_replaces(text: str, new: str) -> None:
    text, new = text.replace("\r", ""), new.replace("\r", "")
    assume("a" in text and new != "a")
    content = decode(text.encode())
    raw = splice(content, Replacement("a", new, everywhere=True), places(text, "a", overlapping=False))
    assert raw == text.replace("a", new).encode()


def test_latin_1_is_the_last_resort() -> None:
    assert decode(b"caf\xe9").encoding is LATIN_1
    assert decode("café".encode()).encoding is UTF_8
    assert decode(b"\xef\xbb\xbfcaf\xe9").encoding is LATIN_1


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n"]), max_size=30).map("".join)


def patched(old: str, diff: str) -> str:
    """What `patch` makes of a text."""
    source, position = split_lines(old), 0
    result: list[str] = []
    body = diff.splitlines()[2:]
    for index, line in enumerate(body):
        if line.startswith("@@"):
            start, length = ([*map(int, line.split()[1][1:].split(",")), 1])[:2]
            first = start - 1 if length else start
            result += source[position:first]
            position = first
        elif line[0] in "+ ":
            is_open = index + 1 < len(body) and body[index + 1].startswith("\\")
            result.append(line[1:] + ("" if is_open else "\n"))
            position += line[0] == " "
        elif line[0] == "-":
            position += 1
    return "".join(result + source[position:])


@given(lines, lines, st.booleans(), st.booleans())
def test_a_diff_makes_the_new_text_from_the_old_one(old: str, new: str, cut_old: bool, cut_new: bool) -> None:
    old, new = (old[:-1] if cut_old else old), (new[:-1] if cut_new else new)
    difference = compare(old, new, "f")
    assert (difference.text == "") == (split_lines(old) == split_lines(new))
    if difference.text:
        assert patched(old, difference.text) == new
    assert difference.added - difference.removed == len(split_lines(new)) - len(split_lines(old))


def test_a_large_change_is_shown_as_one_block() -> None:
    old = "".join(f"{number}\n" for number in range(20_000))
    new = "".join(f"{number + number % 2}\n" for number in range(20_000))
    difference = compare(old, new, "f")
    assert patched(old, difference.text) == new
    assert difference.text.count("@@ ") == 1
