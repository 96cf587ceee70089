"""Cuts text without blanks into the words of a glossary: Chinese, Japanese and Korean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.vocabulary.characters import simplified
from mcode.catalog.vocabulary.load import Glossary, Phrase, glossary

if TYPE_CHECKING:
    from collections.abc import Iterator

_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")

LONGEST_RUN = 400
"""Characters of one run that are cut into words."""


def languages_of(text: str) -> tuple[str, ...]:
    """Which glossaries to ask about a text without blanks, the likeliest first."""
    if _HANGUL.search(text):
        return ("ko",)
    return ("ja", "zh") if _KANA.search(text) else ("zh", "ja")


def segment(run: str, languages: tuple[str, ...]) -> list[tuple[str, tuple[Phrase, ...] | None]]:
    """
    A run of characters as words with their English meanings; None for characters that no glossary knows.

    Of all ways to cut it, one that leaves the fewest characters over, in the fewest words.
    """
    run = simplified(run[:LONGEST_RUN])
    books = [glossary(language) for language in languages]
    longest = max(book.longest for book in books)
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(run) + 1):
        known = (
            (best[start][0], best[start][1] + 1, start)
            for start in range(max(0, end - longest), end)
            if any(run[start:end] in book.meanings for book in books)
        )
        left_over = (best[end - 1][0] + 1, best[end - 1][1], end - 1)
        best.append(min((left_over, *known)))
    return _collect(run, best, books)


def _collect(
    run: str, best: list[tuple[int, int, int]], books: list[Glossary]
) -> list[tuple[str, tuple[Phrase, ...] | None]]:
    found: list[tuple[str, tuple[Phrase, ...] | None]] = []
    end = len(run)
    while end:
        start = best[end][2]
        word = run[start:end]
        meaning = next((book.meanings[word] for book in books if word in book.meanings), None)
        if meaning is None and found and found[-1][1] is None:
            found[-1] = (word + found[-1][0], None)
        else:
            found.append((word, meaning))
        end = start
    return found[::-1]


def glossed_terms(text: str) -> Iterator[str]:
    """The likeliest English terms of the Chinese, Japanese and Korean words in a text."""
    for word in words.pieces(text):
        if words.is_unspaced(word):
            for _, meaning in segment(word, languages_of(word)):
                for phrase in (meaning or ())[:2]:
                    yield from phrase
