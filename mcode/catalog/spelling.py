"""Guesses which indexed terms an unknown word of a query may be: a beginning, a compound, a slip of the finger."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcode.catalog.vocabulary.load import Phrase

SHORTEST_PREFIX = 4
SHORTEST_SLIP = 6
"""Letters of a word, with its ending, in which a slip is looked for."""

SHORTEST_PART = 3
LONGEST_REST = 7
"""Letters that a longer form of a word may have more."""

GUESSES = 6
"""Terms that one unknown word stands for at most."""

KEPT_GUESSES = 500
"""Unknown words whose guesses are kept."""


class Lexicon:
    """The terms of an index, with what spelling needs of them."""

    def __init__(self, terms: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> None:
        self._terms = terms
        self._guessed: dict[str, list[Phrase]] = {}

    def __contains__(self, term: str) -> bool:
        return term in self._terms

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(term for term in self._terms if len(term) >= SHORTEST_PART)

    @cached_property
    def _by_shape(self) -> dict[tuple[str, int], list[str]]:
        shapes: dict[tuple[str, int], list[str]] = {}
        for term in self._sorted:
            shapes.setdefault((term[0], len(term)), []).append(term)
        return shapes

    def guesses(self, term: str, word: str = "") -> list[Phrase]:
        """What an unknown term may mean among the known ones; empty where nothing is like it.

        `word`: what it is the stem of.
        """
        word = word or term
        known = self._guessed.get(word)
        if known is None:  # a query is read once as a whole, and again clause by clause
            if len(self._guessed) >= KEPT_GUESSES:
                self._guessed.clear()
            known = self._guessed[word] = self._guess(term, len(word))
        return known

    def _guess(self, term: str, letters: int) -> list[Phrase]:
        slips = sorted(self._slips(term, letters), key=self._held, reverse=True)[:GUESSES]
        for guess in (self._longer, self._compound, self._shorter):
            found = list(islice(guess(term), GUESSES))
            if found:
                return slips if slips and self._held(slips[0]) > max(map(self._held, found)) else found
        return slips

    def _held(self, phrase: Phrase) -> int:
        """How many tools hold the rarest term of a guess."""
        return min(len(self._terms[term][0]) for term in phrase)

    def _longer(self, term: str) -> Iterator[Phrase]:
        if len(term) < SHORTEST_PREFIX:
            return
        for position in range(bisect_left(self._sorted, term), len(self._sorted)):
            other = self._sorted[position]
            if not other.startswith(term):
                return
            if len(other) - len(term) <= LONGEST_REST:
                yield (other,)

    def _shorter(self, term: str) -> Iterator[Phrase]:
        for end in range(len(term) - 1, max(SHORTEST_PREFIX, len(term) - 4) - 1, -1):
            if term[:end] in self._terms:
                yield (term[:end],)

    def _compound(self, term: str) -> Iterator[Phrase]:
        for cut in range(SHORTEST_PART, len(term) - SHORTEST_PART + 1):
            if term[:cut] in self._terms and term[cut:] in self._terms:
                yield (term[:cut], term[cut:])

    def _slips(self, term: str, letters: int) -> Iterator[Phrase]:
        if letters < SHORTEST_SLIP or not term.isalpha():
            return
        for length in (len(term), len(term) - 1, len(term) + 1):
            for other in self._by_shape.get((term[0], length), ()):
                if one_slip(term, other):
                    yield (other,)


def one_slip(first: str, second: str) -> bool:
    """Whether two words differ by one letter changed, added, left out, or by two neighbours in the wrong order."""
    if abs(len(first) - len(second)) > 1:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    one, other = first[start:], second[start:]
    if len(one) == len(other):
        return one[1:] == other[1:] or (one[:2] == other[:2][::-1] and one[2:] == other[2:])
    return one[1:] == other or one == other[1:]
