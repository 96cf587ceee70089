"""/context: where the window goes, from the ledger of the last request."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Protocol, cast

from mcode.commands.ledger_reading import ledger_of
from mcode.commands.ledger_tables import report_text, savings_text
from mcode.commands.program_tables import size
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import dollars, percent, plural, table, tokens
from mcode.errors import UsageError
from mcode.run_code.audit_read import read_audits

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.events import Ledger
    from mcode.jsontext import JsonObject

BYTES_A_TOKEN = 4
"""Of results, for an estimate of what they would have cost."""

_USAGE = "/context [view | session]"

_MORE = "`/context session` has every request; `/context view` the last one word for word."

_BAR = 30
"""Cells of a bar that stands for the whole window."""


class _Prefix(Protocol):
    """What stood in front of the messages of the last request."""

    model: str
    system: str
    tools: tuple[JsonObject, ...]


class _Sent(Protocol):
    """The builder of requests, as far as the last one is concerned."""

    prefix: _Prefix
    messages: tuple[JsonObject, ...]


async def _context(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.at_most(1, _USAGE)
    if words == ("view",):
        return _view(context)
    if words == ("session",):
        whole = await asyncio.to_thread(ledger_of, context.agent)
        return CommandResult(report_text(whole), whole)
    if words:
        raise UsageError(f"/context has no `{words[0]}`; nothing was done. Usage: {_USAGE}")
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
    text = _text(ledger)
    if programs:
        text += (
            f"\n  kept out of the context by programs this session: {size(kept_out)} (about "
            f"{tokens(kept_out // BYTES_A_TOKEN)} tokens, estimated); {plural(len(programs), 'program')} made "
            f"{plural(sum(len(program.calls) for program in programs), 'call')}"
        )
    whole = await asyncio.to_thread(ledger_of, context.agent)
    text += "".join(f"\n\n{part}" for part in (savings_text(whole), _MORE) if part)
    return CommandResult(text, {**_as_object(ledger), "programs": saved, "session": whole})


def _view(context: CommandContext) -> CommandResult:
    """What the model was sent last, word for word; marks for the provider's cache and limits are left out."""
    sent = cast("_Sent", context.agent.builder)
    if not sent.messages:
        return CommandResult("No request has been sent since this session was opened.", {"request": None})
    prefix = sent.prefix
    request = {
        "model": prefix.model,
        "system": prefix.system,
        "tools": list(prefix.tools),
        "messages": list(sent.messages),
    }
    parts = [f"model\n{prefix.model}", f"system\n{prefix.system}"]
    parts += [f"tool {tool.get('name', '')}\n{_pretty(tool)}" for tool in prefix.tools]
    parts += [
        f"message {at} of {len(sent.messages)}, {message.get('role', '')}\n{_pretty(message.get('content'))}"
        for at, message in enumerate(sent.messages, 1)
    ]
    return CommandResult("\n\n".join(parts), {"request": request})


def _pretty(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _text(ledger: Ledger) -> str:
    used = _used(ledger)
    heading = (
        f"Last request {tokens(used)} of {tokens(ledger.window)} tokens ({percent(used, ledger.window)})   "
        f"cached {tokens(ledger.cache_read)}   session {dollars(ledger.cost)}"
    )
    parts = (
        ("definitions", ledger.definitions, "tool definitions, in every request"),
        ("system", ledger.system, "system prompt and instruction files"),
        ("messages", ledger.messages, "what you and the model said"),
        ("results", ledger.results, "what tools returned"),
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
    "what filled the window in the last request; view: the request itself; session: every request",
    _context,
    "[view | session]",
    complete=lambda context: ("view", "session"),
)
