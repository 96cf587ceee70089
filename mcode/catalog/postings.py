"""The documents of all servers turned round: which tools hold a term, and what it weighs there."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.spelling import Lexicon
from mcode.catalog.vocabulary.load import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.catalog.document import Document
    from mcode.catalog.entry import Entry

COMMON_IN_NAMES = 0.6
"""Share of a server's tools from which a word in their names belongs to the server rather than to the tool."""

FAMILY_SHARE = 0.5
"""What such a word counts in a name."""

SMALLEST_FAMILY = 4
"""Tools that a server must have for that to be told."""


MANY = 200
"""Tools from which a term that most of them hold is said to be everywhere."""


class Postings:
    """An index over a fixed list of tools; a tool is known by its position in the list."""

    def __init__(self, pairs: Sequence[tuple[Entry, Document]], saturation: float) -> None:
        self.entries = [entry for entry, _ in pairs]
        self.held = _turned_round([document for _, document in pairs], saturation)
        """By term: positions of the tools, and the saturated weight of the term in each."""
        self._rarities = {term: self._rarity(len(held[0])) for term, held in self.held.items()}
        self._highest = self._rarity(0)
        few = len(self.entries) < MANY
        self.everywhere = frozenset(
            term for term, held in self.held.items() if not few and len(held[0]) > len(self.entries) / 2
        )
        """Terms that most tools hold, in a catalogue of many: as other words for something they tell nothing."""
        names = [document.name_terms for _, document in pairs]
        families = self._families([document for _, document in pairs])
        self.name_shares = [
            self._shares(terms, families[entry.server])
            for entry, terms in zip(self.entries, names, strict=True)
        ]
        """By position: the terms of the name, each with its share of the name."""
        self.deeds = [_deeds(terms) for terms in names]
        """By position: what the verb in the name says that the tool does."""
        self.lexicon = Lexicon(self.held)
        self._by_name: dict[str, list[int]] = {}
        for position, entry in enumerate(self.entries):
            bare = entry.bare_name
            for name in {*map(words.plain, (entry.name, bare, entry.server + bare, *entry.aliases))}:
                self._by_name.setdefault(name, []).append(position)

    def named(self, name: str) -> Sequence[int]:
        """The tools of this name, full or bare, whatever its letter case and punctuation."""
        return self._by_name.get(words.plain(name), ())

    def of_server(self, name: str) -> frozenset[int]:
        """The tools of a server, whatever the letter case and punctuation of its name."""
        wanted = words.plain(name)
        return frozenset(
            position for position, entry in enumerate(self.entries) if words.plain(entry.server) == wanted
        )

    def holding(self, terms: Sequence[str]) -> set[int]:
        """The tools that hold all of these terms."""
        found: set[int] | None = None
        for term in terms:
            positions = set(self.held[term][0]) if term in self.held else set[int]()
            found = positions if found is None else found & positions
        return found or set()

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a term; the highest for one that no tool holds."""
        return self._rarities.get(term, self._highest)

    def _families(self, documents: Sequence[Document]) -> dict[str, frozenset[str]]:
        """By server: the words in its tools' names that stand for the server, as in `slack_post_message`."""
        counts: dict[str, Counter[str]] = {}
        sizes: Counter[str] = Counter()
        own: dict[str, frozenset[str]] = {}
        for entry, document in zip(self.entries, documents, strict=True):
            counts.setdefault(entry.server, Counter()).update(document.name_terms)
            sizes[entry.server] += 1
            own[entry.server] = document.server_terms
        return {
            server: frozenset(
                term
                for term, number in counted.items()
                if sizes[server] >= SMALLEST_FAMILY
                and (number >= COMMON_IN_NAMES * sizes[server] or (term in own[server] and number > 1))
            )
            for server, counted in counts.items()
        }

    def _shares(self, terms: Sequence[str], family: frozenset[str]) -> tuple[tuple[str, float], ...]:
        known = self._rarities
        rarities = [known[term] * FAMILY_SHARE if term in family else known[term] for term in terms]
        whole = sum(rarities)
        return tuple([(term, rarity / whole) for term, rarity in zip(terms, rarities, strict=True)])

    def _rarity(self, count: int) -> float:
        return math.log(1 + (len(self.entries) - count + 0.5) / (count + 0.5))


class _Saturated(dict[float, float]):
    """Weights by what they are before saturation: few of them differ, and one object will do for all that do not."""

    def __init__(self, saturation: float) -> None:
        super().__init__()
        self._saturation = saturation

    def __missing__(self, weight: float) -> float:
        found = self[weight] = weight * (self._saturation + 1) / (weight + self._saturation)
        return found


def _turned_round(
    documents: Iterable[Document], saturation: float
) -> dict[str, tuple[list[int], list[float]]]:
    held: defaultdict[str, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
    saturated = _Saturated(saturation)
    for position, document in enumerate(documents):
        for term, weight in document.terms.items():
            positions, scores = held[term]
            positions.append(position)
            scores.append(saturated[weight])
    held.default_factory = None
    return held


def _deeds(terms: Sequence[str]) -> frozenset[str]:
    """What a name says that its tool does: by its first word where that is a verb, else its last, else any."""
    actions = vocabulary().actions
    for term in (*terms[:1], *terms[-1:], *terms):
        if term in actions:
            return actions[term]
    return frozenset()
