"""Some tickets of many are to be changed, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.demo.office import tickets
from mcode.demo.serving import Service
from mcode.demo.tables import TOOLS, Office
from tools.tasks.task import Seen, Task

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

LIST, UPDATE = "mcp__office__list_tickets", "mcp__office__update_ticket"


def stale(rows: Any) -> list[str]:
    return [row["id"] for row in rows if row["state"] == "waiting" and row["hours"] > 60]


def check(outcome: Outcome) -> str:
    changed = sorted(
        str(given.get("id"))
        for tool, given, ok in outcome.calls
        if tool == UPDATE and ok and given.get("state") == "closed"
    )
    right = sorted(stale(tickets()))
    others = [
        given for tool, given, ok in outcome.calls if tool == UPDATE and ok and given.get("id") not in right
    ]
    return (
        ""
        if changed == right and not others
        else f"closed {len(changed)} of {len(right)}, and {len(others)} others"
    )


def close(seen: Seen) -> Any:
    return [(UPDATE, {"id": each, "state": "closed"}) for each in stale(seen.data(LIST))]


TASK = Task(
    question="Close every ticket that is waiting and has more than 60 hours. Change no other ticket.",
    servers={"office": lambda: Service("office", "Employees, expenses, tickets.", TOOLS, Office().call)},
    queries=("list support tickets by state", "change the state of a ticket"),
    needs=(LIST, UPDATE),
    steps=(lambda seen: [(LIST, {"limit": 500})], close),
    program=f"""\
// close stale tickets
const rows = await must(tools.{LIST}({{state: "waiting", limit: 500}}));
const stale = rows.filter(t => t.hours > 60);
for (const t of stale) await must(tools.{UPDATE}({{id: t.id, state: "closed"}}));
return stale.map(t => t.id);
""",
    check=check,
)
