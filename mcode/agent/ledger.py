"""The ledger: what each request of a session was made of and what it cost, rebuilt from the journal's records.

Every figure is the provider's where it reported one; the parts of a request are our estimates, scaled so that they
add up to the provider's input tokens exactly. Where nothing was reported they are estimates, and marked so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import Folded
from mcode.agent.rendering import Rendering, declared
from mcode.model.reading import is_list, is_object, objects_in, text_field
from mcode.model.usage import (
    Correction,
    RequestSize,
    Usage,
    count_definition,
    count_message,
    count_prefix,
    read_usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcode.agent.conversation import Prefix
    from mcode.config.settings import Prices
    from mcode.jsontext import JsonObject
    from mcode.session.journal import Record

CALL_TOOL = "call_tool"
SEARCH = "tool_search"


@dataclass(frozen=True, slots=True)
class RequestEntry:
    """One request: what it was made of, in tokens, and what came back."""

    number: int
    """From 1, in the session."""
    turn: int
    model: str
    size: RequestSize
    """By part; the parts add up to `input_tokens` of the usage where that was reported."""
    usage: Usage
    reported: bool
    """False where the provider gave no figures: then `size` is an estimate."""
    answered: bool
    """False where no message came: such a request is listed, and counts in no sum."""
    aside: bool = False
    """True for a request beside the conversation, as for a summary; of it only the usage is known."""
    definitions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens by tool; adds up to `size.definitions`."""
    results: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens by the tool that gave the results; adds up to `size.results`."""
    deferred: int = 0
    """Tokens of the definitions that were left out of it; what came in later, at its end, no longer counts."""
    calls: tuple[str, ...] = ()
    """Tools that the answer calls, in order; for `call_tool` the tool that is meant."""
    agent: str = ""
    """Id of the call that started the sub-agent whose request it is; empty for the conversation's own."""
    cost: float | None = None
    """US dollars; None where the model has no price."""
    sequence: int = 0
    """Number of the journal's record of the answer."""

    @property
    def is_own(self) -> bool:
        """True for a request of the conversation itself: beside it are summaries and sub-agents."""
        return not self.aside and not self.agent


@dataclass(frozen=True, slots=True)
class Loaded:
    """Tools that came into the context together."""

    how: str
    tools: int
    tokens: int


@dataclass(frozen=True, slots=True)
class LedgerBook:
    """All requests of a session, and what of the tools was left out or came in later."""

    requests: tuple[RequestEntry, ...]
    deferred_tools: int
    """Tools that the last prefix left out."""
    deferred_tokens: int
    """Tokens of their definitions, as the provider would count them (estimate)."""
    loads: tuple[Loaded, ...]
    uses: Mapping[str, int]
    """Sequence number of the record with each call's result, by id."""

    @property
    def counted(self) -> tuple[RequestEntry, ...]:
        """The requests that were answered."""
        return tuple(entry for entry in self.requests if entry.answered)

    @property
    def usage(self) -> Usage:
        """What the provider reported, summed up."""
        return sum((entry.usage for entry in self.counted), Usage())

    @property
    def size(self) -> RequestSize:
        """All requests of the conversation by part, summed up."""
        return sum((entry.size for entry in self.counted), RequestSize())

    @property
    def cost(self) -> float | None:
        """US dollars of all requests whose model has a price; None where none has."""
        known = [entry.cost for entry in self.counted if entry.cost is not None]
        return sum(known) if known else None

    @property
    def last(self) -> RequestEntry | None:
        """The last request of the conversation."""
        return next((entry for entry in reversed(self.requests) if entry.is_own), None)

    def by_tool(self, part: str) -> dict[str, int]:
        """`definitions` or `results`, summed over all requests, the largest first."""
        whole: Counter[str] = Counter()
        for entry in self.counted:
            whole.update(entry.definitions if part == "definitions" else entry.results)
        return dict(whole.most_common())


def server_of(tool: str) -> str:
    """The server that a tool's name points to; `core` for mcode's own."""
    parts = tool.split("__")
    return parts[1] if len(parts) > 2 and parts[0] == "mcp" else "core"


