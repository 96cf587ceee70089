"""The search: an index of tools that ranks them by a query, in memory, in pure Python."""

from __future__ import annotations

import math
from array import array
from heapq import nlargest
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.document import Document, document_of
from mcode.catalog.entry import Entry, Hit, SearchResult, Weights
from mcode.catalog.query import Group, Query, groups_of, parse
from mcode.catalog.spelling import Lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcode.catalog.vocabulary.load import Phrase

CANDIDATES = 150
"""Tools that the slower part of the ranking looks at."""


class ToolIndex:
    """Finds tools. A server's tools can be replaced without reading those of the others again."""

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights or Weights()
        self._servers: dict[str, list[tuple[Entry, Document]]] = {}
        self._linked: _Linked | None = None

    @classmethod
    def build(cls, entries: Iterable[Entry], weights: Weights | None = None) -> ToolIndex:
        """An index of these tools."""
        index = cls(weights)
        for entry in entries:
            index._servers.setdefault(entry.server, []).append((entry, document_of(entry, index._weights)))
        index._link()
        return index

    def replace_server(self, name: str, entries: Iterable[Entry]) -> None:
        """Put these tools in place of all that the server had; none removes it."""
        read = [(entry, document_of(entry, self._weights)) for entry in entries]
        if read:
            self._servers[name] = read
        else:
            self._servers.pop(name, None)
        self._linked = None

    def __len__(self) -> int:
        return sum(map(len, self._servers.values()))

    def search(self, query: str, k: int = 5, server: str | None = None) -> SearchResult:
        """The `k` tools that fit the query best; of one server only, when it is named."""
        linked = self._link()
        return _Search(linked, self._weights, server).run(parse(query), k)

    def _link(self) -> _Linked:
        if self._linked is None:
            self._linked = _Linked([pair for pairs in self._servers.values() for pair in pairs], self._weights)
        return self._linked


class _Linked:
    """The documents of all servers, turned round: which tools hold a term, and what it weighs there."""

    def __init__(self, pairs: Sequence[tuple[Entry, Document]], weights: Weights) -> None:
        self.entries = [entry for entry, _ in pairs]
        self.names = [document.name_terms for _, document in pairs]
        self.postings: dict[str, tuple[array[int], array[float]]] = {}
        k1 = weights.saturation
        for position, (_, document) in enumerate(pairs):
            for term, weight in document.terms.items():
                held = self.postings.get(term)
                if held is None:
                    held = self.postings[term] = (array("I"), array("f"))
                held[0].append(position)
                held[1].append(weight * (k1 + 1) / (weight + k1))
        self.lexicon = Lexicon(self.postings)
        self.by_name: dict[str, list[int]] = {}
        for position, entry in enumerate(self.entries):
            for name in {entry.name, entry.bare_name, f"{entry.server}/{entry.bare_name}", *entry.aliases}:
                self.by_name.setdefault(words.plain(name), []).append(position)

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a term; the highest for one that no tool holds."""
        count = len(self.postings[term][0]) if term in self.postings else 0
        return math.log(1 + (len(self.entries) - count + 0.5) / (count + 0.5))


class _Search:
    def __init__(self, linked: _Linked, weights: Weights, server: str | None) -> None:
        self._linked = linked
        self._weights = weights
        self._server = server

    def run(self, query: Query, k: int) -> SearchResult:
        exact = self._exact(query)
        ranked, near = self._rank(query)
        hits = [Hit(self._linked.entries[position].name, math.inf, exact=True) for position in exact]
        taken = set(exact)
        hits += [
            Hit(self._linked.entries[position].name, score)
            for position, score in ranked
            if position not in taken
        ]
        return SearchResult(tuple(hits[:k]), not (exact or near), len(self._linked.entries))

    def _exact(self, query: Query) -> list[int]:
        names = query.names or (query.text,)
        found: dict[int, None] = {}
        for name in names:
            for position in self._linked.by_name.get(words.plain(name), ()):
                found[position] = None
        return list(found)

    def _rank(self, query: Query) -> tuple[list[tuple[int, float]], bool]:
        groups = groups_of(query, self._linked.lexicon, self._weights)
        total: dict[int, float] = {}
        mass: dict[int, float] = {}
        whole = 0.0
        covered: dict[str, float] = {}
        for group in groups:
            best, weight = self._score(group, covered)
            whole += weight
            for position, score in best.items():
                total[position] = total.get(position, 0.0) + score
                mass[position] = mass.get(position, 0.0) + min(score, weight)
        ranked = []
        for position in nlargest(CANDIDATES, total, key=total.__getitem__):
            score = total[position]
            score *= 1 + self._weights.name_coverage * self._coverage(position, covered)
            score *= (mass[position] / whole) ** self._weights.query_coverage
            ranked.append((position, score))
        ranked.sort(key=lambda pair: -pair[1])
        return ranked, bool(ranked)

    def _coverage(self, position: int, covered: Mapping[str, float]) -> float:
        names = self._linked.names[position]
        if not names:
            return 0.0
        rarities = [self._linked.rarity(term) for term in names]
        return sum(covered.get(term, 0.0) * rarity for term, rarity in zip(names, rarities, strict=True)) / sum(rarities)

    def _score(self, group: Group, covered: dict[str, float]) -> tuple[dict[int, float], float]:
        """What a group scores in each tool that holds anything of it, and what it could score."""
        best: dict[int, float] = {}
        highest = 0.0
        for phrase, share in group.alternatives.items():
            rarity = sum(self._linked.rarity(term) for term in phrase) / len(phrase)
            if share == 1.0:
                highest = max(highest, rarity)
            for term in phrase:
                covered[term] = max(covered.get(term, 0.0), share * (1.0 if group.weight >= 1 else 0.5))
            for position, score in self._phrase(phrase).items():
                score *= share * group.weight
                if score > best.get(position, 0.0):
                    best[position] = score
        if group.parts:
            together: dict[int, float] = {}
            highest = 0.0
            for part in group.parts:
                scores, weight = self._score(part, covered)
                highest += weight
                for position, score in scores.items():
                    together[position] = together.get(position, 0.0) + score
            for position, score in best.items():
                best[position] = score * 1.5
            for position, score in together.items():
                if score > best.get(position, 0.0):
                    best[position] = score
            return best, highest
        return best, highest * group.weight

    def _phrase(self, phrase: Phrase) -> dict[int, float]:
        found: dict[int, float] | None = None
        for term in phrase:
            held = self._linked.postings.get(term)
            if held is None:
                return {}
            rarity = self._linked.rarity(term) / len(phrase)
            if found is None:
                found = {position: score * rarity for position, score in zip(*held, strict=True)}
            else:
                found = {
                    position: found[position] + score * rarity
                    for position, score in zip(*held, strict=True)
                    if position in found
                }
        return found or {}
