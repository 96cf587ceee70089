"""A hook for the HTTP library that says when a request has left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def hook_for(on_sent: Callable[[], None]) -> Callable[[Any], Awaitable[None]]:
    """What to hang into the library's `request` hooks: `on_sent` is called once the whole body is on the wire."""

    async def note(step: str, facts: object) -> None:
        del facts
        if step.endswith("send_request_body.complete"):
            on_sent()

    async def follow(request: Any) -> None:
        request.extensions["trace"] = note

    return follow
