"""The six states of the screen, each reached by a real run with a scripted model, and how they are put on paper."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcode.events import Ledger, RequestStarted, ToolFinished
from mcode.ui.look import Look
from tests.catalog.stand_ins import Servers, ServerTool, join
from tests.stage import turns, use
from tests.ui.tui.screen import ARM, IDLE, screen

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path

    from mcode.events import Event
    from mcode.ui.tui.app import McodeApp
    from tests.stage import Stage
    from tests.ui.tui.screen import Driven

CLI = """\
from parser import parse_line


def report(error):
    print(error)


def run_line(line):
    parse_line(line)
    return 0
"""

CODE = """\
const hits = (await tools.Grep({pattern: 'parse_line', output_mode: 'count'})).value;
for (const file of hits) await tools.Read({file_path: file.path});
const fields = await tools.Grep({pattern: '('});
await tools.Bash({command: 'wc -l src/cli.py'});
const ran = await tools.Bash({command: 'pytest -q tests/test_repl.py'});
return {fields: fields.ok, ran: ran.ok};
"""

ASKED = "find every caller of parse_line and tell me which ones ignore the error value"
SAID = "I'll scan the callers in one program rather than reading the files one by one."


PLACES = (
    ("ANTHROPIC_API_KEY in the environment", "not set"),
    ("ANTHROPIC_AUTH_TOKEN in the environment", "not set"),
    ("apiKeyHelper in ~/.mcode/settings.json", "not set"),
    ("the system keyring", "no entry for mcode"),
)
"""As `config.key` words them."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One state: what the model does, and what the user does until the picture is taken."""

    act: Callable[[Driven], Awaitable[None]]
    script: dict[str, Any] | None = None
    keyless: bool = False


def files(project: Path) -> None:
    """A project small enough to be understood at a glance."""
    (project / "src").mkdir()
    (project / "src" / "cli.py").write_text(CLI)
    (project / "src" / "repl.py").write_text("from parser import parse_line\n\n" * 44)
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/fix/imports\n")


async def ready(on: Driven) -> None:
    await on.until(lambda: "Try:" in on.shown)


async def working(on: Driven) -> None:
    await on.type(f"{ASKED}\n")
    await on.type("then also update the changelog\n")
    await on.type("and please keep the public signature as it is, because")
    await on.until(lambda: bool(on.app.deciding.waiting))


async def approval(on: Driven) -> None:
    await on.type("return the error to the caller\n")
    await on.until(lambda: on.focused == "ApprovalPanel" and "Enter confirm" in on.shown)


async def parked(on: Driven) -> None:
    await on.type(f"{ASKED}\n")
    await on.type("yes, and while you are at it also look at the 1.x branch, because")
    await on.until(lambda: bool(on.app.deciding.waiting))
    await on.until(lambda: "draft kept" in on.shown or "approvals wait" in on.shown)


async def tools(on: Driven) -> None:
    servers = Servers()
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    lists = "List what the tracker holds. " * 12
    trackers = [
        ServerTool("jira", "create_issue", "Create an issue in a project.", schema),
        ServerTool("jira", "create_subtask", "Create a subtask of an issue.", schema),
        ServerTool("jira", "delete_project", "Delete a project for good.", schema),
        *(ServerTool("jira", f"report_{number}", f"Report {number}. {lists * 4}") for number in range(40)),
    ]
    join(on.stage, trackers, servers)
    hosts = [
        ServerTool("github", "search_code", "Search code in repositories.", schema),
        ServerTool("github", "create_issue", "Create an issue in a repository.", schema),
    ]
    join(on.stage, hosts, servers)
    await on.type("/tools\n")
    await on.until(lambda: "RESIDENT" in on.shown)
    await on.press("/")
    await on.type("jira create issue\n")
    await on.until(lambda: "Found among" in on.shown)


async def first_run(on: Driven) -> None:
    await on.until(lambda: "No API key" in on.shown)


SCENES = {
    "ready": Scene(ready),
    "working": Scene(working, turns([SAID, use("run_code", "toolu_p", code=CODE)], "Done.")),
    "approval": Scene(
        approval,
        turns(
            use("Read", "toolu_r", file_path="src/cli.py"),
            [
                "The helper swallows the error, so I'll return it to the caller instead.",
                use(
                    "Edit",
                    "toolu_e",
                    file_path="src/cli.py",
                    old_string="    parse_line(line)\n",
                    new_string="    result = parse_line(line)\n    if result.error:\n"
                    "        report(result.error)\n        return 1\n",
                ),
            ],
            "Done.",
        ),
    ),
    "parked": Scene(parked, turns([SAID, use("run_code", "toolu_p", code=CODE)], "Done.")),
    "tools": Scene(tools),
    "first-run": Scene(first_run, keyless=True),
}


def _steady(app: McodeApp, stage: Stage) -> None:
    """The same figures in every run: the clock stands still, and requests cost what they cost in the drawing."""
    del stage
    app.transcript.document.clock = lambda: 4.2
    receive = app.pump.receive

    def steady(event: Event) -> None:
        match event:
            case ToolFinished(outcome=outcome):
                event = ToolFinished(replace(outcome, duration=0.1))
            case Ledger():
                event = Ledger(2_500, 1_500, 20_500, 37_000, 200_000, 61_500, 400, 54_000, 900, 0.42)
            case RequestStarted():
                pass
            case _:
                pass
        receive(event)

    app.pump.receive = steady


@asynccontextmanager
async def played(
    directory: Path,
    name: str,
    *,
    size: tuple[int, int] = (100, 30),
    theme: str = "ansi-dark",
    unicode: bool = True,
    color: bool = True,
) -> AsyncGenerator[Driven]:
    """The screen in one of the states."""
    scene = SCENES[name]
    project = directory / "home" / "src" / "parser"
    project.mkdir(parents=True)
    files(project)
    around: dict[str, Any] = {"version": "0.1"}
    if scene.keyless:
        around |= {"credential": "none", "endpoint": "offline guide", "looked_at": PLACES}
    async with screen(
        directory,
        scene.script,
        size=size,
        theme=theme,
        manners=Look(idle=IDLE, arm=ARM, unicode=unicode, color=color),
        project="home/src/parser",
        around=around,
        before=_steady,
    ) as on:
        await scene.act(on)
        yield on


def picture(on: Driven, *, styled: bool = True) -> str:
    """The rows of the screen, with the style of each piece in front of it; figures that differ by run are zero."""
    lines: list[str] = []
    for strip in on.app.screen._compositor.render_strips():
        pieces: list[str] = []
        for segment in strip.simplify():
            style = "" if segment.style is None or not styled else str(segment.style)
            pieces.append(segment.text if style in {"", "none"} else f"<{style}>{segment.text}</>")
        lines.append("".join(pieces).rstrip())
    text = re.sub(r"mcode \d+\.\d[^ ]*", "mcode 0.1", "\n".join(lines)) + "\n"
    return re.sub(r"\d", "0", text) if on.app.screen is not on.app.main or "Ready." in text else text
