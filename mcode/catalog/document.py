"""Turns a tool into weighted terms: what an index holds of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.segment import glossed_terms
from mcode.catalog.vocabulary.load import brands
from mcode.model.reading import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    schema = _read_schema(entry.input_schema)
    for text, weight, usual in (
        (entry.title, weights.title, 3),
        (first, weights.first_sentence, 10),
        (rest, weights.rest, 60),
        (entry.hint[:TEXT_LIMIT], weights.hint, 10),
        (" ".join(schema.texts)[:TEXT_LIMIT], weights.parameter_text, 60),
    ):
        if text:
            read.add(terms(text), weight, usual)
            if words.has_unspaced(text):
                read.add(list(glossed_terms(text)), weight * weights.glossed, usual)
    read.add(terms(" ".join(schema.names)), weights.parameter, 8)
    read.add(terms(" ".join(schema.choices)), weights.enum, 12)
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
        seen: dict[str, int] = {}
        for term in found:
            times = seen.get(term, 0)
            if times < REPEATS:
                seen[term] = times + 1
                weights[term] = weights.get(term, 0.0) + weight


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
    """What a walk through an input schema collects."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.choices: list[str] = []
        self.texts: list[str] = []
        self.left = SCHEMA_LIMIT


def _read_schema(schema: JsonObject) -> _Schema:
    found = _Schema()
    level: list[JsonValue] = [schema]
    while level and found.left > 0:
        level = [child for part in level for child in _read_part(part, found)]
    return found


def _read_part(part: JsonValue, found: _Schema) -> Iterator[JsonValue]:
    """Note what one level of a schema says; give the schemas beneath it."""
    if not is_object(part) or found.left <= 0:
        return
    found.left -= 1
    for key, value in islice(part.items(), SCHEMA_LIMIT):
        if key == "description":
            if isinstance(value, str):
                found.texts.append(value[:TEXT_LIMIT])
        elif key in CHOICES:
            found.choices += _texts(value)
        elif key in TABLES_OF_SCHEMAS and is_object(value):
            if key == "properties":
                found.names += map(str, islice(value, SCHEMA_LIMIT))
            yield from islice(value.values(), SCHEMA_LIMIT)
        elif key in SCHEMAS:
            yield from islice(value, SCHEMA_LIMIT) if is_list(value) else (value,)


def _texts(value: JsonValue) -> Iterable[str]:
    values: list[JsonValue] = value if is_list(value) else [value]
    return [each[:80] for each in values[:ENUM_LIMIT] if isinstance(each, str)]
