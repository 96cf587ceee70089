"""Reads a query: the exact forms, and free words as groups of everything that each of them may be called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.language import translator_of
from mcode.catalog.segment import languages_of, segment
from mcode.catalog.vocabulary.load import EQUAL, Phrase, brands, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.catalog.entry import Weights
    from mcode.catalog.language import Translator
    from mcode.catalog.spelling import Lexicon

QUERY_LIMIT = 2_000
"""Characters of a query that are read."""

WORD_LIMIT = 80
"""Words of a query that are searched for."""

_SELECT = re.compile(r"\s*select\s*:\s*(.+)", re.IGNORECASE | re.DOTALL)
_PATTERN = re.compile(r"\s*/(.+)/([a-z]*)\s*", re.DOTALL)
_REQUIRED = re.compile(r"(?:^|(?<=\s))\+(?=\w)")
_FIELD_LABEL = re.compile(
    r"^\s*(?:mcp[ _-]?)?(?:server|tool|query|name)s?\s*[:=]\s*", re.IGNORECASE | re.MULTILINE
)

_CLAUSE_END = re.compile(
    r"[,;\uff0c\uff1b\u3001\u3002\n]+|\b(?:and|then|plus|und|dann|et|puis|ensuite|y|luego|e|depois|и|затем)\b|然后|并且|并|再|以及",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_./:-]+[A-Za-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9]*")
_NAME_INSIDE = re.compile(r"(?<=[a-z0-9,;:'\u2019] )[A-Z][\w'-]*")

PARTICLES = frozenset({"up", "off", "out", "down", "away", "back", "over", "into"})
"""Words that may stand apart from the verb they belong to: call the meeting off, turn this into a table."""

APART = 5
"""Words that may stand between the two."""

CLAUSE_LIMIT = 6
"""Clauses of a query that are looked at each by itself."""

SHORT_WORD = 3
"""Letters of a word that may be an abbreviation."""


@dataclass(frozen=True, slots=True)
class Group:
    """One word of a query, or a phrase, with everything that it may be called in a tool."""

    text: str
    weight: float
    alternatives: dict[Phrase, float]
    """What each counts; the best one found in a tool is what the group scores there."""
    parts: tuple[Group, ...] = ()
    """The words of a phrase, which together count when that is more."""
    is_name: bool = False
    """Whether it looks like a name, a number or an abbreviation: a value rather than what a tool is about."""


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked."""

    text: str
    names: tuple[str, ...] = ()
    """Of `select:`: the names asked for."""
    pattern: str = ""
    """Of `/.../`: the regular expression."""
    free: str = ""
    """Words to rank by."""
    required: tuple[str, ...] = ()
    """Words, each of which a tool must hold."""
    identifiers: tuple[str, ...] = ()
    """Words that are written as names of tools are."""


def parse(text: str) -> Query:
    """Tell the forms of a query apart."""
    text = text[:QUERY_LIMIT]
    selected = _SELECT.fullmatch(text)
    if selected:
        names = tuple(name.strip() for name in re.split(r"[,\s]+", selected[1]) if name.strip())
        return Query(text, names=names)
    pattern = _PATTERN.fullmatch(text)
    if pattern:
        return Query(text, pattern=pattern[1])
    required = tuple(part.split()[0] for part in _REQUIRED.split(text)[1:])
    return Query(
        text=text,
        free=_FIELD_LABEL.sub("", _REQUIRED.sub("", text)),
        required=required,
        identifiers=tuple(_IDENTIFIER.findall(text)),
    )


def clauses_of(text: str) -> tuple[str, ...]:
    """The steps of a text that asks for several things; a single one where it asks for one."""
    parts = (part.strip() for part in _CLAUSE_END.split(text))
    return tuple(part for part in parts if part)[:CLAUSE_LIMIT]


def groups_of(text: str, lexicon: Lexicon, weights: Weights) -> tuple[Group, ...]:
    """The words of a text as groups, in order, each thing once."""
    return _Reader(lexicon, weights).read(text)


def is_foreign(text: str, lexicon: Lexicon) -> bool:
    """Whether a text as a whole is in another language than English."""
    return translator_of(list(words.split(text, brands()))[:WORD_LIMIT], lexicon).foreign


