"""Who spent more on travel than their own budget allows? Twenty people with dozens of items each."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from mcode.demo.audit import ITEMS, OWN, PEOPLE, STANDARD, above_standard, over_own, program, spent_by
from mcode.demo.office import over_budget
from mcode.demo.serving import Service
from mcode.demo.tables import TOOLS, Office
from tools.tasks.filler import filler
from tools.tasks.task import ANSWER, NOTHING, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

PROGRAM = program(
    "who exceeded the travel budget",
    f"""\
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(over)}}));
return over;""",
)


def office() -> Service:
    return Service("office", "Employees, expenses, budgets, tickets.", TOOLS, Office().call)


def spent(seen: Seen) -> dict[str, int]:
    return spent_by(seen.each(ITEMS, "employee_id"))


def conclude(seen: Seen) -> Any:
    own = {person: row["travel"] for person, row in seen.each(OWN, "employee_id").items()}
    return [save(over_own(spent(seen), own))]


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
        lambda seen: [(OWN, {"employee_id": who}) for who in above_standard(spent(seen))],
        conclude,
    ),
    program=PROGRAM,
    check=check,
)
