"""/context: where the window goes, from the ledger of the last request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from mcode.commands.context_parts import NOTES, by_group, expected, largest, parts_of, short_path
from mcode.commands.ledger_reading import ledger_of
from mcode.commands.ledger_tables import report_text, savings_text
from mcode.commands.near_words import unknown_word
from mcode.commands.program_tables import size
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.request_view import request_view
from mcode.commands.tables import dollars, percent, plural, table, tokens
from mcode.run_code.audit_read import read_audits
from mcode.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcode.agent.compaction import Outlook
    from mcode.agent.room import RoomMaker
    from mcode.commands.host import CommandContext, SentPrefix
    from mcode.events import Ledger
    from mcode.jsontext import JsonObject

BYTES_A_TOKEN = 4
"""Of results, for an estimate of what they would have cost."""

_USAGE = "/context [view [TURN [REQUEST] | agent [NUMBER [REQUEST]]] | session]"

_MORE = (
    "`/context session` has every request; `/context view` the last one word for word, `/context view TURN` an "
    "earlier one, `/context view agent` those of sub-agents."
)

_LISTED = 6
"""Rows below a part before the rest is one row."""

_NAME = 28
"""Characters of a name below a part."""

_DEEPER = "\u00b7 "
"""Begins the name of a row below a part while the table is made, which takes blanks away."""

Row: TypeAlias = tuple[str, str, str]
"""Name, tokens, and a bar or a note."""

_CALL = 48
"""Cells of a call in the list of the largest results."""

_BAR = 30
"""Cells of a bar that stands for the whole window."""


async def _context(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(4, _USAGE)
    if words[:1] == ("view",):
        return await request_view(context, words[1:])
    if words == ("session",):
        whole = await asyncio.to_thread(ledger_of, context.agent)
        return CommandResult(report_text(whole), whole)
    if words:
        raise unknown_word("/context", " ".join(words), ("view", "session"), _USAGE)
    sent = context.agent.ledger
    prefix = context.agent.builder.preview(context.agent.model)
    ledger = sent or await expected(context.agent, prefix)
    programs = await asyncio.to_thread(read_audits, context.agent.session.directory)
    kept_out = sum(program.kept_out for program in programs)
    saved: dict[str, object] = {
        "programs": len(programs),
        "calls": sum(len(program.calls) for program in programs),
        "kept_out": kept_out,
    }
    whole, room = await asyncio.to_thread(ledger_of, context.agent), context.agent.room
    outlook = room.outlook()
    results = _largest(context, outlook)
    parts = await _parts(context, ledger, prefix)
    text = _text(ledger, _rows(context, ledger, parts), sent=sent is not None)
    if programs:
        text += (
            f"\n  kept out of the context by programs this session: {size(kept_out)} (about "
            f"{tokens(kept_out // BYTES_A_TOKEN)} tokens, estimated); {plural(len(programs), 'program')} made "
            f"{plural(sum(len(program.calls) for program in programs), 'call')}"
        )
    more = (_largest_text(results), _room_text(room, outlook), savings_text(whole), _MORE)
    text += "".join(f"\n\n{each}" for each in more if each)
    data = {
        **(
            _as_object(ledger)
            if sent is not None
            else {"request": None, "next": _as_object(ledger)["request"]}
        ),
        "parts": parts,
        "largest_results": results,
        "programs": saved,
        "room": _room_object(room, outlook),
        "session": whole,
    }
    return CommandResult(text, data)


def _largest(context: CommandContext, outlook: Outlook) -> list[JsonObject]:
    """The largest results that the window holds, each with the call that brought it."""
    wanted = {each.use_id for each in outlook.largest}
    calls = {
        str(record.body["id"]): record.body
        for record in context.agent.session.journal.records
        if record.type == "call_started" and record.body.get("id") in wanted
    }
    here = f"{context.agent.workspace.start}/"
    found: list[JsonObject] = []
    for each in outlook.largest:
        call = calls.get(each.use_id, {})
        found.append(
            {
                "tool": str(call.get("tool", "")),
                "about": _about(call.get("arguments", {})).removeprefix(here),
                "turn": int(call.get("turn", 0)),
                "tokens": each.tokens,
                "old": each.old,
            }
        )
    return found


def _about(arguments: JsonObject) -> str:
    """What a call was about, in short: its first argument that is a text."""
    return next((value for value in arguments.values() if isinstance(value, str)), "")


def _largest_text(largest: Sequence[JsonObject]) -> str:
    if not largest:
        return ""
    head = ("largest results", "tokens", "turn", "goes to a file first")
    rows = [
        (
            shorten(" ".join(filter(None, (each["tool"], each["about"]))), _CALL),
            tokens(each["tokens"]),
            str(each["turn"] or "-"),
            "yes" if each["old"] else "no, it is recent or needed",
        )
        for each in largest
    ]
    return table((head, *rows), right=frozenset({1, 2}))


def _room_text(room: RoomMaker, outlook: Outlook) -> str:
    """The steps that make room in the window, the cheapest first, each with what it frees now and has freed."""
    done = _freed(room)
    limit = f"Room is made before a request of more than {tokens(outlook.limit)} tokens"
    if not (outlook.by_results or outlook.by_summary or any(count for count, _ in done.values())):
        return f"{limit}; nothing has to go yet."
    rows = [
        (
            f"first {plural(outlook.results, 'old result')} to files",
            tokens(outlook.by_results),
            f"done {plural(done['results'][0], 'time')}, freed {tokens(done['results'][1])}",
        ),
        (
            "then a summary in place of what is old (/compact)",
            tokens(outlook.by_summary),
            f"done {plural(done['summaries'][0], 'time')}, freed {tokens(done['summaries'][1])}",
        ),
    ]
    return f"{limit}; what a step would free now\n{table(rows, right=frozenset({1}))}"


def _freed(room: RoomMaker) -> dict[str, tuple[int, int]]:
    """How often each step was taken in this run, and the tokens that it freed."""
    steps = {"results": [each for each in room.made if not each.summary]}
    steps["summaries"] = [each for each in room.made if each.summary]
    return {
        name: (len(made), sum(max(0, each.before - each.after) for each in made))
        for name, made in steps.items()
    }


def _room_object(room: RoomMaker, outlook: Outlook) -> dict[str, object]:
    return {
        "used": outlook.used,
        "limit": outlook.limit,
        "old_results": outlook.results,
        "by_results": outlook.by_results,
        "by_summary": outlook.by_summary,
        "done": _freed(room),
    }


async def _parts(context: CommandContext, ledger: Ledger, prefix: SentPrefix) -> dict[str, dict[str, int]]:
    """What the parts of the last request are made of; of the next one, where none was sent."""
    agent = context.agent
    records, memory = tuple(agent.session.journal.records), tuple(context.around.memory())
    sent = agent.ledger is not None
    return await asyncio.to_thread(parts_of, records, ledger, prefix, memory, sent=sent)


def _rows(context: CommandContext, ledger: Ledger, parts: Mapping[str, Mapping[str, int]]) -> list[Row]:
    """The window part by part, with what each is made of below it."""
    loaded = frozenset(context.agent.builder.shelf.seen.loaded)
    groups = by_group(parts.get("definitions", {}), loaded)
    home, start = context.around.places.home, context.agent.workspace.start
    files = {short_path(name, home, start): count for name, count in parts.get("system", {}).items()}

    def part(name: str, count: int) -> Row:
        return name, tokens(count), _bar(count, ledger.window)

    return [
        part("definitions", ledger.definitions),
        *(_below(group, sum(tools.values()), _dearest(tools)) for group, tools in groups.items()),
        part("system", ledger.system),
        *_list(files, "other file"),
        part("messages", ledger.messages),
        *_list(parts.get("messages", {}), "other"),
        part("results", ledger.results),
        *_list(parts.get("results", {}), "other tool"),
        ("free", tokens(max(0, ledger.window - _used(ledger))), ""),
    ]


def _below(name: str, count: int, note: str) -> Row:
    """A row below a part; of a name too long for it, as a path may be, the end."""
    shown = name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"
    return f"{_DEEPER}{shown}", tokens(count), note


def _list(parts: Mapping[str, int], other: str) -> Iterator[Row]:
    """The largest of a part's parts, and one row for the rest."""
    named, left = largest({name: count for name, count in parts.items() if count}, _LISTED)
    yield from (_below(name, count, NOTES.get(name, "")) for name, count in named)
    if left:
        yield _below(plural(len(left), other), sum(left), "")


