"""/cost: what this session has used so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import dollars, table, tokens

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext


async def _cost(context: CommandContext, arguments: Arguments) -> CommandResult:
    arguments.at_most(0, "/cost")
    meter = context.agent.meter
    totals = meter.totals
    data = {
        "requests": totals.requests,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "cache_read": totals.cache_read,
        "cache_written": totals.cache_written,
        "cost": totals.cost,
        "seconds_waited": round(meter.waited, 1),
    }
    rows = [
        ("cost", dollars(totals.cost)),
        ("requests", str(totals.requests)),
        ("input", f"{tokens(totals.input_tokens)} tokens, beside the cache"),
        ("from the cache", f"{tokens(totals.cache_read)} tokens"),
        ("into the cache", f"{tokens(totals.cache_written)} tokens"),
        ("output", f"{tokens(totals.output_tokens)} tokens"),
        ("waited", f"{meter.waited:.0f} s for the model"),
    ]
    lines = ["Since this session was opened here, sub-agents and summaries included", table(rows)]
    if totals.cost is None:
        lines.append("Prices by model stand in the settings, under mcode.prices.")
    return CommandResult("\n".join(lines), data)


COST = Command("cost", "what this session has used and cost", _cost, aliases=("usage",))
