"""The guide's demo: deferral, a search, one audit by direct calls and by one program, and what each of them cost.

It runs on the office server that `mcode --demo` brings along. Every figure is counted in the very run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcode.demo.office import STANDARD_BUDGET, over_budget, people
from mcode.demo.tables import TOOLS
from mcode.model.guide.flow import GO_ON, Flow, plural
from mcode.model.script import Reply, reply, use
from mcode.model.script.view import blocks_of, object_of, objects
from mcode.model.usage import count_definition, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject
    from mcode.model.script import Result

DEPARTMENT = "research"
LIST, ITEMS, STANDARD, OWN, FLAG = (
    f"mcp__office__{name}"
    for name in (
        "list_employees",
        "get_expenses",
        "get_travel_budget",
        "get_custom_budget",
        "flag_for_review",
    )
)
DIRECT = (LIST, ITEMS, STANDARD, OWN)
"""The tools of the audit by direct calls."""

QUERIES = ("list all employees", "expense items of an employee", "travel budget", "flag employees for review")

NOT_HERE = (
    "The demo needs its office server, which only `mcode --demo` brings along, with tool search and programs on. "
    "Leave mcode and start it so."
)

PROGRAM = f"""\
// who of {DEPARTMENT} exceeded the travel budget
const people = (await must(tools.{LIST}({{}}))).filter(p => p.department === "{DEPARTMENT}");
const standard = (await must(tools.{STANDARD}({{}}))).travel;
const over = [];
for (const {{id}} of people) {{
  const items = await must(tools.{ITEMS}({{employee_id: id}}));
  const spent = items.filter(i => i.category === "travel" && i.status === "approved")
    .reduce((sum, i) => sum + i.amount, 0);
  if (spent <= standard) continue;
  const own = (await must(tools.{OWN}({{employee_id: id}}))).travel;
  if (spent > (own ?? standard)) over.push(id);
}}
const asked = await tools.{FLAG}({{employee_ids: over, reason: "travel above the budget"}});
return {{over, flagged: asked.ok}};
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the demo: what to call next, and what to say when it is over."""

    calls: Callable[[_Walk], tuple[str, list[tuple[str, JsonObject]]]]
    """Words and the next calls; no call where the part is over."""


class _Walk:
    """What has happened in this turn, with calls through `call_tool` under the names they mean."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.view = flow.view
        self.results = [_meant(result) for result in flow.results]

    def of(self, tool: str) -> list[tuple[JsonObject, Result]]:
        """The results of one tool in this turn."""
        return [(arguments, result) for name, arguments, result in self.results if name == tool]

    def data(self, tool: str) -> Any:
        """The first result of a tool as JSON."""
        return json.loads(self.of(tool)[0][1].text)

    def has_office(self) -> bool:
        """Whether the office's tools can be reached in this session."""
        if LIST in self.view.tool_names:
            return True
        search = next(
            (t for t in objects(self.view.body.get("tools")) if t.get("name") == "tool_search"), None
        )
        return search is not None and "office (" in str(search.get("description"))

    @property
    def tokens(self) -> int:
        """Of the results of direct calls in this turn."""
        return sum(count_tokens(result.text) for name, _, result in self.results if name in DIRECT)

    def round_trips(self, *tools: str) -> int:
        """Messages of this turn that called one of these."""
        called = {result.id for name, _, result in self.results if name in tools}
        return sum(any(block.get("id") in called for block in blocks_of(each)) for each in self.view.messages)


def deferral_words(walk: _Walk) -> str:
    """What this request carries, and what it leaves out."""
    declared = objects(walk.view.body.get("tools"))
    names = set(walk.view.tool_names)
    left_out = [each for each in TOOLS if f"mcp__office__{each['name']}" not in names]
    carried, spared = sum(map(count_definition, declared)), sum(map(_tokens_of, left_out))
    if not left_out:
        return f"All {len(TOOLS)} tools of the office server are in this request, since a setting has it so."
    share = 100 * spared / (carried + spared)
    return (
        f"**Deferral.** This request carries {plural(len(declared), 'definition')} of tools, {carried:,} tokens. The "
        f"office server offers {len(left_out)} more, and none of them is in it: that is {spared:,} tokens less **in "
        f"each request**, {share:.0f} % of what it would be with all loaded."
    )


