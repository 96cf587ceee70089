"""What an unknown word may have meant."""

from __future__ import annotations

import pytest

from mcode.catalog.spelling import Lexicon, one_slip

RARE = ((0,), (1.0,))
COMMON = ((0, 1, 2), (1.0, 1.0, 1.0))
LEXICON = Lexicon(
    dict.fromkeys(["configur", "screenshot", "site", "map", "branch", "branches2", "notif", "pod"], RARE)
)


@pytest.mark.parametrize(
    ("term", "guess"),
    [
        ("config", ("configur",)),
        ("screnshot", ("screenshot",)),
        ("sitemap", ("site", "map")),
        ("brnach", ("branch",)),
        ("notify", ("notif",)),
    ],
)
def test_beginnings_compounds_and_slips_are_guessed(term: str, guess: tuple[str, ...]) -> None:
    assert guess in LEXICON.guesses(term)


def test_a_slip_of_a_common_word_is_likelier_than_the_beginning_of_a_rare_one() -> None:
    assert Lexicon({"marketing": RARE, "marked": COMMON}).guesses("market") == [("marked",)]
    assert Lexicon({"marketing": COMMON, "marked": RARE}).guesses("market") == [("marketing",)]


def test_a_slip_is_looked_for_in_a_word_whose_stem_is_short() -> None:
    assert Lexicon({"annot": RARE, "anoth": RARE}).guesses("anot", "anotations") == [("anoth",)]
    assert Lexicon({"annot": COMMON, "anoth": RARE}).guesses("anot", "anotations")[0] == ("annot",)
    assert Lexicon({"annot": COMMON}).guesses("anot") == []


def test_what_is_like_nothing_is_guessed_to_be_nothing() -> None:
    for term in ("zebra", "po", "pid", "x", "", "12345"):
        assert LEXICON.guesses(term) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("word", "word", True),
        ("word", "ward", True),
        ("word", "wrod", True),
        ("word", "words", True),
        ("word", "wod", True),
        ("word", "wards", False),
        ("word", "", False),
        ("abcd", "badc", False),
    ],
)
def test_one_slip_is_one_letter_or_two_neighbours(one: str, other: str, same: bool) -> None:
    assert one_slip(one, other) is same
    assert one_slip(other, one) is same
