"""The guide's demo: deferral, a search, one audit by direct calls and by one program, and what each of them cost.

It runs on the office server that `mcode --demo` brings along. Every figure is counted in the very run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcode.demo.audit import AGAIN, FLAG, ITEMS, ONCE, OWN, PEOPLE, STANDARD, above_standard, program
from mcode.demo.office import over_budget, people
from mcode.demo.tables import TOOLS
from mcode.model.guide.flow import GO_ON, Flow, plural
from mcode.model.guide.walk import DIRECT, PROGRAM_TOOL, Walk
from mcode.model.script import Reply, reply, use
from mcode.model.script.view import objects
from mcode.model.usage import count_definition, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.jsontext import JsonObject
    from mcode.model.script import Result

DEPARTMENT = "research"
QUERIES = ("list all employees", "expense items of an employee", "travel budget", "flag employees for review")

NOT_HERE = (
    "The demo needs its office server, which only `mcode --demo` brings along, with tool search and programs on. "
    "Leave mcode and start it so."
)

FAILED = (
    "{failed} failed, and this is what a model is told: `{said}`. A failure is a result like any other, so I ask "
    "again{how}."
)


def _program(call: str) -> str:
    end = f"""\
const asked = await tools.{FLAG}({{employee_ids: over, reason: "travel above the budget"}});
return {{over, flagged: asked.ok}};"""
    return program(f"who of {DEPARTMENT} exceeded the travel budget", end, department=DEPARTMENT, call=call)


PROGRAM, PATIENT_PROGRAM = _program(ONCE), _program(AGAIN)
"""The audit as a program, and the same for a service that fails now and then."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the demo: what to call next, and what to say when it is over."""

    calls: Callable[[Walk], tuple[str, list[tuple[str, JsonObject]]]]
    """Words and the next calls; no call where the part is over."""


def deferral_words(walk: Walk) -> str:
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
        f"each request**, {share:.0f} % of what it would be with all loaded. (Some rarely needed tools of mcode "
        "itself wait there too; the ledger at the end counts those as well.)"
    )


def _search(walk: Walk) -> tuple[str, list[tuple[str, JsonObject]]]:
    found = walk.of("tool_search")
    if PEOPLE in walk.view.tool_names:
        return "", []
    if not found:
        words = f"{deferral_words(walk)}\n\n**Search.** I look for what an audit of travel expenses needs."
        return words, [("tool_search", {"queries": list(QUERIES), "k": 5})]
    loaded = re.findall(r'"name":"(mcp__office__\w+)"', found[0].result.text)
    missing = [
        name
        for name in (PEOPLE, ITEMS, STANDARD, OWN, FLAG)
        if not any(f'"name":"{name}"' in each.result.text for each in found)
    ]
    if missing and len(found) == 1:
        return "I load by name what is missing.", [
            ("tool_search", {"queries": [f"select:{','.join(missing)}"]})
        ]
    cost = sum(count_tokens(each.result.text) for each in found)
    names = _listed([name.removeprefix("mcp__office__") for name in loaded[:5]])
    return f"It found {names} among {len(TOOLS)}: {cost:,} tokens came in for it, once.", []


def _direct(walk: Walk) -> tuple[str, list[tuple[str, JsonObject]]]:
    if not walk.of(PEOPLE):
        words = (
            f"**The audit by direct calls.** Who of {DEPARTMENT} spent too much on travel? First the people."
        )
        return words, [(PEOPLE, {}), (STANDARD, {})]
    asked = [each["id"] for each in walk.data(PEOPLE) if each["department"] == DEPARTMENT]
    if not walk.of(ITEMS):
        return f"Now the items of {len(asked)} people.", [(ITEMS, {"employee_id": each}) for each in asked]
    over = above_standard(walk.spent)
    if over and not walk.of(OWN):
        return "Some may have a budget of their own.", [(OWN, {"employee_id": each}) for each in over]
    trips = plural(walk.round_trips(*DIRECT), "round trip")
    return (
        f"By direct calls: {_listed(walk.over)}. It took {trips} after the search, and **{walk.direct_tokens:,} "
        "tokens** of results came into the context; each later request carries them again."
    ), []


