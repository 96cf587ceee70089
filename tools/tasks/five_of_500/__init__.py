"""Five tools of 500 have the answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mcode.demo.serving import Service, tool
from tools.tasks.filler import filler_tools
from tools.tasks.task import ANSWER, NOTHING, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

PLACES = ("harbour", "airport", "station", "market", "museum")
WHAT = {
    "harbour": "ships at berth in the harbour right now",
    "airport": "planes at the gates of the airport right now",
    "station": "trains at the platforms of the railway station right now",
    "market": "stalls that are open on the market square right now",
    "museum": "visitors inside the museum right now",
}


def server(number: int) -> Service:
    place = PLACES[number % 5] if number < 5 else ""
    tools = filler_tools(49 if place else 50, f"unit{number}")
    if place:
        tools.append(tool(f"get_{place}_state", f"Says how many {WHAT[place]}."))
    return Service(f"unit{number}", f"Unit {number} of the city.", tools, partial(call, number))


def call(number: int, name: str, arguments: dict[str, Any]) -> Any:
    del name, arguments
    return {"count": 11 + number * 7}


NEEDS = [f"mcp__unit{number}__get_{place}_state" for number, place in enumerate(PLACES)]


def check(outcome: Outcome) -> str:
    right = {place: 11 + number * 7 for number, place in enumerate(PLACES)}
    return "" if outcome.answer() == right else f"{outcome.answer()}, not {right}"


def conclude(seen: Seen) -> Any:
    return [save({place: seen.data(name)["count"] for place, name in zip(PLACES, NEEDS, strict=True)})]


TASK = Task(
    question=(
        "How many ships are at berth in the harbour, planes at the airport's gates, trains at the station's "
        "platforms, stalls open on the market square, and visitors inside the museum? "
        f"Write {{harbour, airport, station, market, museum}} with the numbers to {ANSWER}."
    ),
    servers={f"unit{number}": partial(server, number) for number in range(10)},
    queries=[WHAT[place] for place in PLACES],
    needs=NEEDS,
    steps=(lambda seen: [(name, NOTHING) for name in NEEDS], conclude),
    program="// five figures\nconst found = {};\n"
    + "".join(
        f"found.{place} = (await must(tools.{name}({{}}))).count;\n"
        for place, name in zip(PLACES, NEEDS, strict=True)
    )
    + f'await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(found)}}));\nreturn found;\n',
    check=check,
)
