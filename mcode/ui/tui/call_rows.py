"""The row of a call: its state, tool, object, duration and result, and who allowed it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.call import Origin, Status
from mcode.text import Kind, cell_width, clean
from mcode.ui.calls import duration_text
from mcode.ui.tui.rows import Row, Span, counted
from mcode.ui.tui.wrapping import shorten_path, shorten_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.tui.call_node import CallNode
    from mcode.ui.tui.look import Glyphs

CARD_WIDTH = 110
"""Cells that a card takes at most, so that its right column stays in sight of its left one."""

NARROW = 80
"""Below this width cards lose their side lines, sizes and times."""

LEAST_TITLE, _LEAST_NARROW, _LEAST_SERVER = 32, 24, 34
"""Cells that what a call is about keeps: in a wide and in a narrow terminal; a server's tool keeps its name."""

_WORDS = {Status.OK: "ok", Status.FAILED: "FAIL", Status.DENIED: "denied", Status.CANCELLED: "stopped"}
_STYLES = {"ok": "good", "FAIL": "bad", "denied": "warn", "ask": "warn strong", "exit": "warn"}
_BY_USER = "approved by you"
_DENIAL = re.compile(r"Denied: (.+?)\. The call did not run", re.DOTALL)
_PRINCIPAL = ("command", "file_path", "pattern", "url", "query", "path")


def state_word(node: CallNode) -> str:
    """`ok`, `FAIL`, `denied`, `stopped`, `ask`, `exit 1`, or `...` while it runs."""
    if node.status is None:
        return "ask" if node.asked else "..."
    return f"exit {node.exit}" if node.exit and node.status is Status.OK else _WORDS[node.status]


def head_row(node: CallNode, width: int, glyphs: Glyphs, now: float, *, is_open: bool) -> Row:
    """The row of a call that stands by itself: fold mark, tool, subject; at the right its state and figures."""
    word = state_word(node)
    name, title = named(node)
    if node.call.tool == "run_code":
        name, title = f"run_code #{node.ordinal}", ""
    facts = _running(node, now) if node.status is None else _facts(node)
    shown = Span("" if word == "..." else word, _STYLES.get(word.partition(" ")[0], "dim"))
    mark = glyphs.open if is_open else glyphs.folded
    return _laid_out(
        [Span(f"{mark} ", "dim"), Span(name, "strong")],
        title,
        [shown, *(Span(fact, "dim") for fact in facts)],
        min(width, CARD_WIDTH),
        glyphs,
    )


def child_row(node: CallNode, width: int, glyphs: Glyphs, now: float, margin: Sequence[Span]) -> Row:
    """The row of a call inside a program."""
    word = state_word(node)
    name, title = named(node)
    facts = _running(node, now) if node.status is None else _facts(node)
    if node.asked and width < NARROW:
        facts = []  # the word says it
    elif node.status is None:
        facts = [fact.removeprefix("running ") for fact in facts]
    if node.status in {Status.FAILED, Status.DENIED}:
        facts = [reason_of(node).partition("\n")[0], *facts[:1]]
    left = [
        *margin,
        Span(word.ljust(8), _STYLES.get(word.partition(" ")[0], "dim")),
        Span(name.ljust(8)),
    ]
    return _laid_out(left, title, [Span(fact, "dim") for fact in facts], min(width, CARD_WIDTH), glyphs)


def named(node: CallNode) -> tuple[str, str]:
    """The tool, and what the call is about, both clean and in one line."""
    name = clean(node.call.tool, Kind.LINE)
    title = clean(node.title[:2000], Kind.LINE) or _arguments(node)
    prefix = f"mcp__{node.source}__"
    if node.source != "core" and node.call.tool.startswith(prefix):
        tool = clean(f"{node.source}.{node.call.tool.removeprefix(prefix)}", Kind.LINE)
        return "mcp", f"{tool}  {title}"
    return name, title


