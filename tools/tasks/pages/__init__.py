"""Thirty pages that have to be read one after the other, since each names the next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcode.demo.serving import CallError, Service, tool
from tools.tasks.filler import filler_tools
from tools.tasks.task import ANSWER, Seen, Task, save

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.tasks.task import Calls, Outcome

PAGES, NEXT = 30, "mcp__archive__read_page"
TOOL = tool(
    "read_page",
    "Reads one page of the archive's register: rows with id and weight, and the cursor of the next page.",
    cursor={"type": "string", "description": "The cursor of the page; the first page if left out."},
)


def cursor(number: int) -> str:
    return f"c{number * 7919 % 1000:03}-{number}"


def rows(number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"row-{number}-{at}",
            "weight": (number * 31 + at * 17) % 97,
            "remark": "nothing to remark " * 6,
        }
        for at in range(20)
    ]


def call(name: str, arguments: dict[str, Any]) -> Any:
    given = arguments.get("cursor") or cursor(0)
    number = next((n for n in range(PAGES) if cursor(n) == given), None)
    if name != "read_page" or number is None:
        raise CallError(f"there is no page {given}")
    return {"rows": rows(number), "next": cursor(number + 1) if number + 1 < PAGES else None}


def summed(every: list[dict[str, Any]]) -> dict[str, int]:
    return {"weight": sum(row["weight"] for row in every), "rows": len(every)}


def check(outcome: Outcome) -> str:
    right = summed([row for number in range(PAGES) for row in rows(number)])
    return "" if outcome.answer() == right else f"{outcome.answer()}, not {right}"


def read(number: int) -> Callable[[Seen], Calls]:
    def step(seen: Seen) -> Calls:
        del seen
        return [(NEXT, {"cursor": cursor(number)} if number else {})]

    return step


def conclude(seen: Seen) -> Any:
    return [save(summed([row for _, text in seen.of(NEXT) for row in json.loads(text)["rows"]]))]


TASK = Task(
    question=(
        "Read the archive's whole register, page after page by the cursor of the next one, and write "
        f'{{"weight": SUM OF ALL WEIGHTS, "rows": NUMBER OF ROWS}} to {ANSWER}.'
    ),
    servers={
        "archive": lambda: Service("archive", "The register.", [TOOL, *filler_tools(60, "archive")], call)
    },
    queries=("read a page of the archive's register",),
    needs=(NEXT,),
    steps=(*(read(number) for number in range(PAGES)), conclude),
    program=f"""\
// the register, page by page
let cursor, weight = 0, rows = 0;
do {{
  const page = await must(tools.{NEXT}(cursor ? {{cursor}} : {{}}));
  for (const row of page.rows) {{ weight += row.weight; rows++; }}
  cursor = page.next;
}} while (cursor);
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify({{weight, rows}})}}));
return {{weight, rows}};
""",
    check=check,
)