def _by_program(walk: Walk) -> tuple[str, list[tuple[str, JsonObject]]]:
    ran = walk.of(PROGRAM_TOOL)
    if not ran:
        words = (
            "**The same audit by one program.** It reads everything outside the context, and at its end it makes one "
            "call that changes something: mcode asks you about that one, and the program waits."
        )
        return words, [(PROGRAM_TOOL, {"code": PROGRAM})]
    found = _returned(ran[0].result)
    flagged = (
        "the people concerned were flagged"
        if found.get("flagged")
        else "flagging them was not allowed, and nothing was changed"
    )
    return (
        f"By one program: {_listed(found.get('over', []))}; {flagged}. It took "
        f"{plural(walk.round_trips(PROGRAM_TOOL), 'round trip')}, and **{walk.program_tokens:,} tokens** "
        "came into the context."
    ), []


def _balance(walk: Walk) -> str:
    found = _returned(walk.of(PROGRAM_TOOL)[0].result)
    direct, by_program = walk.direct_tokens, walk.program_tokens + walk.code_tokens
    right = [
        each["id"] for each in people() if each["department"] == DEPARTMENT and each["id"] in over_budget()
    ]
    same = "Both answers are right" if walk.over == found.get("over") == right else "The answers differ"
    return (
        "**The balance of this run**, counted from what was sent:\n\n"
        "| the audit | round trips | tokens into the context |\n| --- | ---: | ---: |\n"
        f"| by direct calls | {walk.round_trips(*DIRECT)} | {direct:,} |\n"
        f"| by one program, its code included | {walk.round_trips(PROGRAM_TOOL)} | {by_program:,} |\n\n"
        f"{same}; the program spared {100 * (1 - by_program / max(1, direct)):.1f} % of the tokens. `/context session` "
        "shows every request of this session, and what deferral saved; `mcode report` does so afterwards."
    )


PARTS = (Part(_search), Part(_direct), Part(_by_program))


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


def _run(flow: Flow, parts: tuple[Part, ...], end: Callable[[Walk], str]) -> Reply:
    walk = Walk(flow)
    if not walk.has_office or PROGRAM_TOOL not in flow.view.tool_names:
        return flow.say(NOT_HERE)
    hopeless = next(filter(walk.is_hopeless, walk.unmet), None)
    if hopeless is not None:
        return flow.say(flow.trouble("The demo ends here.", hopeless.result))
    if walk.unmet:
        return _once_more(walk)
    said = ""
    for part in parts:
        words, calls = part.calls(walk)
        said = "\n\n".join(filter(None, (said if not calls else _fresh(walk, said), words)))
        if calls:
            return reply(said, *(_use(flow, tool, arguments) for tool, arguments in calls))
    return flow.say("\n\n".join(filter(None, (_fresh(walk, said), end(walk)))))


def _once_more(walk: Walk) -> Reply:
    """What failed, made again; a program in a form that asks again itself."""
    failed = walk.unmet
    by_program = any(each.tool == PROGRAM_TOOL for each in failed)
    words = FAILED.format(
        failed="The program" if by_program else plural(len(failed), "call"),
        said=failed[0].result.text.strip().splitlines()[0][:150].replace("`", "'"),
        how=", with a program that does so by itself: that costs no round trip" if by_program else "",
    )
    calls = [
        (each.tool, {"code": PATIENT_PROGRAM} if each.tool == PROGRAM_TOOL else each.arguments)
        for each in failed
    ]
    return reply(words, *(_use(walk.flow, tool, arguments) for tool, arguments in calls))


def _fresh(walk: Walk, said: str) -> str:
    """Of the words of parts that are over, those that were not said in an earlier answer of this turn."""
    before = "\n\n".join(walk.view.texts_of_turn())
    return "\n\n".join(words for words in said.split("\n\n") if words not in before)


def _use(flow: Flow, tool: str, arguments: JsonObject) -> JsonObject:
    if tool in flow.view.tool_names:
        return use(tool, arguments)
    return use("call_tool", {"name": tool, "arguments": arguments})


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
