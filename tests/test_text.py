"""Foreign text on its way to a terminal or to the model (T-01 to T-07)."""

# ruff: noqa: RUF001 -- characters that look like others are what these tests are about

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcode.text import Kind, cell_width, clean, link_target, shorten, show_control

ESC = "\x1b"
KINDS = list(Kind)
HIDING_KINDS = [Kind.LINE, Kind.BLOCK, Kind.OUTPUT, Kind.MODEL]

SEQUENCES = {
    "clipboard": f"{ESC}]52;c;aGVsbG8=\x07",
    "title": f"{ESC}]0;owned\x07",
    "link": f"{ESC}]8;;http://evil.example{ESC}\\",
    "device control": f"{ESC}Pq#0;2;0;0;0{ESC}\\",
    "application command": f"{ESC}_payload{ESC}\\",
    "privacy message": f"{ESC}^payload{ESC}\\",
    "start of string": f"{ESC}Xpayload{ESC}\\",
    "screen title": f"{ESC}kowned{ESC}\\",
    "erase": f"{ESC}[2J",
    "where is the cursor": f"{ESC}[6n",
    "private mode": f"{ESC}[?1049h",
    "reset": f"{ESC}c",
    "character set": f"{ESC}(0",
    "save cursor": f"{ESC}7",
    "C1 erase": "\x9b2J",
    "C1 title": "\x9d0;owned\x9c",
    "C1 device control": "\x90payload\x9c",
    "colon colour": f"{ESC}[38:2::1:2:3m",
    "string ended by C1": f"{ESC}]0;owned\x9c",
}

HIDDEN = {
    "right-to-left override": "\u202e",
    "isolate": "\u2066",
    "mark": "\u200f",
    "arabic letter mark": "\u061c",
    "zero width space": "\u200b",
    "zero width non-joiner": "\u200c",
    "word joiner": "\u2060",
    "invisible plus": "\u2064",
    "byte order mark": "\ufeff",
    "vowel separator": "\u180e",
    "tag": "\U000e0041",
    "second selector": "\U000e0150",
    "soft hyphen": "\u00ad",
    "hangul filler": "\u3164",
}


def forbidden(text: str, *, allow_colour: bool = False) -> list[str]:
    """Characters that no terminal may get from us."""
    if allow_colour:
        text = re.sub(r"\x1b\[[0-9;]+m", "", text)
    return [
        character
        for character in text
        if (unicodedata.category(character) in {"Cc", "Cs", "Co", "Zl", "Zp"} and character not in "\n\t")
        or ("\u200b" <= character <= "\u200f" and character != "\u200d")
        or "\u202a" <= character <= "\u202e"
        or "\u2060" <= character <= "\u206f"
        or "\U000e0000" <= character <= "\U000e007f"
        or character in "\u061c\ufeff\u180e"
    ]


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("kind", HIDING_KINDS)
def test_t_02_a_whole_sequence_goes_with_its_body(name: str, kind: Kind) -> None:
    assert clean(f"before{SEQUENCES[name]}after", kind) == "beforeafter"


@pytest.mark.parametrize("name", SEQUENCES)
def test_t_04_where_the_user_decides_a_sequence_is_shown_and_not_obeyed(name: str) -> None:
    shown = clean(f"before{SEQUENCES[name]}after", Kind.DECISION)
    assert forbidden(shown) == []
    assert shown.startswith(f"before‹U+{ord(SEQUENCES[name][0]):04X}›")
    letters = [character for character in SEQUENCES[name] if character.isalnum()]
    assert all(letter in shown for letter in letters), "nothing that can be read was taken out"