def _dearest(counts: Mapping[str, int]) -> str:
    """`11 tools, run_code 704 most`: how many there are, and the one that costs most."""
    tool, count = max(counts.items(), key=lambda pair: pair[1])
    return f"{plural(len(counts), 'tool')}, {tool} {tokens(count)} most" if len(counts) > 1 else tool


def _text(ledger: Ledger, rows: Sequence[Row], *, sent: bool) -> str:
    used = _used(ledger)
    share = f"{tokens(used)} of {tokens(ledger.window)} tokens ({percent(used, ledger.window)})"
    heading = (
        f"Last request {share}   cached {tokens(ledger.cache_read)}\nCost of the session: {dollars(ledger.cost)}"
        if sent
        else f"Next request {share} and your message; none was sent since the session was opened"
    )
    lines = [heading, table(rows, right=frozenset({1})).replace(_DEEPER, "  ")]
    if not sent:
        lines.append("  All figures are estimates.")
    elif not ledger.input_tokens:
        lines.append("  The provider has not reported figures for this request: these are estimates.")
    else:
        lines.append(
            f"  reported by the provider: input {tokens(ledger.input_tokens)}, output "
            f"{tokens(ledger.output_tokens)}, read from cache {tokens(ledger.cache_read)}, written to cache "
            f"{tokens(ledger.cache_written)}"
        )
    return "\n".join(lines)


def _used(ledger: Ledger) -> int:
    counted = ledger.definitions + ledger.system + ledger.messages + ledger.results
    return ledger.input_tokens or counted


def _bar(count: int, window: int) -> str:
    if window <= 0 or count <= 0:
        return ""
    return "#" * max(1, round(_BAR * count / window))


def _as_object(ledger: Ledger) -> dict[str, object]:
    return {
        "request": {
            "definitions": ledger.definitions,
            "system": ledger.system,
            "messages": ledger.messages,
            "results": ledger.results,
            "used": _used(ledger),
            "window": ledger.window,
            "reported": bool(ledger.input_tokens),
            "input_tokens": ledger.input_tokens,
            "output_tokens": ledger.output_tokens,
            "cache_read": ledger.cache_read,
            "cache_written": ledger.cache_written,
        },
        "cost": ledger.cost,
    }


CONTEXT = Command(
    "context",
    "what filled the window in the last request; view: that request itself, or the one of a turn; session: all",
    _context,
    _USAGE.removeprefix("/context "),
    complete=lambda context: ("view", "session"),
)
