"""Ranks tools by the free words of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog.query import clauses_of, groups_of
from mcode.catalog.vocabulary.load import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from mcode.catalog.entry import Weights
    from mcode.catalog.postings import Postings
    from mcode.catalog.query import Group
    from mcode.catalog.vocabulary.load import Phrase

CANDIDATES = 80
"""Tools that the slower part of the ranking looks at, and that one query finds at most."""

PHRASE_BONUS = 2.0
"""What another word for a whole phrase counts beside one for a single word."""

CLAUSE_WEIGHT = 1.5
"""Weight of words that a clause needs to be a request of its own."""

UNKNOWN_NAME = 0.15
"""What a name or number that no tool knows counts among the words that were not found: it is a value, not a subject."""

NEAR_SHORT, NEAR_LONG = 0.22, 0.15
"""Share of a query that some tool must answer for the query to have a match, for short and for long queries."""

SHORT_QUERY, LONG_QUERY = 4, 12
"""Words of a short and of a long query."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the free words of a query found."""

    scores: tuple[tuple[int, float], ...]
    """Positions of tools with their scores, the best first."""
    near: bool
    """Whether the best of them answer enough of the query to be a match."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """One group of a query against all tools."""

    best: Sequence[float]
    """What it scores, by position."""
    held: bool
    """Whether that is more than nothing anywhere."""
    weight: float
    """What it scores where a tool is made for it."""
    covered: Mapping[str, float]
    """The terms that it stands for, and how surely."""
    deeds: Set[str]
    """What it asks to be done, where it is a verb."""


class Ranker:
    """Answers one query. Groups that occur in several clauses are scored once."""

    def __init__(self, postings: Postings, weights: Weights, allowed: Set[int] | None = None) -> None:
        self._postings = postings
        self._weights = weights
        self._allowed = allowed
        self._scored: dict[str, _Scored] = {}
        self._actions = vocabulary().actions

    def rank(self, text: str) -> Ranking:
        """The tools that fit a text, and whether they come near it."""
        groups = groups_of(text, self._postings.lexicon, self._weights)
        scores, nearness = self._scores(groups)
        if not scores:
            return Ranking((), near=False)
        clauses = clauses_of(text)
        if len(clauses) > 1:
            scores = self._with_clauses(scores, clauses)
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return Ranking(tuple(ranked), near=nearness >= _needed(len(groups)))

    def _with_clauses(self, scores: Mapping[int, float], clauses: Iterable[str]) -> dict[int, float]:
        """The scores of a whole query, with what is best for one of its clauses moved up."""
        highest = max(scores.values())
        extra: dict[int, float] = {}
        for clause in clauses:
            groups = groups_of(clause, self._postings.lexicon, self._weights)
            if sum(group.weight for group in groups) < CLAUSE_WEIGHT:
                continue
            own, _ = self._scores(groups)
            top = max(own.values(), default=0.0)
            for position, score in own.items():
                extra[position] = max(extra.get(position, 0.0), score / top)
        return {
            position: scores.get(position, 0.0) / highest + self._weights.clause * extra.get(position, 0.0)
            for position in scores.keys() | extra.keys()
        }

    def _scores(self, groups: Sequence[Group]) -> tuple[dict[int, float], float]:
        """What the best candidates score, and the largest share of the words that one of them answers."""
        found = [self._score_once(group) for group in groups]
        covered: dict[str, float] = {}
        asked: set[str] = set()
        whole = 0.0
        for group, scored in zip(groups, found, strict=True):
            whole += scored.weight if scored.held or not group.is_name else scored.weight * UNKNOWN_NAME
            asked |= scored.deeds
            for term, share in scored.covered.items():
                if share > covered.get(term, 0.0):
                    covered[term] = share
        total = self._total(found)
        scores: dict[int, float] = {}
        nearest = 0.0
        for position in _highest(total):
            answered = 0.0
            for scored in found:
                answered += min(scored.best[position], scored.weight)
            answered /= whole
            nearest = max(nearest, answered)
            scores[position] = total[position] * self._fit(position, answered, covered, asked)
        return scores, nearest

    def _total(self, found: Sequence[_Scored]) -> Sequence[float]:
        """By position: what all groups together score in a tool; nothing in one that may not be looked at."""
        total = list(map(sum, zip(*(scored.best for scored in found if scored.held), strict=True)))
        if self._allowed is not None:
            return [score if position in self._allowed else 0.0 for position, score in enumerate(total)]
        return total

    def _fit(self, position: int, answered: float, covered: Mapping[str, float], asked: Set[str]) -> float:
        """How well a tool as a whole fits, as a factor on its score."""
        name = 0.0
        for term, share in self._postings.name_shares[position]:
            if term in covered:
                name += covered[term] * share
        fit = (1 + self._weights.name_coverage * name) * answered**self._weights.query_coverage
        deeds = self._postings.deeds[position]
        return fit if not asked or not deeds or asked & deeds else fit * (1 - self._weights.deed)

    def _score_once(self, group: Group) -> _Scored:
        scored = self._scored.get(group.text)
        if scored is None:
            scored = self._scored[group.text] = self._score(group)
        return scored

    def _score(self, group: Group) -> _Scored:
        best = [0.0] * len(self._postings.entries)
        held = False
        covered: dict[str, float] = {}
        deeds: set[str] = set()
        weight = 0.0
        limit = self._own_rarity(group)
        trust = 1.0 if group.weight >= 1 else 0.5
        surest = max(group.alternatives.values(), default=0.0)
        for phrase, share in group.alternatives.items():
            rarity = sum(map(self._postings.rarity, phrase)) / len(phrase)
            if share == surest:
                weight = max(weight, rarity)
                deeds |= self._actions.get(phrase[0], frozenset())
            for term in phrase:
                covered[term] = max(covered.get(term, 0.0), share * trust)
            factor = share * group.weight * min(1.0, limit / rarity)
            if share < 1.0 and phrase[0] in self._postings.everywhere and len(phrase) == 1:
                continue
            if group.parts:
                factor *= PHRASE_BONUS
            held = self._keep_best(best, phrase, factor) or held
        scored = _Scored(best, held, weight * group.weight, covered, deeds)
        return self._with_parts(group, scored) if group.parts else scored

    def _with_parts(self, group: Group, whole: _Scored) -> _Scored:
        """A phrase scores what its words score together, where that is more than another word for it."""
        best, covered, deeds = list(whole.best), dict(whole.covered), set(whole.deeds)
        together: dict[int, float] = {}
        found: dict[int, float] = {}
        weight = 0.0
        for part in group.parts:
            scored = self._score(part)
            weight += scored.weight
            deeds |= scored.deeds
            for term, share in scored.covered.items():
                covered[term] = max(covered.get(term, 0.0), share)
            for position, score in enumerate(scored.best):
                if score:
                    together[position] = together.get(position, 0.0) + score
                    found[position] = found.get(position, 0.0) + scored.weight
        for position, score in together.items():
            joint = score * found[position] / weight
            if joint > best[position]:
                best[position] = joint
        return _Scored(best, whole.held or bool(together), weight, covered, deeds)

    def _own_rarity(self, group: Group) -> float:
        """How rare the word itself is, where tools hold it: a rarer synonym must not count more than that."""
        own = [
            self._postings.rarity(phrase[0])
            for phrase, share in group.alternatives.items()
            if share == 1.0 and len(phrase) == 1 and phrase[0] in self._postings.held
        ]
        return max(own, default=float("inf"))

    def _keep_best(self, best: list[float], phrase: Phrase, factor: float) -> bool:
        """Note what a word or phrase scores in each tool that holds all of it, where that is the best so far.

        Returns whether any tool does.
        """
        if len(phrase) > 1:
            together = self._together(phrase)
            share = factor / len(phrase)
            for position, score in together.items():
                best[position] = max(best[position], score * share)
            return bool(together)
        term = "".join(phrase)  # the only one
        positions, scores = self._postings.held.get(term, ((), ()))
        factor *= self._postings.rarity(term)
        for position, score in zip(positions, scores, strict=True):
            score *= factor  # noqa: PLW2901 -- the hottest loop of a search
            if score > best[position]:
                best[position] = score
        return bool(positions)

    def _together(self, phrase: Phrase) -> dict[int, float]:
        """What the words of a phrase score in each tool that holds all of them."""
        held = [self._postings.held.get(term) for term in phrase]
        columns = [each for each in held if each is not None]
        if len(columns) < len(phrase):
            return {}
        common = set(min(columns, key=lambda column: len(column[0]))[0])
        for positions, _ in columns:
            common.intersection_update(positions)
        if not common:
            return {}
        sums = dict.fromkeys(common, 0.0)
        for term, column in zip(phrase, columns, strict=True):
            rarity = self._postings.rarity(term)
            scores = dict(zip(*column, strict=True))
            for position in common:
                sums[position] += scores[position] * rarity
        return sums


def _highest(total: Sequence[float]) -> list[int]:
    """The positions of the candidates: of the highest scores, where there are any."""
    found = [position for position, score in enumerate(total) if score]
    if len(found) > CANDIDATES:
        least = sorted(total)[-CANDIDATES]
        found = [position for position in found if total[position] >= least]
    return sorted(found, key=total.__getitem__, reverse=True)[:CANDIDATES]


def _needed(count: int) -> float:
    """The share of a query of so many words that a match must answer."""
    length = min(max(count, SHORT_QUERY), LONG_QUERY)
    return NEAR_SHORT - (NEAR_SHORT - NEAR_LONG) * (length - SHORT_QUERY) / (LONG_QUERY - SHORT_QUERY)