@pytest.mark.parametrize(
    "opening", ["\x1b]0;", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x9d", "\x90", "\x1b[", "\x9b"]
)
@pytest.mark.parametrize("kind", HIDING_KINDS)
def test_t_02_an_unterminated_sequence_hides_at_most_4_kilobytes(opening: str, kind: Kind) -> None:
    body = "1" * 10_000
    shown = clean(f"before{opening}{body}", kind)
    assert shown.startswith("before1")
    assert len(body) - 4096 <= shown.count("1") < len(body)
    assert forbidden(shown) == []


def test_t_02_a_long_string_that_ends_properly_goes_whole() -> None:
    assert clean(f"a{ESC}]52;c;{'QUJD' * 5000}\x07b") == "ab"


@pytest.mark.parametrize("ending", ["", "[", "]", "]0;x", "P", "[3", "(", "_"])
@pytest.mark.parametrize("kind", HIDING_KINDS)
def test_t_02_a_fragment_that_ends_inside_a_sequence_leaves_nothing_to_obey(ending: str, kind: Kind) -> None:
    first, second = clean(f"text{ESC}{ending}", kind), clean("2J\x07 more", kind)
    assert forbidden(first + second) == []


def test_t_02_control_characters_are_visible_in_prose_and_gone_from_output() -> None:
    text = "a\x07b\x00c\x7fd\x85e\x0bf"
    assert clean(text, Kind.BLOCK) == "a^Gb^@c^?d<85>e^Kf"
    assert clean(text, Kind.LINE) == "a^Gb^@c^?d<85>e^Kf"
    assert clean(text, Kind.OUTPUT) == clean(text, Kind.MODEL) == "abcdef"
    assert clean(text, Kind.DECISION) == "a‹U+0007›b‹U+0000›c‹U+007F›d‹U+0085›e‹U+000B›f"


@pytest.mark.parametrize("name", HIDDEN)
def test_t_02_hidden_characters_go_or_are_named(name: str) -> None:
    hidden = HIDDEN[name]
    text = f"pay{hidden}pal"
    named = f"pay‹U+{ord(hidden):04X}›pal"
    assert clean(text, Kind.BLOCK) == clean(text, Kind.OUTPUT) == clean(text, Kind.MODEL) == "paypal"
    assert clean(text, Kind.LINE) == named
    assert clean(text, Kind.DECISION) == named


def test_t_02_joiners_and_one_selector_stay_inside_emoji_only() -> None:
    family = "👩\u200d👩\u200d👧"
    heart = "❤\ufe0f\u200d🔥"
    skin = "👩🏽\u200d🚒"
    for kind in KINDS:
        assert clean(f"{family} {heart} {skin}", kind) == f"{family} {heart} {skin}"
    assert clean("a\u200db") == "ab"
    assert clean("👩\u200d") == "👩"
    assert clean("👩\u200d\u200d👧") == "👩👧"
    assert clean("❤\ufe0f\ufe0f\ufe0e") == "❤\ufe0f"
    assert clean("x\U000e0101y") == "xy", "a selector for ideographs hides data behind letters"
    assert clean("漢\U000e0101字") == "漢\U000e0101字"


def test_t_02_line_separators_become_line_ends() -> None:
    assert clean("a\u2028b\u2029c") == "a\nb\nc"
    assert clean("a\u2028b", Kind.LINE) == "a b"
    assert clean("a\u2028b", Kind.DECISION) == "a‹U+2028›b"


def test_t_02_lone_surrogates_and_private_characters_cannot_reach_the_terminal() -> None:
    for character in ("\ud800", "\udc9b", "\ue0b0", "\U000f0001", "\ufffe"):
        for kind in KINDS:
            shown = clean(f"a{character}b", kind)
            shown.encode()
            assert character not in shown
        assert clean(f"a{character}b") == "a\ufffdb"


def test_t_02_a_flood_of_combining_marks_is_cut_at_eight() -> None:
    flood = "e" + "\u0301" * 500
    for kind in (Kind.LINE, Kind.BLOCK, Kind.OUTPUT, Kind.MODEL):
        assert clean(f"a{flood}b", kind) == f"ae{chr(0x301) * 8}b"
    assert clean(flood, Kind.DECISION) == f"e{chr(0x301) * 8}‹492 more marks›"
    mixed = "e" + "\u0301\u200b" * 500
    assert clean(mixed).count("\u0301") == 8, "what is hidden between the marks does not help them"
    coloured = "e" + f"\u0301{ESC}[31m" * 500
    assert clean(coloured, Kind.OUTPUT).count("\u0301") == 8


def test_t_07_a_mark_without_a_base_does_not_land_on_the_border() -> None:
    assert clean("\u0301x", Kind.LINE) == "\u25cc\u0301x"
    assert clean("a\n\u0301x", Kind.BLOCK) == "a\n\u25cc\u0301x"
    assert clean("\u0947\u0902 next", Kind.BLOCK) == "\u0947\u0902 next", (
        "a fragment of a stream joins the one before"
    )


@pytest.mark.parametrize(
    "text",
    [
        "हिन्दी में लिखा हुआ",
        "ภาษาไทยที่มีวรรณยุกต์",
        "שָׁלוֹם",
        "العربية",
        "한국어",
        "日本語と漢字",
        "Ελληνικά",
        "naïve café",
        "x²",
    ],
)
def test_t_02_ordinary_writing_of_the_world_stays_as_it_is(text: str) -> None:
    for kind in (Kind.LINE, Kind.BLOCK, Kind.OUTPUT, Kind.MODEL):
        assert clean(text, kind) == text


def test_t_03_output_keeps_known_colours_and_ends_with_a_reset() -> None:
    assert clean(f"{ESC}[31mred", Kind.OUTPUT) == f"{ESC}[31mred{ESC}[0m"
    assert clean(f"{ESC}[1;38;5;208mx{ESC}[m", Kind.OUTPUT) == f"{ESC}[1;38;5;208mx{ESC}[0m"
    assert clean(f"{ESC}[38;2;1;2;3mx{ESC}[0m\n", Kind.OUTPUT) == f"{ESC}[38;2;1;2;3mx{ESC}[0m\n"
    assert clean("\x9b32mx", Kind.OUTPUT) == f"{ESC}[32mx{ESC}[0m"
    assert clean("plain\n", Kind.OUTPUT) == "plain\n"


@pytest.mark.parametrize(
    "body", ["8", "5", "6", "12", "999", "38;5", "38;5;256", "38;9;1", "?25", ">4;2", "4:3", "1;2" * 50]
)
def test_t_03_unknown_and_hiding_colours_go(body: str) -> None:
    shown = clean(f"a{ESC}[{body}mb", Kind.OUTPUT)
    assert shown == "ab"


def test_t_03_of_a_mixed_sequence_the_known_values_stay() -> None:
    assert clean(f"{ESC}[8;31mx", Kind.OUTPUT) == f"{ESC}[31mx{ESC}[0m"


def test_t_03_an_aborted_string_is_not_taken_for_a_colour() -> None:
    assert clean(f"a{ESC}]0;m{ESC}[2Jb", Kind.OUTPUT) == "ab"
    assert clean(f"a{ESC}mb", Kind.OUTPUT) == "ab"


def test_t_06_the_model_gets_output_without_colour_and_without_what_was_overwritten() -> None:
    progress = "\rfetch 1%\rfetch 50%\rfetch 100%\ndone\r\n|\b/\b-\b ok\r\n"
    assert clean(progress, Kind.MODEL) == "fetch 100%\ndone\n ok\n"
    assert clean(f"{ESC}[32mok{ESC}[0m", Kind.MODEL) == "ok"
    assert clean(f"loading\r{ESC}[Kdone", Kind.OUTPUT) == "done"


def test_a_lone_carriage_return_hides_nothing_outside_of_output() -> None:
    assert clean("rm -rf x\rls", Kind.BLOCK) == "rm -rf x^Mls"
    assert clean("rm -rf x\rls", Kind.DECISION) == "rm -rf x‹U+000D›ls"
    assert clean("one\r\ntwo\r") == "one\ntwo"


def test_t_06_read_shows_control_characters_and_is_faithful_otherwise() -> None:
    assert show_control(f"a{ESC}[0m\tb\n") == "a‹U+001B›[0m\tb\n"
    assert show_control("x\u202ey\u200bz\x9b\ud800") == "x‹U+202E›y‹U+200B›z‹U+009B›‹U+D800›"
    faithful = "\u00a0 می\u200cخواهم 👩\u200d👧 ❤\ufe0f \ue0b0 e\u0301 \\x1b"
    assert show_control(faithful) == faithful


def test_t_04_blanks_at_the_end_and_tabs_are_visible_where_the_user_decides() -> None:
    assert clean("a\tb  \nc ", Kind.DECISION) == "a→\tb··\nc·"
    assert clean("rm\u00a0-rf", Kind.DECISION) == "rm‹U+00A0›-rf"
    assert clean("two words\nmore", Kind.DECISION) == "two words\nmore"


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("\u0440\u0430\u0443\u0440\u0430l.com", "‹looks like paypal›"),
        ("\u0455\u0443\u0455", "‹looks like sys›"),
        ("p\u0430ges\u0436", "‹mixed Cyrillic+Latin›"),
        ("\uff45tc", "‹looks like etc›"),
        ("\U0001d42c\U0001d42c\U0001d421", "‹looks like ssh›"),
        ("a\u2044b", "‹looks like /›"),
    ],
)
def test_t_04_names_that_imitate_others_get_a_mark(text: str, mark: str) -> None:
    assert mark in clean(text, Kind.DECISION)


