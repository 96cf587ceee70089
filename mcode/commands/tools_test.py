"""`mcode tools test`: the search tried on the user's own tools, with what to put into the file of hints."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.self_test import THIN, run_self_test
from mcode.commands.registry import CommandResult
from mcode.commands.tables import plural, table

if TYPE_CHECKING:
    from mcode.catalog.self_test import SelfTest
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject

LISTED = 20
"""Rows of a part of the answer; `--json` has all."""


async def tested(context: CommandContext) -> CommandResult:
    """Ask for every tool of every server; nothing is loaded and nothing sent."""
    shelf = context.agent.builder.shelf
    tools = [tool for tool in context.agent.catalog if tool.source != "core" and shelf.visible(tool.name)]
    entries = [shelf.definitions.entry(tool) for tool in tools]
    if not entries:
        text = (
            "There is no tool of a server to test. Tools are known from the moment a server was connected for the "
            "first time: `mcode mcp list` shows which are configured."
        )
        return CommandResult(text, {"tools": 0})
    found = await asyncio.to_thread(run_self_test, entries)
    return CommandResult(_text(found), _as_object(found))


def _text(found: SelfTest) -> str:
    asked = sum(len(tool.asked) for tool in found.tools)
    opening = (
        f"{plural(len(found.tools), 'tool')}, {plural(asked, 'query', 'queries')} made of what they say of themselves: "
        f"{100 * found.recall:.0f} % put their tool among the first five."
    )
    parts = [opening]
    if found.unfindable:
        rows = [(name,) for name in found.unfindable[:LISTED]]
        parts.append(f"Found by no query ({len(found.unfindable)}):\n{table(rows)}")
    if found.pairs:
        rows = [
            (pair.hidden, "stands behind", pair.by, f"descriptions {100 * pair.alike:.0f} % alike")
            for pair in found.pairs[:LISTED]
        ]
        parts.append(f"Pairs that hide each other ({len(found.pairs)}):\n{table(rows)}")
    if found.thin:
        rows = [(name,) for name in found.thin[:LISTED]]
        parts.append(
            f"Descriptions of fewer than {THIN} telling words ({len(found.thin)}); whoever asks in other words than "
            f"theirs misses these tools:\n{table(rows)}\n"
            "Say what each does in a hint in ~/.mcode/tools.json or "
            '.mcode/tools.json: {"NAME": {"hint": "..."}}'
        )
    if not found.hints:
        return "\n\n".join(parts if len(parts) > 1 else (*parts, "Nothing to mend."))
    hints = {name: {"hint": hint} for name, hint in found.hints.items()}
    mended = (
        f" With these, {found.mended} of the {len(found.unfindable)} that no query found are found."
        if found.unfindable
        else ""
    )
    parts.append(
        "Hints to begin with, for ~/.mcode/tools.json or .mcode/tools.json: better words are those that you "
        f"would ask with.{mended}\n{_pretty(hints)}"
    )
    return "\n\n".join(parts)


def _pretty(hints: JsonObject) -> str:
    rows = [f"  {jsontext.dump(name)}: {jsontext.dump(hint)}" for name, hint in hints.items()]
    return "{\n" + ",\n".join(rows) + "\n}"


def _as_object(found: SelfTest) -> JsonObject:
    return {
        "tools": len(found.tools),
        "queries": sum(len(tool.asked) for tool in found.tools),
        "recall": round(found.recall, 4),
        "unfindable": list(found.unfindable),
        "pairs": [
            {
                "hidden": pair.hidden,
                "by": pair.by,
                "queries": list(pair.queries),
                "alike": round(pair.alike, 3),
            }
            for pair in found.pairs
        ],
        "thin": list(found.thin),
        "hints": {name: {"hint": hint} for name, hint in found.hints.items()},
        "mended": found.mended,
    }
