"""The tool that is needed has an old name that says something else; the one with the fitting name is retired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.demo.serving import CallError, Service, tool
from tools.tasks.filler import filler_tools
from tools.tasks.task import ANSWER, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

RIGHT, RETIRED = "mcp__depot__sync_calendar", "mcp__depot__get_stock_level"
PART = {"part": {"type": "string", "description": "The number of the part, for example `p-7`."}}
TOOLS = [
    tool("get_stock_level", "Retired, always fails: see sync_calendar.", ["part"], **PART),
    tool(
        "sync_calendar",
        "Says how many pieces of a part are in stock. (The name is left from an earlier use; it touches no calendar.)",
        ["part"],
        **PART,
    ),
    *filler_tools(80, "depot"),
]


def call(name: str, arguments: dict[str, Any]) -> Any:
    if name == "sync_calendar":
        return {"part": arguments["part"], "pieces": 4127}
    raise CallError(
        f"{name} is retired" if name == "get_stock_level" else f"{name} is not what this task needs"
    )


def check(outcome: Outcome) -> str:
    if outcome.called(RETIRED) > 1:
        return "the retired tool was called again after it had said so"
    return "" if outcome.answer() == {"pieces": 4127} else f"{outcome.answer()}"


def conclude(seen: Seen) -> Any:
    return [save({"pieces": seen.data(RIGHT)["pieces"]})]


TASK = Task(
    question=f'How many pieces of part p-7 are in stock? Write {{"pieces": NUMBER}} to {ANSWER}.',
    servers={"depot": lambda: Service("depot", "The depot's stock.", TOOLS, call)},
    queries=("how many pieces of a part are in stock",),
    needs=(RIGHT,),
    steps=(lambda seen: [(RIGHT, {"part": "p-7"})], conclude),
    check=check,
)