@pytest.mark.parametrize(
    "text", ["größer", "日本語API", "привет", "naïve", "Ωμέγα", "m²", "½", "“quoted” – dash"]
)
def test_t_04_ordinary_words_get_no_mark(text: str) -> None:
    assert clean(text, Kind.DECISION) == text


def test_a_line_is_one_line() -> None:
    assert clean("a\nb\tc\r\nd", Kind.LINE) == "a b c d"


def test_plain_text_comes_back_as_the_same_object() -> None:
    text = "plain words and [brackets]"
    for kind in KINDS:
        assert clean(text, kind) is text


NASTY = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b[]P\\\x07\x9b\x9d\x9c0;31mJ\r\n\t\b \u200d\ufe0f👩❤\u0301a\u202e\u2028\ue000\ud800漢\U000e0041"
        ),
        st.characters(),
    ),
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(NASTY, st.sampled_from(KINDS))
def test_t_02_nothing_forbidden_passes_whatever_the_text(text: str, kind: Kind) -> None:
    shown = clean(text, kind)
    assert forbidden(shown, allow_colour=kind is Kind.OUTPUT) == []
    assert kind is not Kind.LINE or not set("\n\t") & set(shown)


@settings(max_examples=150, deadline=None)
@given(NASTY, st.sampled_from(HIDING_KINDS))
def test_cleaning_twice_is_cleaning_once(text: str, kind: Kind) -> None:
    once = clean(text, kind)
    assert clean(once, kind) == once


