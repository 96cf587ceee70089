"""Turns a tool into weighted terms: what an index holds of it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.segment import glossed_terms
from mcode.catalog.vocabulary.load import brands
from mcode.model.reading import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.catalog.entry import Entry, Weights
    from mcode.jsontext import JsonObject, JsonValue

SENTENCE_LIMIT = 300
"""Characters of the first sentence; what follows counts as the rest."""

TEXT_LIMIT = 2_000
"""Characters of a description, and of all descriptions of parameters, that are read."""

SCHEMA_LIMIT = 600
"""Parts of an input schema that are looked at."""

ENUM_LIMIT = 60
"""Values of one list of choices that are read."""

REPEATS = 3
"""How often one word of a field counts."""

# Keys of a schema by what stands under them.
CHOICES = frozenset({"enum", "const"})
TABLES_OF_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
SCHEMAS = frozenset({"items", "additionalProperties", "not", "anyOf", "oneOf", "allOf", "prefixItems"})

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[\u3002\uff01\uff1f]|\n\s*\n|\n(?=\s*[-*#])")


@dataclass(frozen=True, slots=True)
class Document:
    """A tool as weighted terms."""

    terms: dict[str, float]
    """What each term weighs here, before saturation."""
    name_terms: tuple[str, ...]
    """The terms of the bare name, in order."""
    server_terms: frozenset[str]


def document_of(entry: Entry, weights: Weights) -> Document:
    """Everything that the search needs of a tool."""
    name = terms(entry.bare_name)
    server = terms(entry.server)
    read = _Reading(weights.length)
    read.add(name, weights.name, 3)
    read.add(server, weights.server, 2)
    for alias in entry.aliases:
        read.add(terms(alias), weights.name, 3)
    first, rest = first_sentence(entry.description[:TEXT_LIMIT])
    schema = _Schema(entry.input_schema)
    for text, weight, usual in (
        (entry.title, weights.title, 3),
        (first, weights.first_sentence, 10),
        (rest, weights.rest, 60),
        (entry.hint[:TEXT_LIMIT], weights.hint, 10),
        (" ".join(schema.texts)[:TEXT_LIMIT], weights.parameter_text, 60),
    ):
        if text:
            read.add(words.prose_terms(text, brands()), weight, usual)
            if words.has_unspaced(text):
                read.add(list(glossed_terms(text)), weight * weights.glossed, usual)
    for names, weight, usual in ((schema.names, weights.parameter, 8), (schema.choices, weights.enum, 12)):
        if names:
            read.add(terms(" ".join(names)), weight, usual)
    return Document(read.weights, tuple(dict.fromkeys(name)), frozenset(server))


class _Reading:
    """Adds up what the terms of a tool weigh, field by field."""

    def __init__(self, thinning: float) -> None:
        self.weights: dict[str, float] = {}
        self._thinning = thinning

    def add(self, found: Sequence[str], weight: float, usual: int) -> None:
        """One field: its terms, what each counts, and how many such a field usually has."""
        count = len(found)
        if count > usual:
            weight /= 1 - self._thinning + self._thinning * count / usual
        weights = self.weights
        known = weights.get
        if count - len(set(found)) < REPEATS:  # none of them can occur too often
            for term in found:
                weights[term] = known(term, 0.0) + weight
        else:
            for term, times in Counter(found).items():
                weights[term] = known(term, 0.0) + weight * (min(REPEATS, times))


def terms(text: str) -> list[str]:
    """The terms of a piece of text."""
    return words.terms(text, brands())


def first_sentence(text: str) -> tuple[str, str]:
    """A description's first sentence, at most SENTENCE_LIMIT characters, and what follows it."""
    text = text.strip()
    end = _SENTENCE_END.search(text, 0, SENTENCE_LIMIT)
    cut = end.end() if end else min(len(text), SENTENCE_LIMIT)
    return text[:cut].strip(), text[cut:].strip()


class _Schema:
    """What a walk through an input schema collects, level by level."""

    def __init__(self, schema: JsonObject) -> None:
        self.names: list[str] = []
        self.choices: list[str] = []
        self.texts: list[str] = []
        self._beneath: list[JsonValue] = [schema]
        left = SCHEMA_LIMIT
        while self._beneath and left > 0:
            level, self._beneath = self._beneath[:left], []
            left -= len(level)
            for part in level:
                if is_object(part):
                    self._read(part)

    def _read(self, part: JsonObject) -> None:
        """Note what one part of a schema says, and which parts are beneath it."""
        for key, value in part.items() if len(part) <= SCHEMA_LIMIT else islice(part.items(), SCHEMA_LIMIT):
            if key == "description":
                if isinstance(value, str):
                    self.texts.append(value[:TEXT_LIMIT])
            elif key in CHOICES:
                self.choices += _texts(value)
            elif key in TABLES_OF_SCHEMAS and is_object(value):
                if key == "properties":
                    self.names += map(str, islice(value, SCHEMA_LIMIT))
                self._beneath += islice(value.values(), SCHEMA_LIMIT)
            elif key in SCHEMAS:
                self._beneath += islice(value, SCHEMA_LIMIT) if is_list(value) else (value,)


def _texts(value: JsonValue) -> Iterable[str]:
    values: list[JsonValue] = value if is_list(value) else [value]
    return [each[:80] for each in values[:ENUM_LIMIT] if isinstance(each, str)]
