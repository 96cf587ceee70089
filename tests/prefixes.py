"""The invariant of the prompt cache: a request begins with everything that the one before had sent."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mcode.agent.reach import unreachable
from mcode.model.request import strip_cache_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcode.catalog.placement import LoadingWay


def check_prefixes(bodies: Sequence[dict[str, Any]], *, new_prefixes: int = 0) -> None:
    """Assert it for the consecutive requests of one session, but for `new_prefixes` that were begun on purpose."""
    broken = [
        index for index, (before, after) in enumerate(pairwise(bodies), 1) if not extends(before, after)
    ]
    assert len(broken) <= new_prefixes, f"requests {broken} do not begin with the bytes of the one before"


def check_reach(bodies: Sequence[dict[str, Any]], deferred: Iterable[str], way: LoadingWay) -> None:
    """Assert that whatever is deferred at the end could be reached from each request of the session."""
    names = tuple(deferred)
    for number, body in enumerate(bodies):
        assert not unreachable(body, names, way), f"request {number}: {unreachable(body, names, way)}"


def extends(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """True where model, system, tools and all messages of `before` stand unchanged in front of `after`.

    Deferred tools are no part of it: an endpoint puts them where a result refers to them. In *append* loading the
    tools may grow at their end.
    """
    first, second = strip_cache_marks(before), strip_cache_marks(after)
    if any(_bytes(first.get(key)) != _bytes(second.get(key)) for key in ("model", "system")):
        return False
    sent, now = _resident(first), _resident(second)
    if _bytes(now[: len(sent)]) != _bytes(sent):
        return False
    return _bytes(second["messages"]).startswith(_bytes(first["messages"])[:-1])


def _resident(body: dict[str, Any]) -> list[Any]:
    return [tool for tool in body.get("tools", ()) if not tool.get("defer_loading")]


def _bytes(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
