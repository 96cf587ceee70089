"""/cost: what this session has used and cost, from its ledger."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.ledger_reading import ledger_of
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import dollars, plural, table, tokens

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject


async def _cost(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/cost")
    waited = context.agent.meter.waited
    totals: JsonObject = (await asyncio.to_thread(ledger_of, context.agent))["totals"]
    beside = totals["input_tokens"] - totals["cache_read"] - totals["cache_written"]
    rows = [
        ("cost", dollars(totals["cost"])),
        ("requests", _requests(totals)),
        ("input", f"{_counted(beside)}, beside the cache"),
        ("from the cache", _counted(totals["cache_read"])),
        ("into the cache", _counted(totals["cache_written"])),
        ("output", _counted(totals["output_tokens"])),
        ("waited", f"{waited:.0f} s for the model, since the session was opened here"),
    ]
    lines = ["This session from its beginning, sub-agents and summaries included", table(rows)]
    if totals["estimated"]:
        lines.append(
            f"For {plural(totals['estimated'], 'request')} the provider reported nothing: their input, estimated, is "
            "not in here; /context session has it."
        )
    if totals["cost"] is None:
        lines.append("Prices by model stand in the settings, under mcode.prices.")
    return CommandResult("\n".join(lines), {**totals, "seconds_waited": round(waited, 1)})


def _counted(count: int) -> str:
    return f"{tokens(count)} {'token' if count == 1 else 'tokens'}"


def _requests(totals: JsonObject) -> str:
    parts = [plural(totals["round_trips"], "round trip")]
    parts += [f"{totals[key]} {words}" for key, words in _BESIDE.items() if totals[key]]
    return ", ".join(parts)


_BESIDE = {
    "sub_agents": "of sub-agents",
    "asides": "beside the conversation",
    "unanswered": "without an answer",
}


COST = Command("cost", "what this session has used and cost", _cost, aliases=("usage",), elsewhere=("stats",))