def reason_of(node: CallNode) -> str:
    """Why a call was denied or failed, clean; the part that is for the user."""
    if node.status is Status.DENIED:
        found = _DENIAL.match(node.text)
        return clean(found[1] if found else node.summary or node.text, Kind.LINE).strip()
    return clean(node.text[:20_000]).strip() or clean(node.summary, Kind.LINE)


def size_text(count: int) -> str:
    """`800 B`, `41 KB`, `1.2 MB`."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def _laid_out(left: list[Span], title: str, facts: Sequence[Span], width: int, glyphs: Glyphs) -> Row:
    """Left part, title, and facts at the right edge; the title gives way first, then facts from the last on."""
    taken = sum(cell_width(span.text) for span in left) + 2
    shown = [fact for fact in facts if fact.text]
    least = LEAST_TITLE if width >= NARROW else _LEAST_NARROW
    name, gap, _ = title.partition("  ")
    wanted = min(cell_width(title), max(least, min(cell_width(name), _LEAST_SERVER) if gap else 0))
    while len(shown) > 1 and taken + wanted + 2 + _cells_of(shown) > width:
        shown.pop(-2 if shown[-1].text == _BY_USER and len(shown) > 2 else -1)
    room = width - taken - (_cells_of(shown) + 2 if shown else 0)
    if room < wanted:  # a single fact that is too long, such as a reason
        keep = max(0, width - taken - wanted - 2)
        shown = [Span(shorten_with(fact.text, keep, glyphs.cut), fact.style) for fact in shown if keep > 2]
        room = width - taken - (_cells_of(shown) + 2 if shown else 0)
    text = shorten_path(title, max(1, room), glyphs.cut)
    spans = [*left, Span(f"  {text}" if text else "")]
    used = sum(cell_width(span.text) for span in spans)
    if shown:
        spans.append(Span(" " * max(2, width - used - _cells_of(shown))))
        for index, fact in enumerate(shown):
            spans += [Span("   "), fact] if index else [fact]
    return Row(tuple(span for span in spans if span.text))


def _cells_of(facts: Sequence[Span]) -> int:
    return sum(cell_width(fact.text) for fact in facts) + 3 * max(0, len(facts) - 1)


def _running(node: CallNode, now: float) -> list[str]:
    if node.asked:
        return ["waiting for you"]
    if node.is_program:
        paused = node.waits is not None and all(child.status or child.asked for child in node.children)
        since = node.waits if paused and node.waits is not None else node.started
        state = f"{'paused' if paused else 'running'} {seconds_text(now - since)}"
        facts = [state, counted(len(node.children), "call")]
        kept = sum(child.size for child in node.children)
        return [*facts, f"{size_text(kept)} kept out of ctx"] if kept else facts
    return [f"running {seconds_text(now - node.started)}", clean(node.progress[:400], Kind.LINE)]


def seconds_text(seconds: float) -> str:
    """Whole seconds, since a row that shows time is painted once a second."""
    return duration_text(seconds) if seconds >= 60 else f"{max(0, int(seconds))} s"


def _facts(node: CallNode) -> list[str]:
    """What came of it, how long it took and by whose leave; in the order in which they are worth their room."""
    word = state_word(node)
    summary = "" if node.summary == word else clean(node.summary[:400], Kind.LINE).removeprefix(f"{word}, ")
    if node.status in {Status.DENIED, Status.FAILED}:
        summary = "" if node.status is Status.DENIED else summary
    mentioned = node.call.origin is Origin.USER and node.call.tool not in {"Bash", "run_code"}
    decision = "you mentioned it" if mentioned else clean(node.decision[:400], Kind.LINE)
    took = duration_text(node.duration) if node.duration >= 0.05 else ""
    return [fact for fact in (summary, took, decision) if fact]


def _arguments(node: CallNode) -> str:
    arguments = node.call.arguments
    for principal in _PRINCIPAL:
        if principal in arguments:
            return clean(str(arguments[principal])[:400], Kind.LINE)
    text = " ".join(f"{key}={str(value)[:200]}" for key, value in list(arguments.items())[:4])
    return clean(text[:400], Kind.LINE)
