"""`mcode tools list|show|search|why|test`: the tools of this folder, from the shell and without a model.

The tools of servers are those that the servers offered when they were connected last; none is started.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.commands.registry import CommandResult
from mcode.commands.tools_test import tested
from mcode.streams import write
from mcode.subcommands.parser import SubcommandParser
from mcode.text import Kind, clean
from mcode.wiring.looking import looking

if TYPE_CHECKING:
    import argparse

    from mcode.commands.host import CommandContext

WORDS = ("list", "show", "search", "why", "test")


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns the exit code. Raises UsageError."""
    parser = _parser()
    parser.check_word(arguments, WORDS)
    given = parser.parse_args(arguments)
    result = asyncio.run(_answer(given))
    text = jsontext.dump(result.data) if given.json else result.text
    wrong = result.failed and not given.json
    stream = sys.stderr if wrong else sys.stdout
    write(stream, f"{'mcode: ' if wrong else ''}{clean(text, Kind.BLOCK) if stream.isatty() else text}\n")
    return 1 if result.failed else 0


def _parser() -> SubcommandParser:
    parser = SubcommandParser("mcode tools", description=__doc__)
    shared = SubcommandParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="JSON instead of a table")
    shared.add_argument("--settings", metavar="FILE", help="a settings file, or JSON text, for this run")
    words = parser.add_subparsers(dest="what", required=True, metavar="|".join(WORDS))
    words.add_parser(
        "test", parents=[shared], help="which tools the search cannot find, and hints that mend it"
    )
    for word, rest, text in (
        ("list", "*", "all tools, or those that match WORDS: state, cost, permission"),
        ("show", 1, "one tool's definition, as the model gets it"),
        ("search", "+", "the model's own search; loads nothing"),
        ("why", 1, "what put a tool where it is"),
    ):
        words.add_parser(word, parents=[shared], help=text).add_argument(
            "words", nargs=rest, metavar="NAME" if rest == 1 else "WORDS"
        )
    return parser


async def _answer(given: argparse.Namespace) -> CommandResult:
    async with looking(given.settings) as context:
        if given.what == "test":
            return await tested(context)
        if given.what == "show":
            return _show(context, given.words[0])
        action = "" if given.what == "list" else f"{given.what} "
        words = " ".join(_quoted(word) for word in given.words)
        return await context.registry.run(f"/tools {action}{words}", context)


def _show(context: CommandContext, name: str) -> CommandResult:
    tool = context.agent.catalog.find(name)
    if tool is None:
        near = context.agent.catalog.nearest(name)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return CommandResult(
            f"There is no tool called {name!r}.{hint}", {"error": "unknown tool"}, failed=True
        )
    shelf = context.agent.builder.shelf
    definition = shelf.definitions.of(tool)
    lines = [
        f"{tool.name} ({tool.source}, {shelf.definitions.tokens(tool)} tokens, {shelf.placed(tool).placement})",
        str(definition["description"]),
        jsontext.dump(definition["input_schema"]),
    ]
    return CommandResult("\n\n".join(lines), definition)


def _quoted(word: str) -> str:
    """A word as slash commands read it: in quotes where a blank or a quote stands in it."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' if not word.isalnum() else word