@pytest.mark.parametrize(
    "unit",
    [
        "\x1b",
        "\x1b]",
        "\x9d",
        "\x1b[",
        "\x1b[1;",
        "\x1bP",
        "a\u200b",
        "\u0301",
        "\ufe0f",
        "👩\u200d",
        "\r",
        "x\b",
        " ",
        "\ue000",
    ],
)
def test_t_07_a_flood_is_cleaned_in_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    began = time.process_time()
    for kind in (Kind.BLOCK, Kind.OUTPUT, Kind.DECISION):
        clean(text, kind)
    shorten(text, 80)
    cell_width(text)
    # A second or two here; an algorithm that goes back for every piece would take minutes.
    assert time.process_time() - began < 30


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("abc", 3),
        ("", 0),
        ("漢字", 4),
        ("e\u0301", 1),
        ("👩\u200d👩\u200d👧", 2),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("🇩🇪", 2),
        ("한글", 4),
        ("ｆ", 2),
        ("\u200b", 0),
        ("a\tb", 6),
    ],
)
def test_t_07_width_is_counted_in_cells(text: str, cells: int) -> None:
    assert cell_width(text) == cells


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("exactly", 7, "exactly"),
        ("too long", 5, "too …"),
        ("漢字漢字", 8, "漢字漢字"),
        ("漢字漢字", 7, "漢字漢…"),
        ("漢字漢字", 6, "漢字…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("anything", 1, "…"),
        ("anything", 0, ""),
        ("漢", 1, "…"),
    ],
)
def test_t_07_shortened_text_fits(text: str, width: int, expected: str) -> None:
    assert shorten(text, width) == expected


@settings(max_examples=100, deadline=None)
@given(NASTY, st.integers(0, 20))
def test_t_07_shortened_text_never_exceeds_its_width(text: str, width: int) -> None:
    assert cell_width(shorten(clean(text, Kind.LINE), width)) <= width


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        (" http://Example.com:8080/ü ", "http://example.com:8080/%C3%BC"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
        ("https://\u0440\u0430\u0443.com/", "https://xn--80a5ak.com/"),
        ("https://example.com/a\u202eb", "https://example.com/a%E2%80%AEb"),
        ("https://example.com/%41%2F", "https://example.com/%41%2F"),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("data:text/html,x", None),
        ("https://", None),
        ("https://example.com@evil.example/", None),
        ("https://exa mple.com/", None),
        ("https://example.com:99999999/", None),
        ("https://[oops/", None),
        ("https://example.com/\ud800", None),
        ("example.com", None),
    ],
)
def test_t_05_only_http_addresses_become_links(address: str, target: str | None) -> None:
    assert link_target(address) == target


@pytest.mark.parametrize("hostile", ["\x1b\\", "\x07", "\x9c", "\x1b]8;;", "\n", "\x00"])
def test_t_05_no_address_can_leave_the_escape_sequence_it_stands_in(hostile: str) -> None:
    target = link_target(f"https://example.com/a{hostile}b")
    assert target is None or (target.isascii() and target.isprintable())