class _Reader:
    """Builds the groups of one query."""

    def __init__(self, lexicon: Lexicon, weights: Weights) -> None:
        self._lexicon = lexicon
        self._weights = weights
        self._tables = vocabulary()
        self._names: frozenset[str] = frozenset()

    def read(self, text: str) -> tuple[Group, ...]:
        self._names = frozenset(
            word for name in _NAME_INSIDE.findall(text) for word in words.split(name, brands())
        )
        asked = self._gathered(list(words.split(text, brands()))[:WORD_LIMIT])
        translator = translator_of(asked, self._lexicon)
        found: list[Group] = []
        position = 0
        while position < len(asked):
            taken, groups = self._next(asked[position:], translator)
            found += groups
            position += taken
        if not found:
            found = [self._word(word, 1.0) for word in asked]
        return tuple({group.text: group for group in reversed(found)}.values())[::-1]

    def _gathered(self, asked: list[str]) -> list[str]:
        """The words with each particle moved to the verb that it belongs to, where both are known together."""
        tables = self._tables
        for place in range(len(asked)):
            for at in range(place + 2, min(place + 2 + APART, len(asked))):
                particle, follows = asked[at], asked[at + 1 : at + 2]
                if particle not in PARTICLES:
                    continue
                # Before a word with a meaning of its own it is a preposition: search the files over there.
                ends = particle == "into" or not follows or follows[0] in tables.stopwords
                nearer = (words.stem(asked[at - 1]), particle) in tables.meanings
                if ends and not nearer and (words.stem(asked[place]), particle) in tables.meanings:
                    asked.insert(place + 1, asked.pop(at))
                break
        return asked

    def _next(self, left: list[str], translator: Translator) -> tuple[int, list[Group]]:
        """The groups of the next word or phrase, and how many words it took."""
        word = left[0]
        if words.is_unspaced(word):
            return 1, self._unspaced(word)
        if translator.foreign:
            translation = translator.translate(left)
            if translation:
                text = " ".join(left[: translation.taken])
                return translation.taken, self._translated(text, translation.meanings)
        phrase = self._phrase(left)
        if phrase:
            return phrase
        if word in self._tables.stopwords:
            return 1, [self._word(word, self._weights.weak)] if (word,) in self._tables.meanings else []
        if not self._is_known(word):
            translation = translator.translate(left)
            if translation:
                text = " ".join(left[: translation.taken])
                return translation.taken, self._translated(text, translation.meanings)
        joined = (
            [words.stem(word + left[1])] if len(left) > 1 and left[1] not in self._tables.stopwords else []
        )
        return 1, [self._word(word, 1.0, joined)]

    def _is_known(self, word: str) -> bool:
        return words.stem(word) in self._lexicon or words.stem(word) in self._tables.known

    def _phrase(self, left: list[str]) -> tuple[int, list[Group]] | None:
        """The longest phrase of the tables that the words begin with."""
        for taken in range(min(self._tables.longest, len(left)), 1, -1):
            stems = tuple(words.stem(word) for word in left[:taken])
            others = self._tables.meanings.get(stems)
            if others is None:
                continue
            parts = tuple(
                self._word(word, 1.0) for word in left[:taken] if word not in self._tables.stopwords
            )
            alternatives = {phrase: self._weighed(weight) for phrase, weight in others.items()}
            return taken, [Group(" ".join(left[:taken]), 1.0, alternatives, parts)]
        return None

    def _word(self, word: str, weight: float, joined: Sequence[str] = ()) -> Group:
        """One English word with what else it may be called."""
        term = words.stem(word)
        alternatives: dict[Phrase, float] = {(term,): 1.0}
        for other in words.terms_of(word):
            alternatives.setdefault((other,), 0.8)
        for phrase, share in self._tables.meanings.get((term,), {}).items():
            alternatives.setdefault(phrase, self._weighed(share))
        for other in joined:
            if other in self._lexicon:
                alternatives.setdefault((other,), 0.9)
        if not any(each in self._lexicon for phrase in alternatives for each in phrase):
            for phrase in self._lexicon.guesses(term, word):
                alternatives.setdefault(phrase, self._weights.unknown)
        is_name = word in self._names or not word.isalpha() or len(word) <= SHORT_WORD
        weight *= self._weights.weak if term in self._tables.weak else 1.0
        return Group(word, weight, alternatives, is_name=is_name)

    def _translated(self, text: str, meanings: tuple[Phrase, ...]) -> list[Group]:
        """A word of another language by its English meanings and what those may be called."""
        if not meanings:
            return []
        alternatives: dict[Phrase, float] = {}
        for place, phrase in enumerate(meanings):
            share = max(1.0 - 0.1 * place, 0.6)
            alternatives[phrase] = max(share, alternatives.get(phrase, 0.0))
            for other, weight in self._tables.meanings.get(phrase, {}).items():
                alternatives[other] = max(self._weighed(weight) * share, alternatives.get(other, 0.0))
        parts = tuple(self._word(term, 1.0) for term in meanings[0]) if len(meanings[0]) > 1 else ()
        weak = all(len(phrase) == 1 and phrase[0] in self._tables.weak for phrase in meanings)
        return [Group(text, self._weights.weak if weak else 1.0, alternatives, parts)]

    def _unspaced(self, run: str) -> list[Group]:
        """The words of a run of characters; what no glossary knows is searched for as pairs."""
        found: list[Group] = []
        for word, meanings in segment(run, languages_of(run)):
            if meanings is None:
                found += [Group(pair, 0.5, {(pair,): 1.0}) for pair in words.pairs(word) if len(pair) > 1]
                continue
            for group in self._translated(word, meanings):
                if len(word) > 1:
                    group.alternatives[tuple(words.pairs(word))] = 1.0
                found.append(group)
        return found

    def _weighed(self, weight: float) -> float:
        return self._weights.equal if weight >= EQUAL else self._weights.related
