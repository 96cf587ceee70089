"""The search tested on the tools that are there: which are found by no query made of themselves, which hide each other.

Queries are made from what each tool says of itself: the words of its name, its first sentence, its parameters, its
aliases. Nothing is sent anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.catalog import words
from mcode.catalog.document import first_sentence
from mcode.catalog.search import ToolIndex
from mcode.model.reading import is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.catalog.entry import Entry

SHOWN = 5
"""Places within which a tool has to be: so many definitions a search loads."""

THIN = 4
"""Words of a description that say something; fewer are too few to be found by."""

ALIKE = 0.75
"""Share of the words of two descriptions that are the same, from which the two are told apart by nothing else."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query for a tool, and where the tool came."""

    kind: str
    """`name`, `description`, `parameters`, `alias` or `hint`."""
    query: str
    rank: int
    """From 1; 0 where it was not among the first."""
    instead: str
    """The tool that came first in its place; empty where it came first itself."""


@dataclass(frozen=True, slots=True)
class Tested:
    """One tool with what was asked for it."""

    name: str
    asked: tuple[Asked, ...]
    thin: bool
    """The description has too few words."""

    @property
    def found(self) -> int:
        """Queries that put it among the first."""
        return sum(1 <= each.rank <= SHOWN for each in self.asked)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tools of which one takes the other's place."""

    hidden: str
    by: str
    queries: tuple[str, ...]
    alike: float
    """Share of words that their descriptions have in common."""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What came of it."""

    tools: tuple[Tested, ...]
    pairs: tuple[Pair, ...]
    hints: dict[str, str]
    """By name of the tool: words that would make it findable, for the file of hints."""
    mended: int = 0
    """Of the tools that no query found, those that one finds with these hints."""

    @property
    def unfindable(self) -> tuple[str, ...]:
        """Tools that no query found."""
        return tuple(each.name for each in self.tools if each.asked and not each.found)

    @property
    def thin(self) -> tuple[str, ...]:
        """Tools whose description says too little."""
        return tuple(each.name for each in self.tools if each.thin)

    @property
    def recall(self) -> float:
        """Share of the queries that put their tool among the first; 1 where nothing was asked."""
        asked = [each for tool in self.tools for each in tool.asked]
        return sum(1 <= each.rank <= SHOWN for each in asked) / len(asked) if asked else 1.0


def run_self_test(entries: Sequence[Entry]) -> SelfTest:
    """Ask for every tool. Takes some milliseconds a query: off the event loop for many tools."""
    index = ToolIndex.build(entries)
    by_name = {entry.name: entry for entry in entries}
    tested = tuple(
        Tested(
            entry.name,
            tuple(_ask(index, entry.name, kind, query) for kind, query in queries_for(entry)),
            len(_content(entry.description)) < THIN,
        )
        for entry in entries
    )
    pairs = _pairs(tested, by_name)
    needy = {each.name for each in tested if each.thin or not each.found} | {each.hidden for each in pairs}
    lost = [each.name for each in tested if each.asked and not each.found]
    hints = {name: _hint(by_name[name], entries) for name in sorted(needy)}
    hints = {
        name: hint for name, hint in hints.items() if hint and (name in lost or _adds(hint, by_name[name]))
    }
    mended = _mended(entries, hints, lost) if lost else 0
    return SelfTest(tested, pairs, hints, mended)


def _mended(entries: Sequence[Entry], hints: dict[str, str], lost: Sequence[str]) -> int:
    """How many of the lost tools are found once the hints are there."""
    helped = [replace(entry, hint=f"{entry.hint} {hints.get(entry.name, '')}".strip()) for entry in entries]
    index = ToolIndex.build(helped)
    return sum(
        any(1 <= _ask(index, entry.name, kind, query).rank <= SHOWN for kind, query in queries_for(entry))
        for entry in helped
        if entry.name in lost
    )


def queries_for(entry: Entry) -> list[tuple[str, str]]:
    """What somebody might ask for who needs this tool, by kind."""
    sentence, _ = first_sentence(entry.description)
    named = " ".join(words.split(entry.bare_name))
    properties = entry.input_schema.get("properties")
    parameters = " ".join(words.split(" ".join(properties))) if is_object(properties) else ""
    made = [
        ("name", named),
        ("description", sentence[:200].rstrip(".")),
        ("parameters", f"{named} {parameters}" if parameters else ""),
        *(("alias", alias) for alias in entry.aliases),
        ("hint", entry.hint),
    ]
    return [(kind, query) for kind, query in made if query.strip()]


def _ask(index: ToolIndex, name: str, kind: str, query: str) -> Asked:
    hits = [hit.name for hit in index.search(query, SHOWN).hits]
    rank = hits.index(name) + 1 if name in hits else 0
    return Asked(kind, query, rank, hits[0] if hits and hits[0] != name else "")


def _pairs(tested: Sequence[Tested], by_name: dict[str, Entry]) -> tuple[Pair, ...]:
    """Tools that another one takes the first place from, for the words of their own description or name."""
    taken: dict[tuple[str, str], list[str]] = {}
    for tool in tested:
        for asked in tool.asked:
            if asked.instead and asked.kind != "parameters":
                taken.setdefault((tool.name, asked.instead), []).append(asked.query)
    pairs = [
        Pair(hidden, by, tuple(queries), _alike(by_name[hidden], by_name[by]))
        for (hidden, by), queries in taken.items()
    ]
    told = [each for each in pairs if len(each.queries) > 1 or each.alike >= ALIKE]
    return tuple(sorted(told, key=lambda each: (-each.alike, each.hidden, each.by)))


def _alike(one: Entry, other: Entry) -> float:
    left, right = _content(one.description), _content(other.description)
    return len(left & right) / max(1, len(left | right))


def _hint(entry: Entry, entries: Sequence[Entry]) -> str:
    """Words of the tool's own that few others have: from its name, its parameters and its server."""
    properties = entry.input_schema.get("properties")
    own = [
        *words.split(entry.bare_name),
        *(properties if is_object(properties) else ()),
        *words.split(entry.server),
    ]
    counted = {word: sum(word in each.description.lower() for each in entries) for word in dict.fromkeys(own)}
    rare = sorted(counted, key=lambda word: (counted[word], own.index(word)))
    return " ".join(rare[:6])


def _adds(hint: str, entry: Entry) -> bool:
    """Whether a hint has a telling word that neither the tool's name nor its server's has."""
    return bool(_content(hint) - _content(f"{entry.bare_name} {entry.server}"))


def _content(text: str) -> set[str]:
    return {word.lower() for word in words.split(text) if len(word) > 2}
