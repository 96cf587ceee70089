"""The audit of travel expenses, by direct calls and by a program: what the guide plays and `tools/tasks` measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.demo.office import STANDARD_BUDGET, travel_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcode.demo.office import Row

PEOPLE, ITEMS, STANDARD, OWN, FLAG = (
    f"mcp__office__{name}"
    for name in (
        "list_employees",
        "get_expenses",
        "get_travel_budget",
        "get_custom_budget",
        "flag_for_review",
    )
)
"""The tools that it takes, as a model calls them."""

ONCE, AGAIN = "await must(%s)", "await again(() => %s)"
"""How its program makes a call: once, or up to three times where the service fails."""

_ASKING_AGAIN = """\
const again = async (make) => {
  let result = await make();
  for (let more = 2; more > 0 && !result.ok; more--) result = await make();
  return must(result);
};
"""


def program(heading: str, end: str, *, department: str = "", call: str = ONCE) -> str:
    """The audit as JavaScript: `end` follows where `over` has the ids of who spent too much.

    `department`: of its people alone. `call`: ONCE or AGAIN.
    """
    chosen = f'.filter(p => p.department === "{department}")' if department else ""
    people, items, standard, own = (
        call % f"tools.{tool}({given})"
        for tool, given in (
            (PEOPLE, "{}"),
            (ITEMS, "{employee_id: id}"),
            (STANDARD, "{}"),
            (OWN, "{employee_id: id}"),
        )
    )
    return f"""\
// {heading}
{_ASKING_AGAIN if call == AGAIN else ""}const people = ({people}){chosen};
const standard = ({standard}).travel;
const over = [];
for (const {{id}} of people) {{
  const items = {items};
  const spent = items.filter(i => i.category === "travel" && i.status === "approved")
    .reduce((sum, i) => sum + i.amount, 0);
  if (spent <= standard) continue;
  const own = ({own}).travel;
  if (spent > (own ?? standard)) over.push(id);
}}
{end}
"""


def spent_by(items: Mapping[str, Sequence[Row]]) -> dict[str, int]:
    """Approved travel of each person, from the expense items of each."""
    return {person: travel_in(rows) for person, rows in items.items()}


def above_standard(spent: Mapping[str, int]) -> list[str]:
    """Who has spent more than the standard budget: their own one has to be looked up."""
    return [person for person, amount in spent.items() if amount > STANDARD_BUDGET]


def over_own(spent: Mapping[str, int], own: Mapping[str, int | None]) -> list[str]:
    """Of those whose own budget was looked up, who has spent more than it; None stands for the standard one."""
    return [person for person, budget in own.items() if spent[person] > (budget or STANDARD_BUDGET)]
