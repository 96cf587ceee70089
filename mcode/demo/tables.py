"""The demo's tools: five ways to use each of twelve tables, and some for people and money; sixty or so in all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.demo.office import (
    PEOPLE,
    STANDARD_BUDGET,
    deploys,
    expenses,
    number_of,
    own_budget,
    people,
    person,
    small_table,
    tickets,
)
from mcode.demo.serving import CallError, tool

if TYPE_CHECKING:
    from mcode.demo.office import Row

TABLES: dict[str, tuple[str, str]] = {
    "ticket": ("tickets", "support tickets that customers opened, with state, priority and assignee"),
    "deploy": ("deploys", "deployments of services to production, with version, state and duration"),
    "leave": ("leaves", "days of absence that people asked for: holidays, illness, parental leave"),
    "receipt": ("receipts", "scanned receipts and invoices behind expense items"),
    "contract": ("contracts", "contracts with suppliers, with renewal dates and yearly amounts"),
    "incident": ("incidents", "outages and incidents of services, with the person on call"),
    "alert": ("alerts", "monitoring alerts that fired, with the service and the threshold"),
    "comment": ("comments", "comments that people wrote on tickets and incidents"),
    "sprint": ("sprints", "sprints of the engineering teams, with what was planned and done"),
    "room": ("rooms", "meeting rooms, their seats and their bookings"),
    "supplier": ("suppliers", "suppliers of goods and services, with their terms of payment and last orders"),
    "device": ("devices", "laptops, phones and screens that are lent to people"),
}
"""By the word for one row: the word for several, and what they are."""

TEXT = {"type": "string"}
LIMIT = {
    "type": "integer",
    "description": "The largest number of rows to return, from 1 to 500; 100 if left out.",
}

PAGE: dict[str, Any] = {
    "limit": LIMIT,
    "offset": {
        "type": "integer",
        "description": "How many of the matching rows to leave out at the beginning, for reading page by page.",
    },
    "order_by": {
        "type": "string",
        "description": "The field to sort the rows by, such as `state`, `service` or `amount`; by age if left out.",
    },
    "descending": {
        "type": "boolean",
        "description": "Whether to sort the other way round, the largest first.",
    },
    "fields": {
        "type": "array",
        "items": TEXT,
        "description": "Names of the fields to return; rows have all their fields if this is left out.",
    },
}
"""What every tool takes that gives a list of rows."""


def table_tools(one: str, many: str, what: str) -> list[dict[str, Any]]:
    """The five tools of one table."""
    identifier = {"type": "string", "description": f"The id of the {one}, for example `{one}-12`."}
    state = {"type": "string", "description": f"Only {many} in this state, for example `open`."}
    service = {
        "type": "string",
        "description": f"Only {many} of this service, for example `billing` or `web`.",
    }
    owner = {"type": "string", "description": f"Only {many} of this person, for example `employee-07`."}
    return [
        tool(
            f"list_{many}",
            f"Lists {what}. Rows come oldest first, as objects with id, service, state and further fields; "
            "combine the filters to narrow the list down.",
            state=state,
            service=service,
            owner=owner,
            **PAGE,
        ),
        tool(
            f"get_{one}",
            f"Reads one of the {what}, by its id, with all fields. Fails where no {one} has this id.",
            ["id"],
            id=identifier,
        ),
        tool(
            f"search_{many}",
            f"Searches {what} for words, in every field, whatever the letter case. Returns the rows that hold "
            "all the words, oldest first.",
            ["query"],
            query={"type": "string", "description": "Words that must all occur in the row."},
            **PAGE,
        ),
        tool(
            f"count_{many}",
            f"Counts {what}, grouped by one field. Returns an object with a number for each value of that field.",
            ["by"],
            by={"type": "string", "description": "The field to group by, for example `state` or `service`."},
        ),
        tool(
            f"update_{one}",
            f"Changes the state of one of the {what} and leaves a note on who did so and why. This cannot be "
            f"undone by another call: the history of a {one} keeps every change.",
            ["id", "state"],
            id=identifier,
            state={"type": "string", "description": f"The new state of the {one}."},
            note={"type": "string", "description": "Why it is changed; shown in the history."},
        ),
    ]


PERSON = {"type": "string", "description": "The id of the employee, for example `employee-07`."}
PEOPLE_TOOLS = [
    tool("list_employees", "Lists all employees of the office with id, department, team and desk."),
    tool(
        "get_employee", "Reads one employee by id, with department, team, desk and notes.", ["id"], id=PERSON
    ),
    tool(
        "get_expenses",
        "All expense items of one employee in this year: category, amount, status (approved or rejected), "
        "description and the chain of approval. Some thirty to sixty items a person.",
        ["employee_id"],
        employee_id=PERSON,
    ),
    tool("get_travel_budget", "The standard travel budget of a person and year."),
    tool(
        "get_custom_budget",
        "The travel budget that was agreed for one employee alone; null where the standard one holds.",
        ["employee_id"],
        employee_id=PERSON,
    ),
    tool(
        "flag_for_review",
        "Puts employees on the list of travel expenses that finance reviews by hand. The people concerned are told.",
        ["employee_ids", "reason"],
        employee_ids={"type": "array", "items": TEXT, "description": "Ids of the employees."},
        reason={"type": "string", "description": "What finance should look at."},
    ),
]

TOOLS = PEOPLE_TOOLS + [each for one, (many, what) in TABLES.items() for each in table_tools(one, many, what)]


class Office:
    """The office as a server has it: what calls change lasts as long as the server."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = {"ticket": tickets(), "deploy": deploys()}
        self.flagged: list[str] = []

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Run a tool. Raises CallError."""
        match name:
            case "list_employees":
                return people()
            case "get_employee":
                return self._one(people(), arguments["id"])
            case "get_expenses":
                return expenses(self._person(arguments["employee_id"]))
            case "get_travel_budget":
                return {"travel": STANDARD_BUDGET}
            case "get_custom_budget":
                return {"travel": own_budget(self._person(arguments["employee_id"]))}
            case "flag_for_review":
                self.flagged += [self._person(each) for each in arguments["employee_ids"]]
                return {"flagged": self.flagged}
            case _:
                return self._table(name, arguments)

    def _person(self, identifier: str) -> str:
        if not 1 <= number_of(identifier) <= PEOPLE or identifier != person(number_of(identifier)):
            raise CallError(f"there is no employee {identifier}; list_employees has the ids")
        return identifier

    def _table(self, name: str, arguments: dict[str, Any]) -> Any:
        verb, _, noun = name.partition("_")
        one = next((each for each, (many, _) in TABLES.items() if noun in {each, many}), "")
        if not one:
            raise CallError(f"there is no tool {name}")
        rows = self._rows.setdefault(one, small_table(one, 40))
        match verb:
            case "list":
                return _page([row for row in rows if _fits(row, arguments)], arguments)
            case "search":
                wanted = str(arguments["query"]).lower().split()
                return _page(
                    [row for row in rows if all(word in str(row).lower() for word in wanted)], arguments
                )
            case "count":
                values = [str(row.get(str(arguments["by"]), "")) for row in rows]
                return {value: values.count(value) for value in dict.fromkeys(values)}
            case "update":
                row = self._one(rows, arguments["id"])
                row["state"] = arguments["state"]
                return row
            case _:
                return self._one(rows, arguments["id"])

    def _one(self, rows: list[Row], identifier: str) -> Row:
        found = next((row for row in rows if row["id"] == identifier), None)
        if found is None:
            raise CallError(f"nothing has the id {identifier}")
        return found


def _fits(row: Row, arguments: dict[str, Any]) -> bool:
    owners = {row.get("owner"), row.get("assignee"), row.get("by")}
    return all(
        (key == "owner" and value in owners) or row.get(key) == value
        for key, value in arguments.items()
        if key in {"state", "service", "owner"}
    )


def _page(rows: list[Row], arguments: dict[str, Any]) -> list[Row]:
    """The rows that the arguments ask for, sorted and cut."""
    order = arguments.get("order_by")
    if order:
        rows = sorted(rows, key=lambda row: (isinstance(row.get(order), str), row.get(order, 0)))
    if arguments.get("descending"):
        rows = rows[::-1]
    start = int(arguments.get("offset", 0))
    rows = rows[start : start + int(arguments.get("limit", 100))]
    wanted = arguments.get("fields")
    return [{key: row[key] for key in wanted if key in row} for row in rows] if wanted else rows