def _search(walk: _Walk) -> tuple[str, list[tuple[str, JsonObject]]]:
    found = walk.of("tool_search")
    if LIST in walk.view.tool_names:
        return "", []
    if not found:
        words = f"{deferral_words(walk)}\n\n**Search.** I look for what an audit of travel expenses needs."
        return words, [("tool_search", {"queries": list(QUERIES), "k": 5})]
    text = found[0][1].text
    loaded = re.findall(r'"name":"(mcp__office__\w+)"', text)
    missing = [
        name
        for name in (LIST, ITEMS, STANDARD, OWN, FLAG)
        if not any(f'"name":"{name}"' in each.text for _, each in found)
    ]
    if missing and len(found) == 1:
        return "I load by name what is missing.", [
            ("tool_search", {"queries": [f"select:{','.join(missing)}"]})
        ]
    cost = sum(count_tokens(result.text) for _, result in found)
    names = _listed([name.removeprefix("mcp__office__") for name in loaded[:5]])
    return f"It found {names} among {len(TOOLS)}: {cost:,} tokens came in for it, once.", []


def _direct(walk: _Walk) -> tuple[str, list[tuple[str, JsonObject]]]:
    if not walk.of(LIST):
        words = (
            f"**The audit by direct calls.** Who of {DEPARTMENT} spent too much on travel? First the people."
        )
        return words, [(LIST, {}), (STANDARD, {})]
    asked = [each["id"] for each in walk.data(LIST) if each["department"] == DEPARTMENT]
    if not walk.of(ITEMS):
        return f"Now the items of {len(asked)} people.", [(ITEMS, {"employee_id": each}) for each in asked]
    spent = _spent(walk)
    over = [each for each, amount in spent.items() if amount > STANDARD_BUDGET]
    if over and not walk.of(OWN):
        return "Some may have a budget of their own.", [(OWN, {"employee_id": each}) for each in over]
    trips = plural(walk.round_trips(*DIRECT), "round trip")
    return (
        f"By direct calls: {_listed(_answer(walk))}. It took {trips} after the search, and **{walk.tokens:,} "
        "tokens** of results came into the context; each later request carries them again."
    ), []


def _program(walk: _Walk) -> tuple[str, list[tuple[str, JsonObject]]]:
    ran = walk.of("run_code")
    if not ran:
        words = (
            "**The same audit by one program.** It reads everything outside the context, and at its end it makes one "
            "call that changes something: mcode asks you about that one, and the program waits."
        )
        return words, [("run_code", {"code": PROGRAM})]
    result = ran[0][1]
    found = _returned(result)
    flagged = (
        "the people concerned were flagged"
        if found.get("flagged")
        else "flagging them was not allowed, and nothing was changed"
    )
    return (
        f"By one program: {_listed(found.get('over', []))}; {flagged}. It took "
        f"{plural(walk.round_trips('run_code'), 'round trip')}, and **{count_tokens(result.text):,} tokens** "
        "came into the context."
    ), []


def _balance(walk: _Walk) -> str:
    found = _returned(walk.of("run_code")[0][1])
    direct, program = walk.tokens, count_tokens(walk.of("run_code")[0][1].text) + count_tokens(PROGRAM)
    right = [
        each["id"] for each in people() if each["department"] == DEPARTMENT and each["id"] in over_budget()
    ]
    same = "Both answers are right" if _answer(walk) == found.get("over") == right else "The answers differ"
    return (
        "**The balance of this run**, counted from what was sent:\n\n"
        "| the audit | round trips | tokens into the context |\n| --- | ---: | ---: |\n"
        f"| by direct calls | {walk.round_trips(*DIRECT)} | {direct:,} |\n"
        f"| by one program, its code included | {walk.round_trips('run_code')} | {program:,} |\n\n"
        f"{same}; the program spared {100 * (1 - program / max(1, direct)):.1f} % of the tokens. `/context session` "
        "shows every request of this session, and what deferral saved; `mcode report` does so afterwards."
    )


