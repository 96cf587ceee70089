"""What tool search and programs have saved in a session, and what did not pay, computed from its records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.agent.ledger import CALL_TOOL, SEARCH
from mcode.model.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.agent.ledger import LedgerBook, RequestEntry

BYTES_A_TOKEN = 4
"""Of results in JSON, to estimate what they would have cost: rather too few tokens than too many."""

NEARLY_ALL = 0.8
"""A share from which on something counts as everything."""


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """One program, as its audit tells."""

    id: str
    title: str
    status: str
    code: str
    calls: int
    steps: int
    """Of calls that waited for one another; a model calling directly would have needed as many round trips."""
    bytes_in: int
    """Of results that its calls brought in."""
    chars_out: int
    """Of its own that went to the model."""


@dataclass(frozen=True, slots=True)
class ProgramSaving:
    """What one program kept out."""

    program: ProgramFacts
    kept_out: int
    """Tokens of results that never were in the context (estimate)."""
    sent_again: int
    """Tokens that later requests of the session would have carried on account of them (estimate)."""
    round_trips: int
    """Fewer than by direct calls, made side by side wherever the program made them so."""
    code_tokens: int
    verdict: str
    """Why it did not pay; empty where it did."""


@dataclass(frozen=True, slots=True)
class DeferralSaving:
    """What leaving definitions out saved, against what finding them cost. All in tokens, over the session."""

    without: int
    """Definitions that all requests together would have carried on top."""
    searching: int
    """Definitions of the search and its helper, and its results, in all requests together."""
    searches: int
    extra_requests: int
    """Round trips in which nothing but searching happened."""
    extra_tokens: int
    """Input of the requests that such round trips led to."""
    loaded_tools: int
    loaded_tokens: int
    verdict: str
    """Why it did not pay; empty where it did, or where nothing was deferred."""

    @property
    def net(self) -> int:
        """What was saved in the end; negative where it cost more."""
        return self.without - self.searching - self.extra_tokens


@dataclass(frozen=True, slots=True)
class Savings:
    """The counterfactuals of a session."""

    deferral: DeferralSaving
    programs: tuple[ProgramSaving, ...]

    @property
    def did_not_pay(self) -> tuple[str, ...]:
        """What cost more than it brought, a sentence each."""
        found = [self.deferral.verdict, *(each.verdict for each in self.programs)]
        return tuple(filter(None, found))


def work_out(book: LedgerBook, programs: Iterable[ProgramFacts]) -> Savings:
    """The savings of a session."""
    entries = [entry for entry in book.counted if entry.is_own]
    return Savings(_deferral(book, entries), tuple(_program(each, book, entries) for each in programs))


def _deferral(book: LedgerBook, entries: Sequence[RequestEntry]) -> DeferralSaving:
    without = sum(entry.deferred for entry in entries)
    searching = sum(
        entry.definitions.get(SEARCH, 0) + entry.definitions.get(CALL_TOOL, 0) + entry.results.get(SEARCH, 0)
        for entry in entries
    )
    only = [
        at for at, entry in enumerate(entries) if entry.calls and all(call == SEARCH for call in entry.calls)
    ]
    extra = sum(entries[at + 1].size.total for at in only if at + 1 < len(entries))
    saving = DeferralSaving(
        without=without,
        searching=searching if without else 0,
        searches=sum(entry.calls.count(SEARCH) for entry in entries),
        extra_requests=len(only),
        extra_tokens=extra if without else 0,
        loaded_tools=sum(load.tools for load in book.loads),
        loaded_tokens=sum(load.tokens for load in book.loads),
        verdict="",
    )
    return replace(saving, verdict=_verdict_on_deferral(saving, book))


def _verdict_on_deferral(saving: DeferralSaving, book: LedgerBook) -> str:
    if not saving.without:
        return ""
    if saving.loaded_tools >= NEARLY_ALL * book.deferred_tools and book.deferred_tools > 1:
        return (
            f"Searches loaded {saving.loaded_tools} of {book.deferred_tools} deferred tools anyway: with so few tools, "
            "or tasks that need them all, `mcode.toolSearch` off would have spared the searching."
        )
    if saving.net < 0:
        return (
            f"Tool search cost {-saving.net:,} tokens more than it saved: {saving.searches} searches for "
            f"{saving.without:,} tokens of definitions that were left out."
        )
    return ""


def _program(program: ProgramFacts, book: LedgerBook, entries: Sequence[RequestEntry]) -> ProgramSaving:
    kept = max(0, program.bytes_in - program.chars_out) // BYTES_A_TOKEN
    ended = book.uses.get(program.id, 0)
    later = sum(entry.sequence > ended for entry in entries) if ended else 0
    return ProgramSaving(
        program=program,
        kept_out=kept,
        sent_again=kept * max(0, later - 1),
        round_trips=max(0, program.steps - 1),
        code_tokens=count_tokens(program.code),
        verdict=_verdict_on_program(program, kept),
    )


def _verdict_on_program(program: ProgramFacts, kept: int) -> str:
    name, code = f"The program {program.title or program.id}", count_tokens(program.code)
    if program.status not in {"ok", "running"}:
        what = f"failed ({program.status}) after {program.calls} calls"
        return f"{name} {what}; its code and its report were sent for nothing."
    if program.bytes_in and program.chars_out >= NEARLY_ALL * program.bytes_in:
        what = f"returned {program.chars_out:,} characters of the {program.bytes_in:,} bytes that it read"
        return f"{name} {what}: direct calls would have cost about the same."
    if program.steps <= 1 and kept < code:
        what = f"kept {kept:,} tokens out and saved no round trip"
        return f"{name} {what}, and its code alone has {code:,}."
    return ""
