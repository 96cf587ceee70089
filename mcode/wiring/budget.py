"""`--max-budget-usd`: what a run may cost. A model without a price cannot be held to it, so nothing is sent to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.errors import UsageError
from mcode.wiring.endpoint import GUIDE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.agent.meter import Meter
    from mcode.config.settings import Prices


def check_budget(budget: float | None, model: str, prices: Mapping[str, Prices]) -> None:
    """Raise UsageError where the budget cannot be held; a model that is not named yet is looked at once it is."""
    fault = _without_price(budget, model, prices) if model else ""
    if fault:
        raise UsageError(fault)


def spent(budget: float | None, meter: Meter, model: str, prices: Mapping[str, Prices]) -> str:
    """Why no more may be spent on this model, in words; empty while it may."""
    if budget is None:
        return ""
    fault = _without_price(budget, model, prices)
    cost = meter.totals.cost
    if fault or cost is None or cost < budget:
        return fault
    return (
        f"The run has cost ${cost:.4f} of the ${budget:g} that --max-budget-usd allows; nothing more is sent."
    )


def _without_price(budget: float | None, model: str, prices: Mapping[str, Prices]) -> str:
    """The guide costs nothing, and every other model needs a price."""
    if budget is None or model == GUIDE or model in prices:
        return ""
    return (
        f"--max-budget-usd {budget:g} cannot be held: the settings have no price for the model {model}. Nothing was "
        "sent to it. Set what a million of its tokens cost, in dollars, under mcode.prices in ~/.mcode/settings.json: "
        f'{{"mcode": {{"prices": {{"{model}": {{"input": 3, "output": 15}}}}}}}}, or leave the option out.'
    )
