"""A session's ledger as one plain object, the same for /context, /cost, headless results and `mcode report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.ledger import read_ledger, server_of
from mcode.agent.savings import ProgramFacts, work_out
from mcode.run_code.audit_read import read_audits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mcode.agent.ledger import LedgerBook, RequestEntry
    from mcode.agent.savings import ProgramSaving, Savings
    from mcode.commands.host import Conversation
    from mcode.config.settings import Prices
    from mcode.jsontext import JsonObject
    from mcode.model.usage import RequestSize, Usage
    from mcode.run_code.audit_read import AuditedProgram
    from mcode.session.journal import Record


def ledger_of(agent: Conversation) -> JsonObject:
    """The ledger of an open session; computes for a moment where the session is long. Raises StorageError."""
    session = agent.session
    return session_ledger(
        session.id, tuple(session.journal.records), session.directory, agent.settings.own.prices
    )


def session_ledger(
    session: str, records: Iterable[Record], directory: Path, prices: Mapping[str, Prices]
) -> JsonObject:
    """The ledger of the session with these records and this directory of side files. Raises StorageError."""
    book = read_ledger(records, prices)
    savings = work_out(book, map(_facts, read_audits(directory)))
    return {
        "session": session,
        "totals": _totals(book),
        "requests": [_request(entry) for entry in book.requests],
        "definitions": _by_tool(book.by_tool("definitions")),
        "definitions_by_server": _by_server(book.by_tool("definitions")),
        "results": _by_tool(book.by_tool("results")),
        "savings": _savings(savings, book),
    }


def _facts(program: AuditedProgram) -> ProgramFacts:
    return ProgramFacts(
        id=program.id,
        title=program.title,
        status=program.status,
        code=program.code,
        calls=len(program.calls),
        steps=max((call.step for call in program.calls), default=0),
        # What a program reads holds each value twice, as data and as text; a model would have read the text.
        bytes_in=sum(call.text_chars for call in program.calls) or program.bytes_in,
        chars_out=program.chars_out,
    )


def _totals(book: LedgerBook) -> JsonObject:
    return {
        "round_trips": sum(entry.is_own for entry in book.counted),
        "sub_agents": sum(bool(entry.agent) and not entry.aside for entry in book.counted),
        "asides": sum(entry.aside for entry in book.counted),
        "unanswered": len(book.requests) - len(book.counted),
        "estimated": sum(not entry.reported for entry in book.counted),
        **_parts(book.size),
        **_usage(book.usage),
        "cost": book.cost,
    }


def _parts(size: RequestSize) -> JsonObject:
    return {
        "definitions": size.definitions,
        "system": size.system,
        "messages": size.messages,
        "results": size.results,
        "input": size.total,
    }


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.total_input,
        "output_tokens": usage.output_tokens,
        "cache_read": usage.cache_read,
        "cache_written": usage.cache_written,
    }


def _request(entry: RequestEntry) -> JsonObject:
    return {
        "number": entry.number,
        "turn": entry.turn,
        "model": entry.model,
        "aside": entry.aside,
        "agent": entry.agent,
        "answered": entry.answered,
        "reported": entry.reported,
        **_parts(entry.size),
        **_usage(entry.usage),
        "deferred": entry.deferred,
        "cost": entry.cost,
        "calls": list(entry.calls),
        "definitions_by_tool": dict(entry.definitions),
        "results_by_tool": dict(entry.results),
    }


def _by_tool(found: Mapping[str, int]) -> list[JsonObject]:
    return [{"tool": tool, "server": server_of(tool), "tokens": tokens} for tool, tokens in found.items()]


def _by_server(found: Mapping[str, int]) -> JsonObject:
    servers: dict[str, int] = {}
    for tool, tokens in found.items():
        servers[server_of(tool)] = servers.get(server_of(tool), 0) + tokens
    return dict(sorted(servers.items(), key=lambda pair: -pair[1]))


def _savings(savings: Savings, book: LedgerBook) -> JsonObject:
    deferral = savings.deferral
    return {
        "deferral": {
            "deferred_tools": book.deferred_tools,
            "deferred_tokens": book.deferred_tokens,
            "without": deferral.without,
            "searching": deferral.searching,
            "searches": deferral.searches,
            "extra_requests": deferral.extra_requests,
            "extra_tokens": deferral.extra_tokens,
            "loaded_tools": deferral.loaded_tools,
            "loaded_tokens": deferral.loaded_tokens,
            "net": deferral.net,
        },
        "programs": [_program(each) for each in savings.programs],
        "kept_out": sum(each.kept_out for each in savings.programs),
        "round_trips_saved": sum(each.round_trips for each in savings.programs),
        "did_not_pay": list(savings.did_not_pay),
    }


def _program(saving: ProgramSaving) -> JsonObject:
    program = saving.program
    return {
        "id": program.id,
        "title": program.title,
        "status": program.status,
        "calls": program.calls,
        "bytes_in": program.bytes_in,
        "chars_out": program.chars_out,
        "code_tokens": saving.code_tokens,
        "kept_out": saving.kept_out,
        "sent_again": saving.sent_again,
        "round_trips_saved": saving.round_trips,
        "pays": not saving.verdict,
    }
