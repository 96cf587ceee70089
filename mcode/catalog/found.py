"""Writes what a search has found, as the model reads it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.directory import one_line
from mcode.catalog.placement import RUN_CODE, TOOL_SEARCH
from mcode.catalog.servers import UNAVAILABLE
from mcode.model.reading import is_list, is_object
from mcode.model.tokens import count_tokens
from mcode.text import Kind, clean
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.catalog.entry import Hit
    from mcode.catalog.shelf import Shelf
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.tool import Tool

BUDGET = 4_000
"""Tokens of the definitions of one call."""

SHARE = 0.4
"""What a hit must score, as a share of the best one's score, to be loaded unasked."""

WORTH_NAMING = 0.15
"""What a hit must score, as a share of the best one's score, to be named at all."""

NEAREST = 5
"""Hits that are named where nothing fits."""

RANKS = 15
"""Hits that are named at most."""

SERVERS_NAMED = 12
"""Servers that a miss names."""

OPENING = "<definitions>"
CLOSING = "</definitions>"
"""Around the definitions in a result. Where an endpoint loads them another way they are left out when it is sent."""

_BLOCK = re.compile(rf"{OPENING}\n.*?\n{CLOSING}\n?", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_SAMPLES: dict[str, JsonValue] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one query found, as far as it may be shown."""

    query: str
    hits: tuple[tuple[Hit, Tool], ...]
    """The best first; the nearest ones even where nothing fits."""
    missed: bool
    """True where nothing comes near what was asked."""
    searched: int
    """Tools that were looked at."""
    fault: str = ""
    """Why the query could not be carried out as it was written."""

    @property
    def selects(self) -> bool:
        """True for `select:`: the names asked for are shown whole, even if they were loaded before."""
        return self.query.strip().lower().startswith("select")

    def best(self) -> list[Tool]:
        """The hits to load: what the query named, else those near the best one."""
        named = [tool for hit, tool in self.hits if hit.exact]
        if named or self.missed:
            return named
        top = self.hits[0][0].score
        return [tool for hit, tool in self.hits if math.isinf(hit.score) or hit.score >= SHARE * top]

    def worth_naming(self) -> tuple[tuple[Hit, Tool], ...]:
        """The hits that are shown to anybody: those near the best one, the nearest few where nothing fits."""
        hits = self.hits[: NEAREST if self.missed else len(self.hits)]
        least = max((hit.score for hit, _ in hits if not hit.exact), default=0.0) * WORTH_NAMING
        return tuple((hit, tool) for hit, tool in hits if hit.exact or hit.score >= least)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one call."""

    text: str
    loaded: tuple[JsonObject, ...]
    """Definitions that the text shows whole."""
    others: tuple[str, ...]
    """Names of the other hits that the text names."""
    missed: bool


def write(findings: Sequence[Finding], count: int, shelf: Shelf, servers: Sequence[str]) -> Report:
    """Put the findings of all queries into one text: `count` definitions at most, within BUDGET.

    `servers` says, a line each, which servers' tools may be missing and why.
    """
    writer = _Writer(shelf, count)
    for tool, whole in _in_turn(findings):
        writer.add(tool, whole)
    missed = [each for each in findings if each.missed]
    lines = [*writer.lines(), *writer.list_others(findings)]
    lines += [_miss(each, shelf) for each in missed]
    if missed and servers:
        lines += [
            "Servers that could not be searched, or not wholly:",
            *(f"- {one_line(each)}" for each in servers),
        ]
    text = clean("\n".join(lines), Kind.MODEL)
    return Report(text, tuple(writer.loaded), tuple(writer.others), len(missed) == len(findings))


def without_definitions(text: str) -> str:
    """A result where the definitions come into the context another way."""
    return _BLOCK.sub("", text)


def _in_turn(findings: Sequence[Finding]) -> list[tuple[Tool, bool]]:
    """The tools to load: the first of each query, then the second of each, and so on; and whether each is selected."""
    queues = [(finding, finding.best()) for finding in findings]
    ordered: dict[str, tuple[Tool, bool]] = {}
    for rank in range(max((len(best) for _, best in queues), default=0)):
        for finding, best in queues:
            if rank < len(best):
                ordered.setdefault(best[rank].name, (best[rank], finding.selects))
    return list(ordered.values())


class _Writer:
    """Collects what is shown."""

    def __init__(self, shelf: Shelf, count: int) -> None:
        self._shelf = shelf
        self._count = count
        self._left = BUDGET
        self._shown: dict[str, str] = {}
        """By name of a tool whose definition is shown: the mark beside it."""
        self._folded: list[str] = []
        self._there: list[str] = []
        self._named: set[str] = set()
        self._example: Tool | None = None
        self.loaded: list[JsonObject] = []
        self.others: list[str] = []

    def add(self, tool: Tool, selected: bool) -> None:
        """Show a tool's definition, as far as there is room; what the model has already is only named."""
        placed = self._shelf.placements.of(tool)
        before = len(self.others)
        self._add(tool, placed.placement, selected)
        if len(self.others) == before:
            self._named.add(tool.name)

    def _add(self, tool: Tool, placement: Placement, selected: bool) -> None:
        if placement is not Placement.DEFERRED:
            self._there.append(f"- {tool.name}: {_whereabouts(placement)}{self._mark(tool)}")
        elif self._shelf.seen.is_loaded(tool.name) and not selected:
            self._there.append(f"- {tool.name}: loaded before{self._mark(tool)}")
            self._example = self._example or tool
        elif len(self._shown) >= self._count:
            self.others.append(tool.name)
        else:
            self._define(tool, selected)

    def _define(self, tool: Tool, selected: bool) -> None:
        definition = self._shelf.definitions.loaded(tool)
        size = count_tokens(jsontext.dump(definition))
        alone = selected and not self._shown
        if size > self._left and not alone:
            self._fold(tool)
            return
        self._left -= size
        self._shown[tool.name] = self._mark(tool)
        self.loaded.append(definition)
        self._example = self._example or tool

    def _fold(self, tool: Tool) -> None:
        """A definition for which there is no room: its signature, if that fits."""
        from mcode.catalog.signatures import signature

        line = signature(
            tool.name, self._shelf.definitions.description(tool), tool.input_schema, tool.output_schema
        )
        size = count_tokens(line)
        if size > self._left:
            self.others.append(tool.name)
            return
        self._left -= size
        self._folded.append(f"- {line}{self._mark(tool)}")

    def lines(self) -> list[str]:
        """Everything but the hits that are only named."""
        lines: list[str] = []
        if self.loaded:
            marked = [f"- {name}{mark}" for name, mark in self._shown.items() if mark]
            lines.append(f"Loaded: {', '.join(self._shown)}.")
            lines += [OPENING, *(_as_line(each) for each in self.loaded), CLOSING]
            lines += marked
        if self._folded:
            lines.append("Too long to be shown whole, so not loaded; `select:NAME` loads one:")
            lines += self._folded
        if self._there:
            lines += ["There already:", *self._there]
        if self._example is not None:
            lines.append(f"A call: {self._call(self._example)}")
        return lines

    def list_others(self, findings: Sequence[Finding]) -> list[str]:
        """The hits behind those that are shown, a line each."""
        names = dict.fromkeys(self.others)
        for finding in findings:
            hits = finding.worth_naming()
            if not any(hit.exact for hit, _ in hits):
                names |= dict.fromkeys(tool.name for _, tool in hits if self._is_deferred(tool))
        self.others = [name for name in names if name not in self._named][:RANKS]
        lines = [self._one_liner(name) for name in self.others]
        heading = (
            "Fitting less; `select:NAME` loads one:"
            if self._shown
            else "The nearest; `select:NAME` loads one:"
        )
        return [heading, *lines] if lines else []

    def _is_deferred(self, tool: Tool) -> bool:
        return self._shelf.placed(tool).placement is Placement.DEFERRED

    def _one_liner(self, name: str) -> str:
        tool = self._shelf.catalog.find(name)
        if tool is None:
            return f"- {name}"
        from mcode.catalog.document import first_sentence

        said = one_line(first_sentence(self._shelf.definitions.description(tool)[:2_000])[0])
        return f"- {name}: {said}{self._mark(tool)}"

    def _mark(self, tool: Tool) -> str:
        """What stands in the way of a call: the user is asked, or the server is not there."""
        marks: list[str] = []
        if self._shelf.permission(tool).startswith("ask"):
            marks.append("asks the user")
        status = self._shelf.status(tool.source)
        if status is not None and status.state in UNAVAILABLE:
            marks.append(
                f"not available now: {status.state}{f', {one_line(status.error)}' if status.error else ''}"
            )
        return f" [{'; '.join(marks)}]" if marks else ""

    def _call(self, tool: Tool) -> str:
        arguments = self._shelf.definitions.examples(tool)[:1] or (sample_arguments(tool.input_schema),)
        return how_to_call(tool.name, arguments[0], self._shelf)


def how_to_call(name: str, arguments: JsonObject, shelf: Shelf) -> str:
    """How the model calls a deferred tool in this session."""
    written = jsontext.dump(arguments)
    way = shelf.way
    if shelf.placements.rules.programs == "first":
        return f"{RUN_CODE}, with `return await {program_call(name, written)};`"
    if way == "call":
        return f'call_tool with {{"name": {jsontext.dump(name)}, "arguments": {written}}}'
    return f"{name} with {written}"


def loaded_by_user(definitions: Sequence[JsonObject], shelf: Shelf) -> str:
    """What the model reads of tools that the user has loaded by hand."""
    names = ", ".join(str(each["name"]) for each in definitions)
    if shelf.way == "reference":
        how = f"Load them: {TOOL_SEARCH} with `select:{names.replace(' ', '')}`."
        return _loaded_block(f"The user wants you to have: {names}.", [how])
    return _loaded_block(f"The user wants you to have: {names}.", _as_loaded(definitions, shelf))


def still_loaded(definitions: Sequence[JsonObject], shelf: Shelf) -> str:
    """What the model reads of loaded tools beside a summary, which has taken their definitions away."""
    names = ", ".join(str(each["name"]) for each in definitions)
    return _loaded_block(f"You have loaded: {names}.", _as_loaded(definitions, shelf))


def _as_loaded(definitions: Sequence[JsonObject], shelf: Shelf) -> list[str]:
    """The definitions where no other way brings them, and a call of the first."""
    first = definitions[0]
    block = [OPENING, *(_as_line(each) for each in definitions), CLOSING] if shelf.way == "call" else []
    call = how_to_call(str(first["name"]), sample_arguments(first["input_schema"]), shelf)
    return [*block, f"A call: {call}"]


def _loaded_block(said: str, lines: Sequence[str]) -> str:
    return clean("\n".join(("<loaded>", said, *lines, "</loaded>")), Kind.MODEL)


def program_call(name: str, arguments: str) -> str:
    """A call as a program makes it; `arguments` is JSON text."""
    spelled = f"tools.{name}" if _IDENTIFIER.match(name) else f"tools[{jsontext.dump(name)}]"
    return f"{spelled}({arguments})"


def sample_arguments(schema: JsonObject) -> JsonObject:
    """Arguments of the right shape: what is required, with values that show no more than their type."""
    properties, required = schema.get("properties"), schema.get("required")
    if not is_object(properties) or not is_list(required):
        return {}
    return {name: _sample(properties.get(name)) for name in required if isinstance(name, str)}


def _sample(schema: JsonValue) -> JsonValue:
    if not is_object(schema):
        return "..."
    choices = schema.get("enum")
    if is_list(choices) and choices:
        return choices[0]
    kind = schema.get("type")
    return _SAMPLES.get(kind, "...") if isinstance(kind, str) else "..."


def _whereabouts(placement: Placement) -> str:
    if placement is Placement.PROGRAM_ONLY:
        return "programs call it (run_code)"
    return "in your list of tools; call it directly"


def _as_line(definition: JsonObject) -> str:
    # A definition is foreign text: it must not seem to end the block that it stands in.
    return jsontext.dump(definition).replace("</", "<\\/")


def _miss(finding: Finding, shelf: Shelf) -> str:
    if finding.fault:
        return f"`{one_line(finding.query)}` could not be searched: {finding.fault}."
    sources = sorted({tool.source for tool in shelf.catalog if tool.source != "core"})
    named = ", ".join(sources[:SERVERS_NAMED]) + (", ..." if len(sources) > SERVERS_NAMED else "")
    where = f" ({len(sources)} servers: {named})" if sources else ""
    return f"Nothing fits `{one_line(finding.query)}` among {finding.searched} tools{where}."
