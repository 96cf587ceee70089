"""A report that joins what three servers know: orders, customers, payments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.demo.serving import Service, tool
from tools.tasks.filler import filler_tools
from tools.tasks.task import ANSWER, NOTHING, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

NOTE = "left at the door, as agreed by telephone; nothing else to report here. " * 2
ORDERS = [
    {"order": n, "customer": n * 7 % 25, "total": 20 + n * 37 % 180, "note": NOTE} for n in range(1, 121)
]
CUSTOMERS = [
    {"customer": n, "region": ("north", "south", "east", "west")[n % 4], "note": NOTE} for n in range(25)
]
PAYMENTS = [{"order": n, "paid": ORDERS[n - 1]["total"], "note": NOTE} for n in range(1, 121) if n % 6]
DATA: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "shop": ("list_orders", "Lists all orders with their customer's number and total.", ORDERS),
    "crm": ("list_customers", "Lists all customers with number and region.", CUSTOMERS),
    "bank": ("list_payments", "Lists all payments that came in, by the number of the order.", PAYMENTS),
}
NEEDS = [f"mcp__{server}__{name}" for server, (name, _, _) in DATA.items()]


def server(name: str) -> Service:
    own, description, rows = DATA[name]
    return Service(
        name, f"The {name}.", [tool(own, description), *filler_tools(20, name)], lambda tool, given: rows
    )


def owed(orders: Any, customers: Any, payments: Any) -> dict[str, int]:
    paid, found = {row["order"] for row in payments}, dict[str, int]()
    region = {row["customer"]: row["region"] for row in customers}
    for row in orders:
        if row["order"] not in paid:
            found[region[row["customer"]]] = found.get(region[row["customer"]], 0) + row["total"]
    return found


def check(outcome: Outcome) -> str:
    right = owed(ORDERS, CUSTOMERS, PAYMENTS)
    return "" if outcome.answer() == right else f"{outcome.answer()}, not {right}"


def conclude(seen: Seen) -> Any:
    return [save(owed(*(seen.data(name) for name in NEEDS)))]


TASK = Task(
    question=(
        "For each region, what do customers still owe: the totals of orders without a payment? "
        f"Write an object of region and sum to {ANSWER}, without regions that owe nothing."
    ),
    servers={name: lambda name=name: server(name) for name in DATA},
    queries=("list all orders", "list all customers with region", "list payments that came in"),
    needs=NEEDS,
    steps=(lambda seen: [(name, NOTHING) for name in NEEDS], conclude),
    program=f"""\
// what is owed by region
const [orders, customers, payments] = await Promise.all([
  must(tools.{NEEDS[0]}({{}})), must(tools.{NEEDS[1]}({{}})), must(tools.{NEEDS[2]}({{}}))]);
const paid = new Set(payments.map(p => p.order));
const region = Object.fromEntries(customers.map(c => [c.customer, c.region]));
const owed = {{}};
for (const o of orders) if (!paid.has(o.order)) owed[region[o.customer]] = (owed[region[o.customer]] ?? 0) + o.total;
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(owed)}}));
return owed;
""",
    check=check,
)
