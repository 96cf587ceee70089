"""Ten megabytes of log: which services fail most, and for how long?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tools.tasks.task import ANSWER, Seen, Task, save

if TYPE_CHECKING:
    from pathlib import Path

    from tools.tasks.task import Outcome

SERVICES = ("web", "billing", "search", "mail", "auth")
LINES = 100_000
ERROR = re.compile(r"ERROR service=(\w+) took=(\d+)")


def line(number: int) -> str:
    service = SERVICES[number * 7 % 5 if number % 3 else number % 4]
    level = "ERROR" if number % 401 == 0 else "INFO"
    time = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}"
    padding = "nothing to see here, all is well"
    return f"{time} {level} service={service} took={number * 13 % 997} {padding} req-{number:06}"


def prepare(project: Path) -> None:
    (project / "service.log").write_text("".join(f"{line(number)}\n" for number in range(1, LINES + 1)))


def totals(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for service, took in ERROR.findall(text):
        found[service] = found.get(service, 0) + int(took)
    return found


def check(outcome: Outcome) -> str:
    right = totals("\n".join(line(number) for number in range(401, LINES + 1, 401)))
    answer = outcome.answer()
    return "" if answer == right else f"{answer}, not {right}"


def conclude(seen: Seen) -> Any:
    return [save(totals(seen.of("Grep")[0][1]))]


SEARCH: dict[str, Any] = {
    "pattern": "ERROR",
    "path": "service.log",
    "output_mode": "content",
    "head_limit": 1000,
}
TASK = Task(
    question=(
        "service.log has lines with a level, a service and a duration (took=). Sum up the durations of the ERROR lines "
        f"of each service and write them as a JSON object of service and sum to {ANSWER}."
    ),
    prepare=prepare,
    steps=(lambda seen: [("Grep", SEARCH)], conclude),
    program=f"""\
// error time of each service
const hits = await must(tools.Grep({{
  pattern: "ERROR", path: "service.log", output_mode: "content", head_limit: 1000}}));
const sums = {{}};
for (const {{text}} of hits) {{
  const found = /ERROR service=(\\w+) took=(\\d+)/.exec(text);
  if (found) sums[found[1]] = (sums[found[1]] ?? 0) + Number(found[2]);
}}
await must(tools.Write({{file_path: "{ANSWER}", content: JSON.stringify(sums)}}));
return sums;
""",
    check=check,
)
