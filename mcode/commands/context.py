"""/context: where the window goes, from the ledger of the last request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.ledger_reading import ledger_of
from mcode.commands.ledger_tables import report_text, savings_text
from mcode.commands.program_tables import size
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.request_view import request_view
from mcode.commands.tables import dollars, percent, plural, table, tokens
from mcode.errors import UsageError
from mcode.run_code.audit_read import read_audits
from mcode.text import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcode.agent.compaction import Outlook
    from mcode.agent.room import RoomMaker
    from mcode.commands.host import CommandContext
    from mcode.events import Ledger
    from mcode.jsontext import JsonObject

BYTES_A_TOKEN = 4
"""Of results, for an estimate of what they would have cost."""

_USAGE = "/context [view [TURN [REQUEST] | agent [NUMBER [REQUEST]]] | session]"

_MORE = (
    "`/context session` has every request; `/context view` the last one word for word, `/context view TURN` an "
    "earlier one, `/context view agent` those of sub-agents."
)

_NAMED = 3
"""Tools that are named before the rest is one figure."""

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
        raise UsageError(f"/context has no `{' '.join(words)}`; nothing was done. Usage: {_USAGE}")
    ledger = context.agent.ledger
    programs = await asyncio.to_thread(read_audits, context.agent.session.directory)
    kept_out = sum(program.kept_out for program in programs)
    saved: dict[str, object] = {
        "programs": len(programs),
        "calls": sum(len(program.calls) for program in programs),
        "kept_out": kept_out,
    }
    if ledger is None:
        text = "No request has been sent in this session yet, so there is nothing in the window."
        return CommandResult(text, {"request": None})
    whole, room = await asyncio.to_thread(ledger_of, context.agent), context.agent.room
    outlook = room.outlook()
    largest = _largest(context, outlook)
    text = _text(ledger, _last(whole))
    if programs:
        text += (
            f"\n  kept out of the context by programs this session: {size(kept_out)} (about "
            f"{tokens(kept_out // BYTES_A_TOKEN)} tokens, estimated); {plural(len(programs), 'program')} made "
            f"{plural(sum(len(program.calls) for program in programs), 'call')}"
        )
    parts = (_largest_text(largest), _room_text(room, outlook), savings_text(whole), _MORE)
    text += "".join(f"\n\n{part}" for part in parts if part)
    data = {
        **_as_object(ledger),
        "largest_results": largest,
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
    head = f"Room is made before a request of more than {tokens(outlook.limit)} tokens; what a step would free now"
    return f"{head}\n{table(rows, right=frozenset({1}))}"


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


def _last(whole: JsonObject) -> JsonObject:
    """The last request of the conversation itself, as the session's ledger has it."""
    own = [each for each in whole["requests"] if not (each["agent"] or each["aside"])]
    return own[-1] if own else {}


def _by_tool(counts: Mapping[str, int], otherwise: str) -> str:
    """`Read 21.0k, Bash 9.2k, 3 others 4.0k`: the tools that cost most."""
    if not counts:
        return otherwise
    dearest = sorted(counts.items(), key=lambda pair: -pair[1])
    named = [f"{tool} {tokens(count)}" for tool, count in dearest[:_NAMED]]
    left = [count for _, count in dearest[_NAMED:]]
    return ", ".join([*named, *([f"{plural(len(left), 'other')} {tokens(sum(left))}"] if left else [])])


def _text(ledger: Ledger, last: JsonObject) -> str:
    """The window by part; `last`: the same request by tool."""
    used = _used(ledger)
    heading = (
        f"Last request {tokens(used)} of {tokens(ledger.window)} tokens ({percent(used, ledger.window)})   "
        f"cached {tokens(ledger.cache_read)}   cost of the session {dollars(ledger.cost)}"
    )
    parts = (
        (
            "definitions",
            ledger.definitions,
            _by_tool(last.get("definitions_by_tool", {}), "tool definitions"),
        ),
        ("system", ledger.system, "system prompt and instruction files"),
        ("messages", ledger.messages, "what you and the model said"),
        ("results", ledger.results, _by_tool(last.get("results_by_tool", {}), "what tools returned")),
        ("free", max(0, ledger.window - used), ""),
    )
    rows = [(name, tokens(count), _bar(count, ledger.window), note) for name, count, note in parts]
    lines = [heading, table(rows, right=frozenset({1}))]
    if not ledger.input_tokens:
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
    "[view [TURN [REQUEST]] | session]",
    complete=lambda context: ("view", "session"),
)