def read_ledger(records: Iterable[Record], prices: Mapping[str, Prices]) -> LedgerBook:
    """The ledger of a session. Reads all records: off the event loop for long sessions."""
    reader = _Reader(prices)
    for record in records:
        reader.take(record)
    return reader.book()


@dataclass(frozen=True, slots=True)
class _Opening:
    """What stands before the conversation in a request: prefix and tools that came in later."""

    prefix: Prefix
    added: int
    """Tools that came in later."""
    size: RequestSize
    by_tool: Counter[str]
    came_in: int
    """Tokens of the tools that came in later."""

    @classmethod
    def of(cls, prefix: Prefix, added: Sequence[JsonObject]) -> _Opening:
        """Weigh it."""
        later = [{**each, "defer_loading": False} for each in added]
        tools = [*prefix.tools, *later]
        return cls(
            prefix=prefix,
            added=len(added),
            size=count_prefix(prefix.system, tools),
            by_tool=Counter({text_field(tool, "name"): count_definition(tool) for tool in tools}),
            came_in=sum(map(count_definition, later)),
        )


class _Reader:
    """Replays a conversation and weighs each request as it was sent."""

    def __init__(self, prices: Mapping[str, Prices], above: _Reader | None = None, agent: str = "") -> None:
        """`above`: the reader of the session, for that of a sub-agent; `agent`: id of the call that started it."""
        self._prices = prices
        self._agent = agent
        self._agents: dict[str, _Reader] = {}
        """Readers of the sub-agents, by the call that started each."""
        self._state = Folded()
        self._rendering = Rendering()
        self._correction = Correction()
        self._entries: list[RequestEntry] = above._entries if above else []  # noqa: SLF001 -- the same class
        self._weighed: list[tuple[JsonObject, RequestSize, Counter[str]]] = []
        """The messages of the last request, each with what all up to it weigh, and their results by tool."""
        self._opening: _Opening | None = None
        self._left_out = (0, 0)
        """Tools and tokens that the prefix leaves out."""
        self._tools: dict[str, str] = {}
        """Tool of each call that the model made, by the call's id."""
        self._loads: list[Loaded] = []
        self._uses: dict[str, int] = {}

    def take(self, record: Record) -> None:
        body = record.body
        match record.type:
            case "assistant":
                self._answer(record)
            case "aside":
                self._aside(record)
            case "prefix":
                told = body.get("deferred")
                if is_object(told):
                    self._left_out = (int(told.get("tools", 0)), int(told.get("tokens", 0)))
            case "tool_loaded":
                loaded = objects_in(body.get("tools"))
                tokens = sum(map(count_definition, loaded))
                self._loads.append(Loaded(str(body.get("how", "")), len(loaded), tokens))
            case "call_finished":
                self._uses[str(body.get("id", ""))] = record.sequence
                for agent in self._agents.values():
                    agent.take(record)  # calls of sub-agents stand among the session's own
            case "subagent":
                self._pass_on(record)
            case _:
                pass
        self._state.fold(record.type, body)

    def _pass_on(self, record: Record) -> None:
        """A record of a sub-agent's own conversation."""
        call, inner = str(record.body.get("call", "")), record.body.get("body")
        agent = self._agents.get(call)
        if agent is None:
            agent = self._agents[call] = _Reader(self._prices, self, call)
        if is_object(inner):
            agent.take(replace(record, type=str(record.body.get("type", "")), body=inner))

    def book(self) -> LedgerBook:
        tools, tokens = self._left_out
        return LedgerBook(
            requests=tuple(self._entries),
            deferred_tools=tools,
            deferred_tokens=self._as_reported(tokens),
            loads=tuple(self._loads),
            uses=self._uses,
        )

    def _as_reported(self, tokens: int) -> int:
        return self._correction.apply(RequestSize(messages=tokens)).total

    def _answer(self, record: Record) -> None:
        message = record.body.get("message")
        usage = read_usage(message)
        content = objects_in(message.get("content")) if is_object(message) else []
        uses = [block for block in content if block.get("type") == "tool_use"]
        self._tools |= {text_field(block, "id"): _meant(block) for block in uses}
        prefix = self._state.prefix
        if prefix is None:
            return
        opening, size, results = self._weigh(prefix)
        expected = self._correction.apply(size)
        reported = bool(usage.total_input)
        if reported:
            self._correction = self._correction.learn(expected, usage)
            expected = size.scaled_to(usage.total_input)
        entry = RequestEntry(
            number=len(self._entries) + 1,
            turn=self._state.turn,
            model=prefix.model,
            size=expected,
            usage=usage,
            reported=reported,
            answered=reported or bool(content),
            definitions=shared(opening.by_tool, expected.definitions),
            results=shared(results, expected.results),
            deferred=self._as_reported(max(0, self._left_out[1] - opening.came_in)),
            calls=tuple(self._tools[text_field(block, "id")] for block in uses),
            agent=self._agent,
            cost=self._cost(prefix.model, usage),
            sequence=record.sequence,
        )
        self._entries.append(entry)

    def _aside(self, record: Record) -> None:
        usage = read_usage(record.body)
        model = str(record.body.get("model", ""))
        entry = RequestEntry(
            number=len(self._entries) + 1,
            turn=self._state.turn,
            model=model,
            size=RequestSize(messages=usage.total_input),
            usage=usage,
            reported=bool(usage.total_input),
            answered=True,
            aside=True,
            agent=self._agent,
            cost=self._cost(model, usage),
            sequence=record.sequence,
        )
        self._entries.append(entry)

    def _cost(self, model: str, usage: Usage) -> float | None:
        price = self._prices.get(model)
        if price is None:
            return None
        spent = (
            usage.input_tokens * price.input
            + usage.output_tokens * price.output
            + usage.cache_read * price.cache_read
            + usage.cache_written * price.cache_write
        )
        return spent / 1_000_000

    def _weigh(self, prefix: Prefix) -> tuple[_Opening, RequestSize, Counter[str]]:
        """The request that the state stands for: its opening, its size, and its results by tool."""
        state = self._state
        messages = self._rendering.messages(state.history.messages, state.loads, prefix.way)
        known = 0
        for (weighed, _, _), message in zip(self._weighed, messages, strict=False):
            if weighed is not message:
                break
            known += 1
        del self._weighed[known:]
        for message in messages[known:]:
            size, results = self._weighed[-1][1:] if self._weighed else (RequestSize(), Counter[str]())
            mine = self._results_of(message)
            self._weighed.append((message, size + count_message(message), results + mine))
        added = declared(state.loads, messages, prefix.way)
        opening = self._opening
        if opening is None or opening.prefix is not prefix or opening.added != len(added):
            opening = self._opening = _Opening.of(prefix, added)
        size, results = self._weighed[-1][1:] if self._weighed else (RequestSize(), Counter[str]())
        return opening, opening.size + size, results

    def _results_of(self, message: JsonObject) -> Counter[str]:
        found: Counter[str] = Counter()
        content = message.get("content")
        for block in objects_in(content) if is_list(content) else []:
            if block.get("type") == "tool_result":
                tool = self._tools.get(text_field(block, "tool_use_id"), "(unknown)")
                found[tool] += count_message({"content": [block]}).results
        return found


def shared(parts: Mapping[str, int], total: int) -> dict[str, int]:
    """The same proportions with another total, to which the parts add up exactly; the largest first."""
    whole = sum(parts.values())
    if not whole:
        return {"(unknown)": total} if total else {}
    ordered = sorted(parts, key=lambda name: (-parts[name], name))
    scaled = {name: parts[name] * total // whole for name in ordered}
    scaled[ordered[0]] += total - sum(scaled.values())
    return scaled


def _meant(block: JsonObject) -> str:
    """The tool that a use calls, through `call_tool` too."""
    name = text_field(block, "name")
    return (text_field(block.get("input"), "name") or name) if name == CALL_TOOL else name
