"""The model that a session takes behind the first frame, where none was named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.pictures import Pictures
from mcode.agent.request_body import Terms
from mcode.events import Notice
from mcode.wiring.endpoint import named_endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.meter import Meter
    from mcode.agent.requests import RequestBuilder
    from mcode.events import EventBus
    from mcode.images.store import ImageStore
    from mcode.wiring.endpoint import Endpoint
    from mcode.wiring.workbench import Workbench


def terms_of(endpoint: Endpoint, images: ImageStore) -> Terms:
    """What the endpoint takes and gives in a conversation whose images are kept in `images`."""
    pictures = Pictures(images.load, accepted=endpoint.images)
    return Terms(pictures, endpoint.max_tokens, endpoint.most_tokens, endpoint.extra)


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
