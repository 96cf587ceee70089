"""What the search knows of a tool, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool as the search sees it. All text may be foreign and hostile: it is only ever cut into words."""

    name: str
    """What the model calls, unique in an index: `mcp__github__create_issue` or `NotebookEdit`."""
    server: str = ""
    """Name of the MCP server as configured; empty for mcode's own tools."""
    title: str = ""
    description: str = ""
    input_schema: JsonObject = field(default_factory=dict[str, object])
    hint: str = ""
    """Words that the user adds so that the tool is found by them."""
    aliases: tuple[str, ...] = ()
    """Other names, each as good as the name itself."""

    @property
    def bare_name(self) -> str:
        """The name that the server gave it: what follows `mcp__server__`."""
        if self.name.startswith("mcp__"):
            _, separator, bare = self.name[5:].partition("__")
            if separator and bare:
                return bare
        return self.name


@dataclass(frozen=True, slots=True)
class Hit:
    """One tool that a search found."""

    name: str
    score: float
    """Comparable within one result only."""
    exact: bool = False
    """Whether the query named this tool."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one query found."""

    hits: tuple[Hit, ...]
    """The best first; the nearest ones even where nothing fits."""
    no_match: bool
    """Whether nothing comes near what was asked."""
    searched: int
    """Tools that were looked at."""
    fault: str = ""
    """Why the query could not be carried out as it was written."""


@dataclass(frozen=True, slots=True)
class Weights:
    """
    The numbers of the ranking. The defaults are round numbers from the middle of a flat optimum: what
    `tools/eval_search.py --tune` chooses on half of the servers is no better on the other half.
    """

    name: float = 4.0
    title: float = 2.0
    server: float = 2.0
    first_sentence: float = 2.0
    rest: float = 0.5
    parameter: float = 0.8
    enum: float = 0.5
    parameter_text: float = 0.2
    hint: float = 2.0
    glossed: float = 0.5
    """English words that a glossary gives for Chinese text of a tool, beside the text itself."""
    saturation: float = 1.2
    """k1: how soon more of the same word counts no more."""
    length: float = 0.25
    """b: how much a long field thins out its words, from 0 to 1."""
    equal: float = 0.75
    related: float = 0.45
    weak: float = 0.3
    unknown: float = 0.7
    """Words guessed from spelling: beginnings, compounds, slips of the finger."""
    name_coverage: float = 0.8
    """What a name wholly made of words that were asked for adds, as a share of the score."""
    query_coverage: float = 0.5
    """Exponent on the share of the query that a tool answers."""

    deed: float = 0.2
    """What a tool loses whose name says that it does something else than was asked for, as a share of the score."""
    clause: float = 0.7
    """What a tool that is best for one clause of a query gains, beside the best of the whole query at 1."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all numbers."""
        return tuple(each.name for each in fields(cls))
