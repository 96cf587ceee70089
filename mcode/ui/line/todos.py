"""The model's list of steps, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mcode.call import Status
from mcode.text import Kind, clean, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Outcome
    from mcode.jsontext import JsonObject
    from mcode.ui.look import Look

_ROWS = 12
"""Steps that are shown; of a longer list those around the one that is in progress."""

_BEFORE = 3
"""Steps in front of the one in progress that are shown of a longer list."""

_MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


def todos_of(outcome: Outcome) -> Sequence[JsonObject]:
    """The list that a call has set; empty for other tools and for a call that failed."""
    if outcome.call.tool != "TodoWrite" or outcome.status is not Status.OK:
        return ()
    return cast("list[JsonObject]", outcome.call.arguments.get("todos", []))


def todo_rows(todos: Sequence[JsonObject], look: Look, width: int) -> list[str]:
    """The rows of a list: `[x]` done, `[>]` in progress, `[ ]` pending."""
    now = next((at for at, todo in enumerate(todos) if todo.get("status") != "completed"), len(todos))
    first = max(0, min(now - _BEFORE, len(todos) - _ROWS))
    shown = todos[first : first + _ROWS]
    indent = " " * 10 if look.decorated else "  "
    rows = [indent + _row(todo, look, width - len(indent)) for todo in shown]
    if first:
        rows.insert(0, look.palette.dim(f"{indent}({first} more before)"))
    after = len(todos) - first - len(shown)
    return [*rows, look.palette.dim(f"{indent}({after} more)")] if after else rows


def _row(todo: JsonObject, look: Look, width: int) -> str:
    status = str(todo.get("status", ""))
    text = f"{_MARKS.get(status, '[ ]')} {clean(str(todo.get('content', '')), Kind.LINE)}"
    row = shorten(text, max(16, width), look.cut) if look.decorated else text
    return look.palette.dim(row) if status == "completed" else row
