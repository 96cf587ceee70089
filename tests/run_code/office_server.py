"""An MCP server on pipes with the books of an office: people, their expenses with long fields, and their budgets.

`office_server.py [--log FILE]`. Every figure follows from the numbers alone, so the right answer can be worked out.
"""

from __future__ import annotations

import json
import sys
from typing import Any

PEOPLE = 20
STANDARD = 6_000
QUARTERS = ("q1", "q2", "q3", "q4")
CATEGORIES = ("travel", "office", "software", "meals", "travel")


def people() -> list[dict[str, Any]]:
    return [
        {
            "id": f"e{number:02}",
            "name": f"Person {number:02}",
            "department": ("sales", "research", "support")[number % 3],
            "address": f"{number} Long Street, Floor {number % 7}, Building with a name that goes on "
            + "and on " * 12,
        }
        for number in range(1, PEOPLE + 1)
    ]


def expenses(person: str) -> list[dict[str, Any]]:
    """50 to 100 items of one person in one year."""
    number = int(person.removeprefix("e"))
    count = 50 + number * 37 % 51
    return [
        {
            "id": f"{person}-{at}",
            "category": CATEGORIES[(at + number) % len(CATEGORIES)],
            "amount": 40 + (at * 53 + number * number * 7) % 331,
            "status": "rejected" if (at + number) % 11 == 0 else "approved",
            "description": f"Receipt {at} of {person}: " + "a description that nobody needs to read, " * 3,
            "approval_chain": [f"manager-{step}@office.example" for step in range(4)],
            "metadata": {"scanner": "s-200", "checksum": f"{at * 7919:032x}", "pages": at % 3 + 1},
        }
        for at in range(1, count + 1)
    ]


def travel(person: str) -> int:
    return sum(
        item["amount"]
        for item in expenses(person)
        if item["category"] == "travel" and item["status"] == "approved"
    )


def custom_budget(person: str) -> int | None:
    """Every third person has one."""
    number = int(person.removeprefix("e"))
    return STANDARD + number * 100 if number % 3 == 0 else None


def exceeded() -> list[str]:
    """The right answer: ids of all whose approved travel is over their own budget."""
    return [each["id"] for each in people() if travel(each["id"]) > (custom_budget(each["id"]) or STANDARD)]


def tool(name: str, description: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "inputSchema": schema}


TEXT = {"type": "string"}
TOOLS = [
    tool("list_employees", "List all employees with id, name, department and address."),
    tool("get_expenses", "All expense items of an employee this year.", employee_id=TEXT),
    tool("get_budget", "The standard travel budget of a year."),
    tool(
        "get_custom_budget",
        "An employee's own travel budget, null where the standard one holds.",
        employee_id=TEXT,
    ),
]


def call(name: str, arguments: dict[str, Any]) -> Any:
    match name:
        case "list_employees":
            return people()
        case "get_expenses":
            return expenses(arguments["employee_id"])
        case "get_budget":
            return {"travel": STANDARD}
        case _:
            return {"travel": custom_budget(arguments["employee_id"])}


RULES = "office://rules"


def answer(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            server = {"name": "office", "version": "1"}
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": server,
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "resources/list":
            return {"resources": [{"uri": RULES, "name": "rules", "mimeType": "text/plain"}]}
        case "resources/read":
            return {"contents": [{"uri": RULES, "mimeType": "text/plain", "text": "Travel by train.\n"}]}
        case "tools/call":
            value = call(message["params"]["name"], message["params"].get("arguments", {}))
            return {"content": [{"type": "text", "text": json.dumps(value)}]}
        case _:
            return {}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}
            sys.stdout.write(json.dumps(result) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
