"""What is asked for no tool can do: the right outcome says so and calls nothing that merely sounds alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tools.tasks.filler import filler
from tools.tasks.task import ANSWER, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome


def check(outcome: Outcome) -> str:
    wrong = [tool for tool, _, _ in outcome.calls if tool.startswith("mcp__")]
    if wrong:
        return f"called {wrong[0]}, which does something else"
    if outcome.called("tool_search") > 3:
        return "went on searching"
    return "" if outcome.answer() == {"possible": False} else f"{outcome.answer()}"


TASK = Task(
    question=(
        "Use a tool of the servers to measure the temperature of the reactor's coolant, if there is one. "
        f'Write {{"possible": true or false}} to {ANSWER}. Measure nothing else.'
    ),
    servers={"plant": partial(filler, "plant", 120)},
    queries=("measure the temperature of a reactor's coolant",),
    steps=(lambda seen: [save({"possible": False})],),
    check=check,
)
