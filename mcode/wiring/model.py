"""The model that a session takes behind the first frame, where none was named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.events import Notice
from mcode.wiring.endpoint import named_endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.meter import Meter
    from mcode.agent.requests import RequestBuilder
    from mcode.events import EventBus
    from mcode.wiring.workbench import Workbench


async def choose_model(
    bench: Workbench,
    meter: Meter,
    builder: RequestBuilder,
    events: EventBus,
    learn_window: Callable[[], None],
) -> str:
    """The name of the model, for every session of this start; the session takes over its limits.

    Raises UsageError where the endpoint offers none, with what to do.
    """
    bench.endpoint, notice = await named_endpoint(bench.endpoint, bench.settings)
    meter.window = bench.endpoint.window
    builder.max_tokens, builder.most_tokens = bench.endpoint.max_tokens, bench.endpoint.most_tokens
    learn_window()
    if notice:
        events.emit(Notice(notice))
    return bench.endpoint.model
