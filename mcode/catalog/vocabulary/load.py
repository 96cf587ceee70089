"""Reads the tables beside it into dictionaries, once a process, when something is first indexed or asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mcode.catalog import words
from mcode.catalog.vocabulary.characters import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator

Phrase: TypeAlias = tuple[str, ...]
"""One or more stems that belong together."""

TABLES = Path(__file__).parent

EQUAL = 0.8
"""What a word for the same thing counts beside the word itself."""

RELATED = 0.55
"""What a word counts that may be meant."""

LISTS = frozenset({"stopwords", "weak", "brands", "actions"})
"""Tables that are plain lists of words."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The English tables."""

    meanings: dict[Phrase, dict[Phrase, float]]
    """What else a word or phrase may be called, with the weight of each."""
    longest: int
    """Stems of the longest phrase that has meanings."""
    stopwords: frozenset[str]
    """Lower-case words that say nothing."""
    weak: frozenset[str]
    """Stems of words that say little."""
    brands: frozenset[str]
    """Names, in lower case, that are not cut at their capitals."""
    known: frozenset[str]
    """Every stem that occurs in a table."""
    actions: dict[str, frozenset[str]]
    """The kinds of deeds that the stem of a verb may stand for."""


@dataclass(slots=True)
class Glossary:
    """The words of one other language."""

    spellings: dict[str, tuple[Phrase, ...]] = field(default_factory=dict[str, tuple[Phrase, ...]])
    """English phrases by the word as it is written, the likeliest first; none for a word that says nothing.
    Words of a phrase are joined by blanks."""
    meanings: dict[str, tuple[Phrase, ...]] = field(default_factory=dict[str, tuple[Phrase, ...]])
    """The same by the word without accents, in simplified characters."""
    longest: int = 1
    """Characters of the longest word, for languages without blanks; words of the longest phrase otherwise."""

    def add(self, spelling: str, targets: tuple[Phrase, ...]) -> None:
        """Note what a word means; what it means elsewhere in the tables stays, and comes first."""
        known = self.spellings.get(spelling)
        if known is None:
            self.spellings[spelling] = targets
        elif known and targets:
            self.spellings[spelling] = tuple(dict.fromkeys((*known, *targets)))


@cache
def brands() -> frozenset[str]:
    """Names that keep their shape; what cutting into words needs, without the rest of the tables."""
    return frozenset(word.lower() for word in _words_of("brands"))


@cache
def vocabulary() -> Vocabulary:
    """The English tables, read and stemmed: some 100 ms of computing the first time."""
    meanings: dict[Phrase, dict[Phrase, float]] = {}
    for file in sorted((TABLES / "english").glob("*.txt")):
        if file.stem not in LISTS:
            for line in lines_of(file):
                _read_meaning(line, meanings)
    _turn_round(meanings)
    known = {word for phrase, others in meanings.items() for each in (phrase, *others) for word in each}
    return Vocabulary(
        meanings=meanings,
        longest=max(map(len, meanings)),
        stopwords=frozenset(_words_of("stopwords")),
        weak=frozenset(words.stem(word) for word in _words_of("weak")),
        brands=brands(),
        known=frozenset(known),
        actions=_read_actions(),
    )


@cache
def glossary(language: str) -> Glossary:
    """The glossary of a language by its two letters."""
    read = Glossary()
    for line in lines_of(TABLES / "glossary" / f"{language}.txt"):
        foreign, _, english = line.partition("=")
        targets = _targets(english)
        for spelling in foreign.split():
            read.add(spelling.replace("_", " ").lower(), targets)
    for spellings, targets in _concepts(language):
        for spelling in spellings:
            read.add(spelling, targets)
    for spelling, targets in read.spellings.items():
        read.meanings.setdefault(simplified(words.fold(spelling)), targets)
    unit = len if language not in STEMMED else _count_words
    read.longest = max(map(unit, read.meanings))
    return read


