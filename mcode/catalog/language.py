"""Tells which language a query is written in, and what its words are in English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.vocabulary.load import (
    STEMMED,
    Phrase,
    foreign_stem,
    glossary,
    stemmed_glossary,
    vocabulary,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

COMPOUNDING = frozenset({"de", "nl"})
"""Languages that write compounds in one word."""

LATIN = tuple(language for language in STEMMED if language != "ru")
"""Languages in Latin letters, which a query may mix with English."""

JOINTS = ("", "s", "es", "n", "en", "e")
"""What may stand between the parts of such a compound."""


@dataclass(frozen=True, slots=True)
class Translation:
    """What a stretch of a query means."""

    taken: int
    """Words that it spans."""
    meanings: tuple[Phrase, ...]
    """English phrases, the likeliest first; none for what says nothing."""


@dataclass(frozen=True, slots=True)
class Translator:
    """Looks words up in the glossaries of some languages."""

    languages: tuple[str, ...]
    foreign: bool
    """Whether the query as a whole is in another language; otherwise only unknown words are looked up."""

    def translate(self, words_left: Sequence[str]) -> Translation | None:
        """What the next word means, or the longest phrase that begins with it; None where no glossary knows it."""
        for language in self.languages:
            book = glossary(language)
            for taken in range(min(book.longest, len(words_left)), 1, -1):
                meanings = book.meanings.get(words.fold(" ".join(words_left[:taken])))
                if meanings is not None:
                    return Translation(taken, meanings)
            meanings = (
                meaning_of(language, words_left[0])
                if self.foreign
                else book.meanings.get(words.fold(words_left[0]))
            )
            if meanings is not None:
                return Translation(1, meanings)
        return None


def translator_of(query_words: Sequence[str], indexed: Container[str]) -> Translator:
    """The language of a query that is not in English, or whatever glossaries may know its unknown words."""
    spaced = [word for word in query_words if not words.is_unspaced(word)]
    tables = vocabulary()
    english = sum(
        word in tables.stopwords or words.stem(word) in tables.known or words.stem(word) in indexed
        for word in spaced
    )
    if english == len(spaced):
        return Translator((), foreign=False)
    cyrillic = any("\u0400" <= letter <= "\u04ff" for word in spaced for letter in word)
    languages = ("ru",) if cyrillic else LATIN
    counts = {language: sum(_reads(language, word) for word in spaced) for language in languages}
    if not english and not any(counts.values()):
        counts = {
            language: sum(meaning_of(language, word) is not None for word in spaced) for language in languages
        }
    ranked = tuple(sorted((each for each in counts if counts[each]), key=lambda each: -counts[each]))
    strange = any(not word.isascii() for word in spaced)
    foreign = bool(ranked) and counts[ranked[0]] >= english + (0 if strange else 1)
    return Translator(ranked[:1] if foreign else ranked, foreign)


def _reads(language: str, word: str) -> bool:
    return words.fold(word) in glossary(language).meanings


def meaning_of(language: str, word: str) -> tuple[Phrase, ...] | None:
    """The English meanings of one word in a language; None where the glossary does not know it."""
    if words.is_unspaced(word):
        return None
    found = _look_up(language, word)
    if found is None and language in COMPOUNDING and len(word) >= 7:
        found = _compound(language, word)
    return found


def _look_up(language: str, word: str) -> tuple[Phrase, ...] | None:
    found = glossary(language).meanings.get(words.fold(word))
    return stemmed_glossary(language).get(foreign_stem(language, word)) if found is None else found


def _compound(language: str, word: str) -> tuple[Phrase, ...] | None:
    """The meanings of a compound's parts, joined; the cut with the longest last part wins."""
    for cut in range(3, len(word) - 3):
        last = _look_up(language, word[cut:])
        if not last:
            continue
        for joint in JOINTS:
            head = word[:cut].removesuffix(joint)
            first = _look_up(language, head) if len(head) >= 3 else None
            if first:
                return (first[0] + last[0],)
    return None
