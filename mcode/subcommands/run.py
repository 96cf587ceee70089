"""`mcode run NAME [--arg key=value]`: run a program that the project keeps, without a model, on the same road."""

from __future__ import annotations

import asyncio
import signal
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import Status
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.logs import open_log
from mcode.run_code.kept_programs import find_program, kept_programs, programs_directory, read_arguments
from mcode.streams import write
from mcode.subcommands.parser import SubcommandParser
from mcode.text import Kind, clean
from mcode.wiring.options import Options
from mcode.wiring.workbench import prepare

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from mcode.call import Outcome
    from mcode.events import Event

INTERRUPTED = 130


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns the exit code: 0 where the program ended well. Raises McodeError."""
    parser = _parser()
    parser.check_word(arguments)
    given = parser.parse_args(arguments)
    return asyncio.run(_supervised(given))


def _parser() -> SubcommandParser:
    parser = SubcommandParser(
        "mcode run",
        undone="run",
        unrecognized="What a program is given stands as --arg KEY=VALUE.",
        description=__doc__,
        epilog="Nobody is asked: a call that would need a question is denied. Rules, hooks and modes hold as always.",
    )
    add = parser.add_argument
    add("name", metavar="NAME", help="the program in .mcode/programs/NAME.js")
    add(
        "--arg",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="args.KEY in the program; JSON or text",
    )
    add("--json", action="store_true", help="the outcome as one JSON object")
    add("--permission-mode", metavar="MODE", help="default, acceptEdits, plan, dontAsk or bypassPermissions")
    add(
        "--allowedTools",
        "--allowed-tools",
        dest="allowed",
        nargs="+",
        default=[],
        metavar="RULE",
        help="allow rules",
    )
    add(
        "--disallowedTools",
        "--disallowed-tools",
        dest="disallowed",
        nargs="+",
        default=[],
        metavar="RULE",
        help="deny rules",
    )
    add("--settings", metavar="FILE", help="a settings file, or JSON text, for this run")
    return parser


async def _supervised(given: argparse.Namespace) -> int:
    """Run to the end; SIGINT and SIGTERM cancel the work, which then cleans up."""
    task = asyncio.ensure_future(_run(given))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return INTERRUPTED


async def _run(given: argparse.Namespace) -> int:
    options = Options(
        print=True,
        demo=True,  # no model is asked, so none has to be there
        mode=given.permission_mode,
        allowed=tuple(given.allowed),
        disallowed=tuple(given.disallowed),
        settings=given.settings,
    )
    bench = await prepare(options, interactive=False)
    directory = programs_directory(bench.start)
    program = find_program(directory, given.name)
    if program is None:
        known = [each.name for each in kept_programs(directory)]
        near = get_close_matches(str(given.name), known, 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        kept = f"{hint}Kept there: {', '.join(known)}."
        has = kept if known else "None is kept there; /programs save NAME keeps one."
        raise UsageError(f"There is no program {given.name} in {directory}. Nothing was run. {has}")
    code = program.with_arguments(read_arguments(given.arg))
    with open_log(bench.places.logs, bench.masker):
        agent = await bench.open_agent("startup")
        try:
            agent.events.subscribe(_remark)
            await agent.start("startup")
            outcome = await agent.programs.run_kept(program.name, code, program.needs)
        finally:
            await agent.close("other")
            await bench.endpoint.client.close()
    _show(outcome, bench.masker.mask, as_json=given.json)
    return 0 if outcome.status is Status.OK else 1


def _remark(event: Event) -> None:
    if isinstance(event, Notice) and event.severity != "info":
        write(sys.stderr, f"mcode: {clean(event.text, Kind.LINE)}\n")


def _show(outcome: Outcome, mask: Callable[[str], str], *, as_json: bool) -> None:
    if as_json:
        body = {"status": str(outcome.status), "text": outcome.text, "program": outcome.data}
        write(sys.stdout, mask(jsontext.dump(body)) + "\n")
        return
    head, _, rest = outcome.text.partition("\n\n")
    write(sys.stderr, f"mcode: {clean(head, Kind.LINE)}\n")
    text = mask(rest)
    if text:
        write(sys.stdout, (clean(text, Kind.BLOCK) if sys.stdout.isatty() else text).rstrip("\n") + "\n")