@cache
def _concept_rows() -> tuple[tuple[tuple[Phrase, ...], tuple[str, ...]], ...]:
    """The rows of the table by field: the English phrases, and the cells of the other languages."""
    rows = (line.split("|") for line in lines_of(TABLES / "glossary" / "concepts.txt"))
    return tuple((_targets(english), tuple(cells)) for english, *cells in rows)


def _concepts(language: str) -> Iterator[tuple[list[str], tuple[Phrase, ...]]]:
    """A language's words in the table by field, with their English phrases."""
    if language in CONCEPT_COLUMNS:
        column = CONCEPT_COLUMNS.index(language)
        for targets, cells in _concept_rows():
            spellings = [word.replace("_", " ").lower() for word in cells[column].split() if word != "-"]
            yield spellings, targets


def _targets(english: str) -> tuple[Phrase, ...]:
    return tuple(phrase_of(word.replace("_", " ")) for word in english.split() if word != "-")


@cache
def stemmed_glossary(language: str) -> dict[str, tuple[Phrase, ...]]:
    """The single words of one of the STEMMED languages by their folded stems."""
    found: dict[str, tuple[Phrase, ...]] = {}
    for spelling, targets in glossary(language).spellings.items():
        if " " not in spelling:
            found.setdefault(foreign_stem(language, spelling), targets)
    return found


CONCEPT_COLUMNS = ("zh", "ja", "ko", "de", "fr", "es", "pt", "ru")
"""Languages of the table by field, in the order of its columns."""

STEMMED = {
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "pt": "portuguese",
    "ru": "russian",
    "it": "italian",
    "nl": "dutch",
}
"""Languages with blanks between words, and the names of their stemmers."""


@lru_cache(maxsize=10_000)
def foreign_stem(language: str, word: str) -> str:
    """The folded stem of a word of one of the STEMMED languages."""
    return words.fold(words.stemmer(STEMMED[language]).stemWord(word.lower()))


@lru_cache(maxsize=10_000)
def phrase_of(text: str) -> Phrase:
    """The stems of one or more English words."""
    return tuple(words.stem(word) for word in words.split(text.strip(), brands()))


def _read_meaning(line: str, meanings: dict[Phrase, dict[Phrase, float]]) -> None:
    asked, arrow, meant = line.partition(">")
    if arrow:
        _add(meanings, phrase_of(asked), [phrase_of(part) for part in meant.split(",")], RELATED)
        return
    same = [phrase_of(part) for part in asked.split(",")]
    for phrase in same:
        _add(meanings, phrase, same, EQUAL)


def _turn_round(meanings: dict[Phrase, dict[Phrase, float]]) -> None:
    """A word that the tables only know as a meaning of others may be meant for those: it has nothing better."""
    found: dict[Phrase, list[Phrase]] = {}
    nothing = {phrase_of(word) for word in _words_of("stopwords")}
    for phrase, others in meanings.items():
        for other in others:
            if other not in meanings and other not in nothing:
                found.setdefault(other, []).append(phrase)
    for phrase, others in found.items():
        _add(meanings, phrase, others, RELATED)


def _add(
    meanings: dict[Phrase, dict[Phrase, float]], phrase: Phrase, others: list[Phrase], weight: float
) -> None:
    if not phrase:
        return
    kept = meanings.setdefault(phrase, {})
    for other in others:
        if other and other != phrase:
            kept[other] = max(weight, kept.get(other, 0.0))


def _read_actions() -> dict[str, frozenset[str]]:
    actions: dict[str, frozenset[str]] = {}
    for line in lines_of(TABLES / "english" / "actions.txt"):
        kind, _, verbs = line.partition(":")
        for verb in verbs.split():
            term = words.stem(verb)
            actions[term] = actions.get(term, frozenset()) | {kind}
    return actions


def _words_of(name: str) -> Iterator[str]:
    for line in lines_of(TABLES / "english" / f"{name}.txt"):
        yield from line.split()


def lines_of(file: Path) -> Iterator[str]:
    """The lines of a table without its comments."""
    for line in file.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def _count_words(text: str) -> int:
    return text.count(" ") + 1
