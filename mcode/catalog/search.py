"""The search: an index of tools that finds them by name, by pattern or by words; in memory, in pure Python."""

from __future__ import annotations

import math
from heapq import nlargest
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.document import document_of, terms
from mcode.catalog.entry import Entry, Hit, SearchResult, Weights
from mcode.catalog.patterns import PatternError, compile_pattern, matches
from mcode.catalog.postings import Postings
from mcode.catalog.query import is_foreign, parse
from mcode.catalog.ranking import CANDIDATES, Ranker, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from mcode.catalog.document import Document
    from mcode.catalog.meaning import Meaning
    from mcode.catalog.query import Query

LEXICAL = 0.45
"""What the words count beside the meaning, each divided by its best: the middle of what makes no difference."""

__all__ = ["Entry", "Hit", "SearchResult", "ToolIndex", "Weights"]


class ToolIndex:
    """
    Finds tools. The tools of one server can be replaced without reading those of the others again.

    Building and the first search after a change compute for a while (some 0.3 ms a tool): off the event loop, please.
    """

    def __init__(self, weights: Weights | None = None, meaning: Meaning | None = None) -> None:
        """`meaning` adds how near tools are to what a query means, as soon as it knows."""
        self._weights = weights or Weights()
        self._meaning = meaning
        self._servers: dict[str, list[tuple[Entry, Document]]] = {}
        self._postings: Postings | None = None

    @classmethod
    def build(
        cls, entries: Iterable[Entry], weights: Weights | None = None, meaning: Meaning | None = None
    ) -> ToolIndex:
        """An index of these tools, ready to search."""
        index = cls(weights, meaning)
        by_server: dict[str, list[Entry]] = {}
        for entry in entries:
            by_server.setdefault(entry.server, []).append(entry)
        for server, tools in by_server.items():
            index.replace_server(server, tools)
        index.prepare()
        return index

    def replace_server(self, name: str, entries: Iterable[Entry]) -> None:
        """Put these tools in place of all that the server had; none at all removes it."""
        read = [(entry, document_of(entry, self._weights)) for entry in entries]
        if read:
            self._servers[name] = read
        else:
            self._servers.pop(name, None)
        self._postings = None

    def prepare(self) -> None:
        """Do now what the next search would do first."""
        self._ready()

    def __len__(self) -> int:
        return sum(map(len, self._servers.values()))

    def named(self, name: str) -> tuple[str, ...]:
        """The tools that a name selects: full or bare, in any letter case and punctuation."""
        postings = self._ready()
        return tuple(postings.entries[position].name for position in postings.named(name))

    def search(self, query: str, k: int = 5, server: str | None = None) -> SearchResult:
        """
        The `k` tools that fit a query best; of one server only, when it is named.

        A query is free words in any language, `select:a,b` for names, `/pattern/` for a regular expression over
        names and descriptions, or words of which those marked `+` must occur. A tool that the query names comes
        first whatever else fits.
        """
        postings = self._ready()
        allowed = postings.of_server(server) if server else None
        return _Search(postings, self._weights, allowed, self._meaning).run(parse(query), max(k, 0))

    def _ready(self) -> Postings:
        if self._postings is None:
            pairs = [pair for pairs in self._servers.values() for pair in pairs]
            self._postings = Postings(pairs, self._weights.saturation)
            if self._meaning is not None and self._servers.keys() - {""}:
                self._meaning.follow(self._postings.entries)
        return self._postings


class _Search:
    """One query against one state of the index."""

    def __init__(
        self, postings: Postings, weights: Weights, allowed: Set[int] | None, meaning: Meaning | None
    ) -> None:
        self._meaning = meaning
        self._postings = postings
        self._weights = weights
        self._allowed = allowed

    def run(self, query: Query, k: int) -> SearchResult:
        if query.pattern:
            return self._match(query, k)
        exact = self._exact(query)
        if query.names and exact:
            return self._result(exact, (), k, found=True)
        allowed = self._allowed
        if query.required:
            allowed = self._holding(query.required)
            exact = [position for position in exact if position in allowed]
        ranking = self._with_meaning(
            Ranker(self._postings, self._weights, allowed).rank(query.free), query, allowed
        )
        if query.required and not ranking.scores:
            ranking = Ranking(tuple((position, 0.0) for position in sorted(allowed or ())), near=True)
        near = bool(exact) or (bool(ranking.scores) and (ranking.near or bool(query.required)))
        return self._result(exact, ranking.scores, k, found=near)

    def _with_meaning(self, ranking: Ranking, query: Query, allowed: Set[int] | None) -> Ranking:
        """A ranking in which also counts how near each tool is to what the query means.

        The model has learnt English; a query in another language is left to the glossaries.
        """
        entries = self._postings.entries
        if not self._meaning or not query.free.strip() or is_foreign(query.free, self._postings.lexicon):
            return ranking
        near = self._meaning.nearness(query.free, entries)
        if near is None:
            return ranking
        by_words = dict(ranking.scores)
        best = max(by_words.values(), default=0.0) or 1.0
        positions = range(len(entries)) if allowed is None else allowed
        scores = {
            position: LEXICAL * by_words.get(position, 0.0) / best + (1 - LEXICAL) * near[position]
            for position in positions
        }
        ranked = nlargest(CANDIDATES, scores.items(), key=lambda pair: (pair[1], -pair[0]))
        return Ranking(tuple(ranked), near=ranking.near)

    def _result(
        self,
        exact: Sequence[int],
        ranked: Iterable[tuple[int, float]],
        k: int,
        *,
        found: bool,
        fault: str = "",
    ) -> SearchResult:
        entries = self._postings.entries
        hits = [Hit(entries[position].name, math.inf, exact=True) for position in exact]
        taken = set(exact)
        hits += [Hit(entries[position].name, score) for position, score in ranked if position not in taken]
        return SearchResult(tuple(hits[:k]), not found, self._searched(), fault)

    def _searched(self) -> int:
        return len(self._postings.entries) if self._allowed is None else len(self._allowed)

    def _exact(self, query: Query) -> list[int]:
        """The tools that a query names, in its order."""
        found: dict[int, None] = {}
        for name in query.names or (query.text, *query.identifiers):
            for position in self._postings.named(name):
                if self._allowed is None or position in self._allowed:
                    found[position] = None
        return list(found)

    def _holding(self, required: Iterable[str]) -> frozenset[int]:
        """The tools that hold each of these words, in any form, or in the middle of their name."""
        found = self._allowed
        for word in required:
            holding = {
                position
                for position, entry in enumerate(self._postings.entries)
                if words.plain(word) in words.plain(entry.server + entry.bare_name)
            }
            holding |= self._postings.holding(terms(word))
            found = holding if found is None else found & holding
        return frozenset(found or ())

    def _match(self, query: Query, k: int) -> SearchResult:
        """The tools whose name, or else whose description, a pattern matches."""
        try:
            pattern = compile_pattern(query.pattern)
        except PatternError as error:
            return self._result((), (), k, found=False, fault=str(error))
        entries = self._postings.entries
        positions = range(len(entries)) if self._allowed is None else sorted(self._allowed)
        scores, complete = matches(pattern, [(position, entries[position]) for position in positions])
        fault = "" if complete else f"matching the pattern {query.pattern} took too long and was ended"
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], entries[pair[0]].name))
        return self._result((), ranked, k, found=bool(ranked), fault=fault)
