"""Names that look like other names, marked where the user decides on them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LETTERS = dict(
    zip(
        "аеіјорсухѕһԁԛԝӏвАВЕІЈКМНОРСТУХЅԌԚԜҮοναιρυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡıᴏօսԍց",
        "aeijopcyxshdqwlBABEIJKMHOPCTYXSGQWYovaipukABEZHIKMNOPTYXagioougg",
        strict=True,
    )
)
"""Letters of other alphabets, and rare Latin ones, with the ASCII letter that they are taken for."""

_SIGNS = {
    "\u2044": "/",
    "\u2215": "/",
    "\u29f8": "/",
    "\uff0f": "/",
    "\uff3c": "\\",
    "\ua789": ":",
    "\u2236": ":",
    "\u037e": ";",
    "\u2024": ".",
    "\u2010": "-",
    "\u2011": "-",
}
"""Signs of paths and commands that other characters imitate."""

_SIGN = re.compile("[" + "".join(map(re.escape, _SIGNS)) + "]")
_WORD = re.compile(r"\w+")
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Scripts whose letters can pass for each other; a word of two of these is suspicious."""


def mark_lookalikes(text: str) -> str:
    """Put a mark behind each word or sign that can be taken for another, in single angle quotes."""
    text = _WORD.sub(_mark_word, text)
    return _SIGN.sub(lambda found: f"{found[0]}\u2039looks like {_SIGNS[found[0]]}\u203a", text)


def _mark_word(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii():
        return word
    taken_for = "".join(map(_ascii_twin, word))
    if taken_for.isascii():
        return f"{word}\u2039looks like {taken_for}\u203a"
    alphabets = sorted({_alphabet(character) for character in word} - {""})
    return f"{word}\u2039mixed {'+'.join(alphabets)}\u203a" if len(alphabets) > 1 else word


@lru_cache(maxsize=2048)
def _ascii_twin(character: str) -> str:
    """The ASCII text that a character is taken for, or itself."""
    if character in _LETTERS:
        return _LETTERS[character]
    form = unicodedata.decomposition(character).partition(">")[0]
    if form in {"<wide", "<narrow", "<font", "<compat"}:
        return unicodedata.normalize("NFKC", character)
    return character


@lru_cache(maxsize=2048)
def _alphabet(character: str) -> str:
    script = unicodedata.name(character, "").partition(" ")[0]
    return script.capitalize() if script in _ALPHABETS else ""
