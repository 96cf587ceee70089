"""The ledger as one page of HTML: plots as inline SVG, light and dark, no script, nothing fetched from anywhere."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.commands.ledger_tables import PARTS, cost_of, has_prices, savings_text
from mcode.commands.tables import dollars, plural
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.jsontext import JsonObject

WIDTH, HEIGHT, LEFT, FOOT = 900, 260, 70, 24
"""Pixels of a plot, and of its margins for figures."""

NAMES = 190
"""Pixels for the names of bars that lie."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #59636e; --line: #d1d9e0;
  --definitions: #0969da; --system: #6e7781; --messages: #1a7f37; --results: #bc4c00; --cached: #8250df; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9198a1; --line: #3d444d;
  --definitions: #4493f8; --system: #8b949e; --messages: #3fb950; --results: #f0883e; --cached: #ab7df8; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 66rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; overflow-wrap: anywhere; }
td.n, th.n, .wide td, .wide th { white-space: nowrap; } td.n, th.n { text-align: right; }
.soft { color: var(--soft); } .scroll { overflow-x: auto; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.definitions { fill: var(--definitions); } .system { fill: var(--system); } .messages { fill: var(--messages); }
.results { fill: var(--results); } .axis { stroke: var(--line); } .key { display: inline-block; margin-right: 1rem; }
.cached { stroke: var(--cached); fill: none; stroke-width: 2; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
"""


def page(ledger: JsonObject) -> str:
    """The report as one self-contained page. The ledger itself stands in it too, as JSON."""
    totals = ledger["totals"]
    title = f"mcode report: session {ledger['session']}"
    estimated = totals["estimated"]
    how = f"{estimated} of them estimated" if estimated else "input as the provider reported it"
    summary = f"{plural(totals['round_trips'], 'round trip')}, {how}; cost {dollars(totals['cost'])}"
    body = [
        f"<h1>{_safe(title)}</h1><p>{_safe(summary)}</p>",
        "<h2>What each request was made of, in tokens</h2>",
        _legend(),
        bars(ledger["requests"]),
        "<h2>In all requests together</h2>",
        _totals(totals),
        _savings(ledger),
        _by_tool("Definitions sent, by tool", ledger["definitions"]),
        _by_server(ledger["definitions_by_server"]),
        _by_tool("Results sent, by tool", ledger["results"]),
        "<h2>Requests</h2>",
        _requests(ledger),
    ]
    whole = "\n".join(filter(None, body))
    data = jsontext.dump(ledger).replace("<", "\\u003c")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_safe(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style></head>\n<body>\n{whole}\n"
        f'<script type="application/json" id="ledger">{data}</script>\n</body></html>\n'
    )


def bars(requests: Sequence[JsonObject]) -> str:
    """One stacked bar for each request, and a line for what of it came from the cache."""
    shown = [each for each in requests if each["answered"]]
    most = max((each["input"] for each in shown), default=0)
    if not most:
        return '<p class="soft">No request has been answered.</p>'
    room = HEIGHT - FOOT - 10
    step = (WIDTH - LEFT) / len(shown)
    wide = max(1.0, min(60.0, step * 0.7))
    drawn = [_grid(most, room)]
    line: list[str] = []
    for at, each in enumerate(shown):
        x = LEFT + at * step + (step - wide) / 2
        y = 10.0 + room
        tell = ", ".join(f"{part} {each[part]:,}" for part in PARTS)
        drawn.append(f"<g><title>request {each['number']}: {tell}; from cache {each['cache_read']:,}</title>")
        for part in PARTS:
            high = each[part] / most * room
            y -= high
            drawn.append(
                f'<rect class="{part}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"/>'
            )
        drawn.append("</g>")
        line.append(f"{x + wide / 2:.1f},{10 + room - min(each['cache_read'], most) / most * room:.1f}")
        if len(shown) <= 40 or at % (len(shown) // 20) == 0:
            drawn.append(
                f'<text x="{x + wide / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{each["number"]}</text>'
            )
    drawn.append(f'<polyline class="cached" points="{" ".join(line)}"/>')
    label = "Tokens of each request by part"
    return f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(drawn)}</svg>'


def _grid(most: int, room: float) -> str:
    lines: list[str] = []
    for share in (0.0, 0.5, 1.0):
        y = 10 + room * (1 - share)
        lines.append(f'<line class="axis" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{round(most * share):,}</text>')
    return "".join(lines)


def _legend() -> str:
    keys = "".join(
        f'<span class="key"><i style="background: var(--{part})"></i>{part}</span>'
        for part in (*PARTS, "cached")
    )
    return f"<p>{keys}</p>"


def _totals(totals: JsonObject) -> str:
    counts = ("round_trips", "sub_agents", "asides", "unanswered")
    names = (*PARTS, "input", "output_tokens", "cache_read", "cache_written", *counts)
    return _table(("", "tokens or count"), [(name.replace("_", " "), f"{totals[name]:,}") for name in names])


def _savings(ledger: JsonObject) -> str:
    text = savings_text(ledger)
    if not text:
        return ""
    heading, *lines = text.splitlines()
    listed = "".join(f"<li>{_safe(line.strip())}</li>" for line in lines)
    return f"<h2>{_safe(heading)}</h2>{compared(ledger)}<ul>{listed}</ul>"


def compared(ledger: JsonObject) -> str:
    """What was sent, and what would have been sent besides: one bar each, on one scale."""
    savings, sent = ledger["savings"], ledger["totals"]["input"]
    programs = sum(each["kept_out"] + each["sent_again"] for each in savings["programs"])
    rows = [
        ("sent", "messages", sent),
        ("left out by deferral", "definitions", savings["deferral"]["without"]),
        ("kept out by programs", "results", programs),
    ]
    most = max(count for _, _, count in rows)
    if not most:
        return ""
    drawn: list[str] = []
    for at, (name, part, count) in enumerate(rows):
        y, long = 8 + at * 30, count / most * (WIDTH - NAMES - 90)
        drawn.append(
            f'<text x="{NAMES - 8}" y="{y + 15}" text-anchor="end">{name}</text>'
            f'<rect class="{part}" x="{NAMES}" y="{y}" width="{long:.1f}" height="20"/>'
            f'<text x="{NAMES + long + 6:.1f}" y="{y + 15}">{count:,}</text>'
        )
    label = "Tokens that were sent, and that would have been sent besides"
    return f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} 100">{"".join(drawn)}</svg>'


def _by_tool(title: str, listed: Sequence[JsonObject]) -> str:
    if not listed:
        return ""
    rows = [(each["tool"], each["server"], f"{each['tokens']:,}") for each in listed]
    return f"<h2>{_safe(title)}</h2>{_table(('tool', 'server', 'tokens'), rows)}"


def _by_server(found: JsonObject) -> str:
    if len(found) < 2:
        return ""
    rows = [(server, f"{tokens:,}") for server, tokens in found.items()]
    return f"<h2>Definitions sent, by server</h2>{_table(('server', 'tokens'), rows)}"


def _requests(ledger: JsonObject) -> str:
    names = (*PARTS, "input", "cache_read", "cache_written", "output_tokens")
    priced = has_prices(ledger)
    rows = [
        (
            str(each["number"]),
            *(f"{each[name]:,}" for name in names),
            *([cost_of(each)] if priced else []),
            "provider" if each["reported"] else "estimate" if each["answered"] else "no answer",
        )
        for each in ledger["requests"]
    ]
    heads = (
        *(name.removesuffix("_tokens").replace("_", " ") for name in names),
        *(["cost"] if priced else []),
    )
    return _table(("request", *heads, "figures"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th{_right(at, len(head))}>{_safe(cell)}</th>" for at, cell in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(f"<td{_right(at, len(row))}>{_safe(cell)}</td>" for at, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    wide = ' class="wide"' if len(head) > 4 else ""
    return f'<div class="scroll"><table{wide}><tr>{top}</tr>{body}</table></div>'


def _right(at: int, cells: int) -> str:
    """Figures are set flush right: in tables of tools the last cell, in that of requests all in the middle."""
    return ' class="n"' if (cells > 4 and 0 < at < cells - 1) or (cells <= 4 and at == cells - 1) else ""


def _safe(text: str) -> str:
    return html.escape(clean(text, Kind.BLOCK))
