"""An approval as it is shown: known secrets in what is decided on are masked, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.events import ApprovalRequested
    from mcode.jsontext import JsonObject, JsonValue


def masked_request(request: ApprovalRequested, mask: Callable[[str], str]) -> ApprovalRequested:
    """A copy whose texts have gone through `mask`. It is only for the eye: what is decided on stays the original."""
    preview, site = request.preview, request.site
    return replace(
        request,
        call=replace(request.call, arguments=cast("JsonObject", _masked(request.call.arguments, mask))),
        preview=replace(
            preview,
            title=mask(preview.title),
            body=mask(preview.body),
            diff=None if preview.diff is None else mask(preview.diff),
        ),
        reason=mask(request.reason),
        choices=tuple(
            replace(choice, label=mask(choice.label), rule=None if choice.rule is None else mask(choice.rule))
            for choice in request.choices
        ),
        site=None if site is None else replace(site, title=mask(site.title), source=mask(site.source)),
        parts=tuple(replace(part, text=mask(part.text), why=mask(part.why)) for part in request.parts),
    )


def _masked(value: JsonValue, mask: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        return {mask(key): _masked(item, mask) for key, item in members.items()}
    if isinstance(value, list):
        return [_masked(item, mask) for item in cast("list[JsonValue]", value)]
    return value
