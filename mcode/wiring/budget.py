"""`--max-budget-usd`: what a run may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.agent.meter import Meter


def spent(budget: float | None, meter: Meter) -> str:
    """Why no more may be spent, in words; empty while it may."""
    if budget is None:
        return ""
    cost = meter.totals.cost
    if cost is None:
        if meter.totals.requests == 0:
            return ""
        return "--max-budget-usd needs the model's prices in the settings, under mcode.prices; nothing more is sent."
    if cost < budget:
        return ""
    return (
        f"The run has cost ${cost:.4f} of the ${budget:g} that --max-budget-usd allows; nothing more is sent."
    )
