"""The ledger in words and tables, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.tables import dollars, plural, table, tokens

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

PARTS = ("definitions", "system", "messages", "results")
"""Of a request, in the order in which they are sent."""

LISTED = 8
"""Tools that are named before the rest is one row."""


def report_text(ledger: JsonObject) -> str:
    """The whole report of a session."""
    parts = [f"Session {ledger['session']}", totals_text(ledger), requests_text(ledger)]
    parts += [by_tool_text(ledger), savings_text(ledger)]
    return "\n\n".join(filter(None, parts))


def totals_text(ledger: JsonObject) -> str:
    """What the session has sent, read and cost."""
    totals = ledger["totals"]
    asides = f" and {plural(totals['asides'], 'request')} beside the conversation" if totals["asides"] else ""
    agents = f" and {plural(totals['sub_agents'], 'request')} of sub-agents" if totals["sub_agents"] else ""
    estimated = totals["estimated"]
    how = (
        "as the provider reported it"
        if not estimated
        else f"estimated for {estimated} of them, where the provider reported nothing"
    )
    rows = [
        ("input", tokens(totals["input"]), f"of all requests together, {how}"),
        ("  definitions", tokens(totals["definitions"]), "of tools"),
        ("  system", tokens(totals["system"]), "prompt and instruction files"),
        ("  messages", tokens(totals["messages"]), "what you and the model said"),
        ("  results", tokens(totals["results"]), "of calls"),
        ("from cache", tokens(totals["cache_read"]), "read again at the cache's price"),
        ("to cache", tokens(totals["cache_written"]), ""),
        ("output", tokens(totals["output_tokens"]), ""),
    ]
    heading = f"{plural(totals['round_trips'], 'round trip')}{asides}{agents}; cost {dollars(totals['cost'])}"
    return f"{heading}\n{table(rows, right=frozenset({1}))}"


def requests_text(ledger: JsonObject) -> str:
    """A row for each request."""
    requests = ledger["requests"]
    if not requests:
        return ""
    priced = has_prices(ledger)
    counts = (*PARTS, "input", "cached", "output", *(["cost"] if priced else []))
    rows = [
        (
            f"{each['number']}{'' if each['reported'] else ' (estimate)' if each['answered'] else ' (no answer)'}",
            str(each["turn"]),
            *(f"{each[part]:,}" for part in (*PARTS, "input", "cache_read", "output_tokens")),
            *([cost_of(each)] if priced else []),
            "a summary"
            if each["aside"]
            else f"{'sub-agent: ' if each['agent'] else ''}{_calls(each['calls'])}",
        )
        for each in requests
    ]
    right = frozenset(range(2, 2 + len(counts)))
    return table((("request", "turn", *counts, "calls"), *rows), right=right)


def has_prices(ledger: JsonObject) -> bool:
    """Whether the cost of any request is known."""
    return any(each["cost"] is not None for each in ledger["requests"])


def cost_of(request: JsonObject) -> str:
    """What one request cost; a dash where its model has no price."""
    return "-" if request["cost"] is None else dollars(request["cost"])


def by_tool_text(ledger: JsonObject) -> str:
    """Definitions and results by tool, over all requests."""
    parts: list[str] = []
    for part, words in (("definitions", "Definitions sent, by tool"), ("results", "Results sent, by tool")):
        listed = ledger[part]
        if not listed:
            continue
        rows = [(each["tool"], each["server"], tokens(each["tokens"])) for each in listed[:LISTED]]
        left = listed[LISTED:]
        if left:
            rows.append((f"{len(left)} more", "", tokens(sum(each["tokens"] for each in left))))
        parts.append(f"{words}, over all requests\n{table(rows, right=frozenset({2}))}")
    servers = ledger["definitions_by_server"]
    if len(servers) > 1:
        rows = [(name, tokens(count)) for name, count in servers.items()]
        parts.append(f"Definitions sent, by server\n{table(rows, right=frozenset({1}))}")
    return "\n\n".join(parts)


def savings_text(ledger: JsonObject) -> str:
    """What deferral and programs saved, and what did not pay."""
    savings = ledger["savings"]
    lines = [*_deferral(savings["deferral"]), *map(_program, savings["programs"])]
    if not lines:
        return ""
    failed = savings["did_not_pay"]
    lines += [f"Did not pay: {each}" for each in failed]
    return "\n".join(("What it saved (estimates from what was recorded)", *(f"  {line}" for line in lines)))


def _deferral(deferral: JsonObject) -> list[str]:
    if not deferral["without"]:
        return []
    net = deferral["net"]
    without = (
        f"without deferral this session would have sent {tokens(deferral['without'])} more tokens of definitions "
        f"({plural(deferral['deferred_tools'], 'tool')}, {tokens(deferral['deferred_tokens'])} a request)"
    )
    trips = (
        f" and {plural(deferral['extra_requests'], 'round trip')} of {tokens(deferral['extra_tokens'])}"
        if deferral["extra_requests"]
        else ""
    )
    loaded = (
        f"; {plural(deferral['loaded_tools'], 'tool')} loaded ({tokens(deferral['loaded_tokens'])})"
        if deferral["loaded_tools"]
        else ""
    )
    finding = (
        f"finding tools cost {tokens(deferral['searching'])} tokens in requests{trips}: "
        f"{'saved' if net >= 0 else 'lost'} {tokens(abs(net))} in the end{loaded}"
    )
    return [without, finding]


def _program(program: JsonObject) -> str:
    again = (
        f", and {tokens(program['sent_again'])} that later requests would have repeated"
        if program["sent_again"]
        else ""
    )
    return (
        f"program {program['title'] or program['id']}: {plural(program['calls'], 'call')}, kept "
        f"{tokens(program['kept_out'])} tokens of results out{again}; saved up to "
        f"{plural(program['round_trips_saved'], 'round trip')}"
    )


def _calls(names: list[str]) -> str:
    counted = {name: names.count(name) for name in names}
    shown = [name if count == 1 else f"{name} x{count}" for name, count in counted.items()]
    return ", ".join(shown[:3]) + (" ..." if len(shown) > 3 else "")