PARTS = (Part(_search), Part(_direct), Part(_program))


def play(flow: Flow, _: re.Match[str]) -> Reply:
    """All parts in one turn."""
    return _run(flow, PARTS, _balance)


def show_search(flow: Flow, _: re.Match[str]) -> Reply:
    """Deferral and the search alone."""
    return _run(
        flow,
        PARTS[:1],
        lambda walk: f"A model calls them from here on. `audit by program` puts them to use.{GO_ON}",
    )


def show_direct(flow: Flow, _: re.Match[str]) -> Reply:
    """The audit by direct calls."""
    return _run(flow, PARTS[:2], lambda walk: "`audit by program` does the same by a program.")


def show_program(flow: Flow, _: re.Match[str]) -> Reply:
    """The audit by one program."""
    return _run(
        flow,
        (PARTS[0], PARTS[2]),
        lambda walk: "`/programs` shows it line by line, with every call that it made.",
    )


def _run(flow: Flow, parts: tuple[Part, ...], end: Callable[[_Walk], str]) -> Reply:
    walk = _Walk(flow)
    if not walk.has_office() or "run_code" not in flow.view.tool_names:
        return flow.say(NOT_HERE)
    failed = [result for _, _, result in walk.results if result.is_error]
    if failed:
        return flow.say(flow.trouble("The demo ends here."))
    said = ""
    for part in parts:
        words, calls = part.calls(walk)
        said = "\n\n".join(filter(None, (said if not calls else _fresh(walk, said), words)))
        if calls:
            return reply(said, *(_use(flow, tool, arguments) for tool, arguments in calls))
    return flow.say("\n\n".join(filter(None, (_fresh(walk, said), end(walk)))))


def _fresh(walk: _Walk, said: str) -> str:
    """Of the words of parts that are over, those that were not said in an earlier answer of this turn."""
    before = "\n\n".join(walk.view.texts_of_turn())
    return "\n\n".join(words for words in said.split("\n\n") if words not in before)


def _use(flow: Flow, tool: str, arguments: JsonObject) -> JsonObject:
    if tool in flow.view.tool_names:
        return use(tool, arguments)
    return use("call_tool", {"name": tool, "arguments": arguments})


def _spent(walk: _Walk) -> dict[str, int]:
    return {
        str(arguments["employee_id"]): sum(
            item["amount"]
            for item in json.loads(result.text)
            if item["category"] == "travel" and item["status"] == "approved"
        )
        for arguments, result in walk.of(ITEMS)
    }


def _answer(walk: _Walk) -> list[str]:
    spent = _spent(walk)
    own = {str(given["employee_id"]): json.loads(result.text)["travel"] for given, result in walk.of(OWN)}
    return [each for each, limit in own.items() if spent[each] > (limit or STANDARD_BUDGET)]


def _returned(result: Result) -> dict[str, Any]:
    found = re.search(r"\{.*\}", result.text)
    return json.loads(found[0]) if found else {}


def _tokens_of(tool: JsonObject) -> int:
    name = f"mcp__office__{tool['name']}"
    return count_definition(
        {"name": name, "description": tool["description"], "input_schema": tool["inputSchema"]}
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nobody"


def _meant(result: Result) -> tuple[str, JsonObject, Result]:
    if result.tool != "call_tool":
        return result.tool, result.arguments, result
    return str(result.arguments.get("name")), object_of(result.arguments.get("arguments")), result
