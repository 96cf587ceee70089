"""What has happened in one turn of the guide's demo: the calls by the tools they mean, and what each of them cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcode.demo.audit import ITEMS, OWN, PEOPLE, STANDARD, over_own, spent_by
from mcode.model.guide.reading import was_denied, was_stopped
from mcode.model.script.view import blocks_of, object_of, objects
from mcode.model.usage import count_tokens

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.model.guide.flow import Flow
    from mcode.model.script import Result

PROGRAM_TOOL = "run_code"

DIRECT = (PEOPLE, ITEMS, STANDARD, OWN)
"""The tools of the audit by direct calls."""

ATTEMPTS = 3
"""How often a call is made before the demo gives it up."""


@dataclass(frozen=True, slots=True)
class Made:
    """One call of this turn and its result; one through `call_tool` under the name that it means."""

    tool: str
    arguments: JsonObject
    result: Result

    @property
    def aim(self) -> object:
        """Equal for two attempts at the same thing: a program's code may differ from one to the next."""
        return self.tool if self.tool == PROGRAM_TOOL else (self.tool, json.dumps(self.arguments))


class Walk:
    """The turn so far. Figures count every attempt, those that failed too."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.view = flow.view
        self.made = [_made(result) for result in flow.results]

    def of(self, tool: str) -> list[Made]:
        """The calls of one tool that went well."""
        return [each for each in self.made if each.tool == tool and not each.result.is_error]

    def data(self, tool: str) -> Any:
        """The first result of a tool as JSON."""
        return json.loads(self.of(tool)[0].result.text)

    @property
    def unmet(self) -> list[Made]:
        """Calls whose last attempt failed."""
        last = {each.aim: each for each in self.made}
        return [each for each in last.values() if each.result.is_error]

    def is_hopeless(self, call: Made) -> bool:
        """True where making a failed call again has no sense: it was refused, or tried often enough."""
        tried = sum(each.aim == call.aim for each in self.made)
        return was_denied(call.result) or was_stopped(call.result) or tried >= ATTEMPTS

    @property
    def has_office(self) -> bool:
        """Whether the office's tools can be reached in this session."""
        if PEOPLE in self.view.tool_names:
            return True
        declared = objects(self.view.body.get("tools"))
        search = next((each for each in declared if each.get("name") == "tool_search"), None)
        return search is not None and "office (" in str(search.get("description"))

    def round_trips(self, *tools: str) -> int:
        """Messages of this turn that called one of these."""
        called = {each.result.id for each in self.made if each.tool in tools}
        return sum(any(block.get("id") in called for block in blocks_of(each)) for each in self.view.messages)

    @property
    def direct_tokens(self) -> int:
        """Of the results of direct calls."""
        return sum(count_tokens(each.result.text) for each in self.made if each.tool in DIRECT)

    @property
    def program_tokens(self) -> int:
        """Of what programs returned."""
        return sum(count_tokens(each.result.text) for each in self.made if each.tool == PROGRAM_TOOL)

    @property
    def code_tokens(self) -> int:
        """Of the programs themselves."""
        return sum(
            count_tokens(str(each.arguments.get("code"))) for each in self.made if each.tool == PROGRAM_TOOL
        )

    @property
    def spent(self) -> dict[str, int]:
        """Approved travel by person, from what direct calls have brought."""
        return spent_by(
            {str(each.arguments["employee_id"]): json.loads(each.result.text) for each in self.of(ITEMS)}
        )

    @property
    def over(self) -> list[str]:
        """The answer to the audit by direct calls."""
        looked_up = {
            str(each.arguments["employee_id"]): json.loads(each.result.text) for each in self.of(OWN)
        }
        return sorted(over_own(self.spent, {person: row["travel"] for person, row in looked_up.items()}))


def _made(result: Result) -> Made:
    if result.tool != "call_tool":
        return Made(result.tool, result.arguments, result)
    return Made(str(result.arguments.get("name")), object_of(result.arguments.get("arguments")), result)
