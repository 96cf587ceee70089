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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcode.catalog.entry import Entry, Weights
    from mcode.jsontext import JsonObject, JsonValue

SENTENCE_LIMIT = 300
"""Characters of the first sentence; what follows counts as the rest."""

TEXT_LIMIT = 4_000
"""Characters of a description, and of all descriptions of parameters, that are read."""

SCHEMA_LIMIT = 600
"""Parts of an input schema that are looked at."""

ENUM_LIMIT = 60
"""Values of one list of choices that are read."""

REPEATS = 3
"""How often one word of a field counts."""

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=\s*[-*#])")


@dataclass(frozen=True, slots=True)
class Field:
    """The terms of one part of a tool, and how much each of them counts."""

    terms: Counter[str]
    weight: float
    usual: int
    """Terms that such a field usually has."""


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
    combined: dict[str, float] = {}
    for part in _fields(entry, name, server, weights):
        _add(part, combined, weights.length)
    return Document(combined, tuple(dict.fromkeys(name)), frozenset(server))


def terms(text: str) -> list[str]:
    """The terms of a piece of text."""
    return words.terms(text, brands())


def first_sentence(text: str) -> tuple[str, str]:
    """A description's first sentence, at most SENTENCE_LIMIT characters, and what follows it."""
    text = text.strip()
    end = _SENTENCE_END.search(text, 0, SENTENCE_LIMIT)
    cut = end.end() if end else min(len(text), SENTENCE_LIMIT)
    return text[:cut].strip(), text[cut:].strip()


def _fields(entry: Entry, name: list[str], server: list[str], weights: Weights) -> Iterator[Field]:
    first, rest = first_sentence(entry.description[:TEXT_LIMIT])
    schema = _read_schema(entry.input_schema)
    yield Field(Counter(name), weights.name, 3)
    yield Field(Counter(server), weights.server, 2)
    for alias in entry.aliases:
        yield Field(Counter(terms(alias)), weights.name, 3)
    for text, weight, usual in (
        (entry.title, weights.title, 3),
        (first, weights.first_sentence, 10),
        (rest, weights.rest, 60),
        (entry.hint, weights.hint, 10),
        (" ".join(schema.texts)[:TEXT_LIMIT], weights.parameter_text, 60),
    ):
        if text:
            yield Field(Counter(terms(text)), weight, usual)
            if not text.isascii():
                yield Field(Counter(glossed_terms(text)), weight * weights.glossed, usual)
    yield Field(Counter(terms(" ".join(schema.names))), weights.parameter, 8)
    yield Field(Counter(terms(" ".join(schema.choices))), weights.enum, 12)


def _add(part: Field, combined: dict[str, float], thinning: float) -> None:
    count = part.terms.total()
    if not count:
        return
    share = (
        part.weight / (1 - thinning + thinning * count / part.usual) if count > part.usual else part.weight
    )
    for term, number in part.terms.items():
        combined[term] = combined.get(term, 0.0) + share * min(number, REPEATS)


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
    if not isinstance(part, dict) or found.left <= 0:
        return
    found.left -= 1
    properties = part.get("properties")
    if isinstance(properties, dict):
        found.names += map(str, islice(properties, SCHEMA_LIMIT))
        yield from islice(properties.values(), SCHEMA_LIMIT)
    for key in ("enum", "const"):
        found.choices += _texts(part.get(key))
    description = part.get("description")
    if isinstance(description, str):
        found.texts.append(description[:TEXT_LIMIT])
    for key in ("items", "additionalProperties", "not", "anyOf", "oneOf", "allOf", "prefixItems"):
        below = part.get(key)
        if isinstance(below, list):
            yield from islice(below, SCHEMA_LIMIT)
        elif isinstance(below, dict):
            yield below
    for key in ("$defs", "definitions"):
        below = part.get(key)
        if isinstance(below, dict):
            yield from islice(below.values(), SCHEMA_LIMIT)


def _texts(value: JsonValue) -> Iterable[str]:
    values = value if isinstance(value, list) else [value]
    return [each[:80] for each in values[:ENUM_LIMIT] if isinstance(each, str)]
