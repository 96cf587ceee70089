"""The books of the invented office, made from numbers: people, money, tickets, deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]

PEOPLE = 20
STANDARD_BUDGET = 3_600
"""Travel budget of a year where a person has no budget of their own."""

CATEGORIES = ("travel", "office", "software", "meals", "travel")
DEPARTMENTS = ("sales", "research", "support")
SERVICES = ("web", "billing", "search", "mail", "auth", "reports")


def person(number: int) -> str:
    """The id of a person."""
    return f"employee-{number:02}"


def number_of(identifier: str) -> int:
    """The number in an id such as `employee-07` or `ticket-112`; 0 where there is none."""
    digits = identifier.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def people() -> list[Row]:
    """All people of the office."""
    return [
        {
            "id": person(number),
            "department": DEPARTMENTS[number % 3],
            "team": f"team-{number % 5 + 1}",
            "desk": f"floor {number % 4 + 1}, desk {number}",
            "started": f"20{10 + number % 14}-0{number % 9 + 1}-01",
            "notes": "Lent a screen, a chair and a key; handed back in good order, as always. " * 3,
        }
        for number in range(1, PEOPLE + 1)
    ]


def expenses(identifier: str) -> list[Row]:
    """30 to 60 items of one person in one year, each with more fields than anybody needs."""
    number = number_of(identifier)
    if not 1 <= number <= PEOPLE:
        return []
    return [
        {
            "id": f"{identifier}-item-{at}",
            "category": CATEGORIES[(at + number) % len(CATEGORIES)],
            "amount": 40 + (at * 53 + number * number * 7) % 331,
            "status": "rejected" if (at + number) % 11 == 0 else "approved",
            "description": f"Receipt {at} of {identifier}: "
            + "a description that nobody needs to read, " * 3,
            "approval_chain": [f"approver-{step}" for step in range(4)],
            "metadata": {"scanner": "s-200", "checksum": f"{at * 7919:032x}", "pages": at % 3 + 1},
        }
        for at in range(1, 30 + number * 37 % 31 + 1)
    ]


def travel_in(items: Iterable[Row]) -> int:
    """The amount of the approved travel among expense items."""
    return sum(
        item["amount"] for item in items if item["category"] == "travel" and item["status"] == "approved"
    )


def spent_on_travel(identifier: str) -> int:
    """Approved travel of one person."""
    return travel_in(expenses(identifier))


def own_budget(identifier: str) -> int | None:
    """The budget of every fourth person; None for the others."""
    number = number_of(identifier)
    return STANDARD_BUDGET + number * 60 if number % 4 == 0 else None


def over_budget() -> list[str]:
    """The right answer to the audit: who spent more on travel than their own budget allows."""
    found = [each["id"] for each in people()]
    return [each for each in found if spent_on_travel(each) > (own_budget(each) or STANDARD_BUDGET)]


def tickets() -> list[Row]:
    """Tickets of the support desk."""
    return [
        {
            "id": f"ticket-{number}",
            "title": f"{('Login fails', 'Page is slow', 'Export is empty', 'Mail is late')[number % 4]} ({number})",
            "state": ("open", "closed", "waiting")[number % 3],
            "priority": ("low", "normal", "high")[number * 7 % 3],
            "assignee": person(number % PEOPLE + 1),
            "service": SERVICES[number % len(SERVICES)],
            "hours": number * 13 % 97,
        }
        for number in range(1, 121)
    ]


def deploys() -> list[Row]:
    """Deployments, oldest first."""
    return [
        {
            "id": f"deploy-{number}",
            "service": SERVICES[number % len(SERVICES)],
            "version": f"1.{number}.0",
            "state": "failed" if number % 7 == 0 else "live",
            "by": person(number * 3 % PEOPLE + 1),
            "minutes": number * 11 % 23 + 2,
        }
        for number in range(1, 61)
    ]


def small_table(kind: str, rows: int) -> list[Row]:
    """Rows of a table that has nothing but ids and a few plain facts."""
    return [
        {
            "id": f"{kind}-{number}",
            "owner": person(number * 5 % PEOPLE + 1),
            "service": SERVICES[number % len(SERVICES)],
            "state": ("open", "done")[number % 2],
            "amount": number * 17 % 101,
        }
        for number in range(1, rows + 1)
    ]
