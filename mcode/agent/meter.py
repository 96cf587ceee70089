"""What requests cost: counted before they go, corrected by what the provider reports."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.events import Ledger
from mcode.model.usage import Correction, RequestSize, count_message, count_prefix, read_usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.agent.conversation import Prefix
    from mcode.config.settings import Prices
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.model.usage import Usage


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over what this process has sent."""

    requests: int = 0
    input_tokens: int = 0
    """Tokens of input that were neither read from nor written to the cache."""
    output_tokens: int = 0
    cache_read: int = 0
    cache_written: int = 0
    cost: float | None = None
    """US dollars; None while no prices are set for the model."""


class Meter:
    """Keeps the figures of the last request and the sums of the session."""

    def __init__(
        self, events: EventBus, prices: Mapping[str, Prices], window: int, above: Meter | None = None
    ) -> None:
        """`above`: the meter of the session, for that of a sub-agent; its sums hold these, too."""
        self._above = above
        self._events = events
        self._prices = prices
        self._correction = Correction()
        if above is not None:
            self.recall(above.ratio)
        self._counted: list[tuple[JsonObject, RequestSize]] = []
        """The messages of the last request, each with the size of all up to it."""
        self._prefix: tuple[Prefix, RequestSize] | None = None
        self.window = window
        self.totals = Totals()
        self.ledger: Ledger | None = None
        """Figures of the last request; None before the first."""
        self.waited = 0.0
        """Seconds spent waiting for the model, over the session."""
        self._sent_at = 0.0
        self._noted = RequestSize()
        """The estimate of the request that was noted last, as it is without correction."""

    def measure(self, prefix: Prefix, messages: tuple[JsonObject, ...]) -> RequestSize:
        """Estimate a request by part, in tokens, as corrected by the last report. Counts what is new only."""
        if self._prefix is None or self._prefix[0] is not prefix:
            loaded = frozenset(str(tool["name"]) for tool in prefix.tools)
            self._prefix = (prefix, count_prefix(prefix.system, prefix.tools, referred=loaded))
        known = 0
        for (counted, _), message in zip(self._counted, messages, strict=False):
            if counted is not message:
                break
            known += 1
        del self._counted[known:]
        for message in messages[known:]:
            before = self._counted[-1][1] if self._counted else RequestSize()
            self._counted.append((message, before + count_message(message)))
        return self._prefix[1] + (self._counted[-1][1] if self._counted else RequestSize())

    def expect(self, prefix: Prefix, messages: tuple[JsonObject, ...]) -> int:
        """Tokens that the endpoint would count for a request of these."""
        return self._correction.apply(self.measure(prefix, messages)).total

    @property
    def noted(self) -> int:
        """Tokens of the request that was noted last, as they were estimated, without correction."""
        return self._noted.total

    @property
    def ratio(self) -> float:
        """Tokens that the endpoint counts for one that is estimated."""
        return self._correction.ratio

    def recall(self, ratio: float) -> None:
        """Begin with a ratio that was learned before."""
        self._correction = Correction(min(max(ratio, 0.25), 4.0))

    def corrected(self, tokens: int) -> int:
        """Estimated tokens as the endpoint would count them."""
        return self._correction.apply(RequestSize(messages=tokens)).total

    def aside(self, model: str, message: JsonObject) -> None:
        """Take in what a request beside the conversation cost; the figures of the last one stay."""
        self.totals = replace(self.totals, requests=self.totals.requests + 1)
        self._add(model, read_usage(message))

    def sending(self, prefix: Prefix, messages: tuple[JsonObject, ...]) -> None:
        """Note a request that goes out now."""
        self._sent_at = time.monotonic()
        self._noted = self.measure(prefix, messages)
        size = self._correction.apply(self._noted)
        self.totals = replace(self.totals, requests=self.totals.requests + 1)
        self._show(
            Ledger(
                size.definitions, size.system, size.messages, size.results, self.window, cost=self.totals.cost
            )
        )

    def answered(self, model: str, message: JsonObject) -> None:
        """Take in what the provider reports of the request that was noted last."""
        self.waited += time.monotonic() - self._sent_at
        usage = read_usage(message)
        ledger = self.ledger
        if ledger is None:
            return
        self._add(model, usage)
        estimate = RequestSize(ledger.definitions, ledger.system, ledger.messages, ledger.results)
        if usage.total_input:
            self._correction = self._correction.learn(estimate, usage)
            estimate = self._noted.scaled_to(usage.total_input)
        self._show(
            Ledger(
                definitions=estimate.definitions,
                system=estimate.system,
                messages=estimate.messages,
                results=estimate.results,
                window=self.window,
                input_tokens=usage.total_input,
                output_tokens=usage.output_tokens,
                cache_read=usage.cache_read,
                cache_written=usage.cache_written,
                cost=self.totals.cost,
            )
        )

    def _show(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._events.emit(ledger)

    def _add(self, model: str, usage: Usage) -> None:
        if self._above is not None:
            self._above.totals = replace(self._above.totals, requests=self._above.totals.requests + 1)
            self._above._add(model, usage)  # noqa: SLF001 -- the same class
        totals = self.totals
        price = self._prices.get(model)
        cost = totals.cost
        if price is not None:
            spent = (
                usage.input_tokens * price.input
                + usage.output_tokens * price.output
                + usage.cache_read * price.cache_read
                + usage.cache_written * price.cache_write
            )
            cost = (cost or 0.0) + spent / 1_000_000
        self.totals = Totals(
            requests=totals.requests,
            input_tokens=totals.input_tokens + usage.input_tokens,
            output_tokens=totals.output_tokens + usage.output_tokens,
            cache_read=totals.cache_read + usage.cache_read,
            cache_written=totals.cache_written + usage.cache_written,
            cost=cost,
        )
