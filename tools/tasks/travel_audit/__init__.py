"""Who spent more on travel than their own budget allows? Twenty people with dozens of items each."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from mcode.demo.office import STANDARD_BUDGET, over_budget
from mcode.demo.serving import Service
from mcode.demo.tables import TOOLS, Office
from tools.tasks.filler import filler
from tools.tasks.task import ANSWER, NOTHING, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

PEOPLE, ITEMS, STANDARD, OWN = (
    f"mcp__office__{name}"
    for name in ("list_employees", "get_expenses", "get_travel_budget", "get_custom_budget")
)
PROGRAM = f"""\
// who exceeded the travel budget
const people = await must(tools.{PEOPLE}({{}}));
const standard = (await must(tools.{STANDARD}({{}}))).travel;
const found = [];
for (const {{id}} of people) {{
  const items = await must(tools.{ITEMS}({{employee_id: id}}));
  const spent = items.filter(i => i.category === "travel" && i.status === "approved")
    .reduce((sum, i) => sum + i.amount, 0);
  if (spent <= standard) continue;
  const own = (await must(tools.{OWN}({{employee_id: id}}))).travel;
  if (spent > (own ?? standard)) found.push(id);
}}
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(found)}}));
return found;
"""


def office() -> Service:
    return Service("office", "Employees, expenses, budgets, tickets.", TOOLS, Office().call)


def spent(seen: Seen) -> dict[str, int]:
    return {
        person: sum(i["amount"] for i in items if i["category"] == "travel" and i["status"] == "approved")
        for person, items in seen.each(ITEMS, "employee_id").items()
    }


def conclude(seen: Seen) -> Any:
    own, amounts = seen.each(OWN, "employee_id"), spent(seen)
    return [
        save([each for each, limit in own.items() if amounts[each] > (limit["travel"] or STANDARD_BUDGET)])
    ]


def check(outcome: Outcome) -> str:
    answer = outcome.answer()
    right = over_budget()
    return "" if answer is not None and sorted(answer) == right else f"{json.dumps(answer)[:80]}, not {right}"


TASK = Task(
    question=(
        "Which employees spent more on approved travel this year than their budget allows? Where a person has a custom "
        f"budget, that one counts. Write their ids as a JSON list to {ANSWER}."
    ),
    servers={"office": office, **{f"fleet{n}": partial(filler, f"fleet{n}", 60) for n in (1, 2)}},
    queries=(
        "list all employees",
        "expense items of an employee",
        "standard travel budget",
        "custom budget of an employee",
    ),
    needs=(PEOPLE, ITEMS, STANDARD, OWN),
    steps=(
        lambda seen: [(PEOPLE, NOTHING), (STANDARD, NOTHING)],
        lambda seen: [(ITEMS, {"employee_id": each["id"]}) for each in seen.data(PEOPLE)],
        lambda seen: [
            (OWN, {"employee_id": who}) for who, sum_ in spent(seen).items() if sum_ > STANDARD_BUDGET
        ],
        conclude,
    ),
    program=PROGRAM,
    check=check,
)
