"""Two servers list the same things; what is in one and not in the other?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.demo.serving import Service, tool
from tools.tasks.filler import filler_tools
from tools.tasks.task import ANSWER, NOTHING, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

LEFT = [
    {"key": f"k-{n}", "text": f"Entry {n}: " + "words that are in both " * 5} for n in range(300) if n % 23
]
RIGHT = [
    {"key": f"k-{n}", "text": f"Entry {n}: " + "words that are in both " * 5} for n in range(300) if n % 29
]
NEEDS = ("mcp__old__list_entries", "mcp__new__list_entries")


def server(name: str, rows: Any) -> Service:
    own = tool("list_entries", f"Lists all entries of the {name} register, with key and text.")
    return Service(name, f"The {name} register.", [own, *filler_tools(30, name)], lambda tool, given: rows)


def check(outcome: Outcome) -> str:
    right = missing(LEFT, RIGHT)
    answer = outcome.answer()
    return "" if answer is not None and sorted(answer) == right else f"{answer}, not {right}"


def missing(left: Any, right: Any) -> list[str]:
    return sorted({row["key"] for row in left} - {row["key"] for row in right})


def conclude(seen: Seen) -> Any:
    return [save(missing(*(seen.data(name) for name in NEEDS)))]


TASK = Task(
    question=f"Which keys are in the old register and not in the new one? Write them as a JSON list to {ANSWER}.",
    servers={"old": lambda: server("old", LEFT), "new": lambda: server("new", RIGHT)},
    queries=("list entries of the old register", "list entries of the new register"),
    needs=NEEDS,
    steps=(lambda seen: [(name, NOTHING) for name in NEEDS], conclude),
    program=f"""\
// what the new register lacks
const [left, right] = [await must(tools.{NEEDS[0]}({{}})), await must(tools.{NEEDS[1]}({{}}))];
const known = new Set(right.map(e => e.key));
const found = left.map(e => e.key).filter(k => !known.has(k));
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(found)}}));
return found;
""",
    check=check,
)
