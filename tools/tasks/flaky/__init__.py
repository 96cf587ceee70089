"""A service that fails every fourth time: whoever asks again gets everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.demo.serving import Service, tool
from tools.tasks.filler import filler_tools
from tools.tasks.task import ANSWER, Seen, Task, save

if TYPE_CHECKING:
    from tools.tasks.task import Outcome

READ = "mcp__meters__read_meter"
METERS = [f"m-{number}" for number in range(1, 13)]
TOOL = tool(
    "read_meter",
    "Reads a meter. The line is bad: a call may fail, and works when it is made again.",
    ["meter"],
    meter={"type": "string", "description": "The meter, from `m-1` to `m-12`."},
)


def value(meter: str) -> int:
    return int(meter[2:]) * 613 % 400


def call(name: str, arguments: dict[str, Any]) -> Any:
    del name
    return {"value": value(arguments["meter"])}


def check(outcome: Outcome) -> str:
    right = {meter: value(meter) for meter in METERS}
    return "" if outcome.answer() == right else f"{outcome.answer()}, not {right}"


def again(seen: Seen) -> Any:
    return [(READ, {"meter": meter}) for meter in METERS if meter not in seen.each(READ, "meter")]


def finish(seen: Seen) -> Any:
    return [save({meter: seen.each(READ, "meter")[meter]["value"] for meter in METERS})]


TASK = Task(
    question=f"Read the meters m-1 to m-12 and write an object of meter and value to {ANSWER}.",
    servers={
        "meters": lambda: Service(
            "meters", "Meters.", [TOOL, *filler_tools(40, "meters")], call, fail_every=4
        )
    },
    queries=("read a meter",),
    needs=(READ,),
    steps=(again, again, finish),
    program=f"""\
// every meter, asked again where the line is bad
const found = {{}};
for (let n = 1; n <= 12; n++) {{
  let r;
  for (let attempt = 0; attempt < 3 && !r?.ok; attempt++) r = await tools.{READ}({{meter: `m-${{n}}`}});
  found[`m-${{n}}`] = (await must(r)).value;
}}
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(found)}}));
return found;
""",
    check=check,
)
