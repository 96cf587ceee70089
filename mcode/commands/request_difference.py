"""What one request differs in from the one before it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcode.commands.tables import plural
from mcode.model.reading import objects_in
from mcode.model.request import strip_cache_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcode.jsontext import JsonObject


def difference_of(before: JsonObject, now: JsonObject) -> JsonObject:
    """What is another than in the request before; cache marks move by their nature and are left out."""
    old, new = strip_cache_marks(before), strip_cache_marks(now)
    was, is_now = objects_in(old.get("messages")), objects_in(new.get("messages"))
    same = 0
    while same < min(len(was), len(is_now)) and was[same] == is_now[same]:
        same += 1
    apart = {"model", "system", "tools", "messages"}
    others = {key for key in old.keys() | new.keys() if key not in apart}
    had, has = (
        {str(tool.get("name")): tool for tool in objects_in(body.get("tools"))} for body in (old, new)
    )
    return {
        "messages_as_before": same,
        "messages_new": len(is_now) - same,
        "messages_gone": len(was) - same,
        **{key: old.get(key) != new.get(key) for key in ("model", "system", "tools")},
        "other": any(old.get(key) != new.get(key) for key in others),
        "tools_added": [name for name in has if name not in had],
        "tools_gone": [name for name in had if name not in has],
        "tools_changed": [name for name in has if name in had and has[name] != had[name]],
        "system_lines": _changed_lines(_system(old), _system(new)),
    }


def _changed_lines(old: str, new: str) -> list[str]:
    """What of two texts is not the same, with + and - in front."""
    compared = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in compared if not line.startswith(("---", "+++", "@@"))]


def _system(body: JsonObject) -> str:
    return "\n".join(str(block.get("text", "")) for block in objects_in(body.get("system")))


def told(difference: JsonObject) -> Iterator[str]:
    """The difference in words, and in lines where the system prompt is another."""
    same, new, gone = (int(difference[f"messages_{what}"]) for what in ("as_before", "new", "gone"))
    changed = [name for name in ("model", "system", "tools", "other") if difference[name]]
    yield (
        f"against the request before: {plural(same, 'message')} as before, {new} new"
        f"{f', {gone} no longer there' if gone else ''}; "
        f"{'changed: ' + ', '.join(changed) if changed else 'model, system and tools are the same'}"
    )
    for what in ("added", "gone", "changed"):
        names = difference[f"tools_{what}"]
        if names:
            yield f"tools {what}: {', '.join(names)}"
    yield from (f"  {line}" for line in difference["system_lines"])
