"""/tools: what the model can see, what it costs, where each tool sits and why; search, pin, hide, load."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from mcode.catalog.placement import PINS
from mcode.commands.near_words import did_you_mean
from mcode.commands.program_tables import in_and_out
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import percent, plural, table, tokens
from mcode.commands.tool_permission import tool_permission
from mcode.commands.tool_rows import measure_tools, start_summary, tool_rows
from mcode.config.write import set_value
from mcode.errors import UsageError
from mcode.run_code.audit_read import read_audits
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.commands.host import CommandContext
    from mcode.commands.tool_rows import ToolRows
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

__all__ = ["TOOLS", "resident_summary", "tool_rows"]

SHOWN = 60
"""Rows of deferred tools that are printed where nobody asked for certain ones; `--json` has all."""

resident_summary = start_summary

_USAGE = "[words] | search WORDS | why NAME | permission NAME | pin NAME [PLACE] | hide NAME | load NAME"

ACTIONS = ("search", "why", "permission", "pin", "hide", "load")

_NEEDS = {"search": "words", "pin": "the name of a tool or server", "hide": "the name of a tool or server"}
"""What has to stand behind an action; behind the others, the name of a tool."""

_DETAIL = f"""\
States: RESIDENT in every request (`only`: programs may not call it), LOADED by a search, a call or you, DEFERRED \
until a search finds it, PROGRAM callable by programs alone, BLOCKED by a rule or setting, MISSING as its server is \
not there. (n): tokens if it were loaded.
search runs the search of the model and loads nothing. why says what put a tool where it is; permission, what \
holds for its calls, and by which rules. pin and hide write \
`mcode.placement` of your settings and count from the next session or /clear on; a PLACE is one of {", ".join(PINS)}.
load shows a tool to the model with the next request."""


async def _tools(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.words
    actions = {
        "search": _search,
        "why": _why,
        "permission": _permission,
        "pin": _pin,
        "hide": _hide,
        "load": _load,
    }
    action = actions.get(words[0]) if words else None
    if action is None:
        return await _list(context, words)
    if len(words) == 1:
        raise UsageError(
            f"/tools {words[0]} needs {_NEEDS.get(words[0], 'the name of a tool')}; nothing was done. "
            f"Usage: /tools {_USAGE}"
        )
    return await action(context, words[1:])


async def _list(context: CommandContext, words: Sequence[str]) -> CommandResult:
    await measure_tools(context)
    every = tool_rows(context)
    wanted = tuple(word.lower() for word in words)
    rows: Sequence[JsonObject] = every
    if wanted:
        rows = [row for row in every if all(word in _searched(context, row) for word in wanted)]
    if not rows:
        near = did_you_mean(wanted[0], ACTIONS, "/tools ") if wanted else ""
        return CommandResult(f"No tool matches `{' '.join(words)}`.{near} /tools lists all of them.", [])
    programs = await asyncio.to_thread(read_audits, context.agent.session.directory)
    foot = _totals(context, every) + ([in_and_out(programs)] if programs else [])
    return CommandResult(lambda: _text(rows, foot, whole=bool(wanted)), rows, foot="\n".join(foot))


def _text(rows: Sequence[JsonObject], foot: Sequence[str], *, whole: bool) -> str:
    """The rows as a table; unless `whole`, without most of the deferred ones."""
    shown = rows if whole else _without_most_deferred(rows)
    head = ("state", "tool", "source", "tokens", "permission", "calls", "last used")
    lines = [table((head, *map(_cells, shown)), right=frozenset({3, 5}))]
    if len(shown) < len(rows):
        shown_ids = set(map(id, shown))
        left = [row["tokens"] for row in rows if id(row) not in shown_ids]
        lines.append(f"  ... {len(left):,} more deferred ({tokens(sum(left))})")
    return "\n".join((*lines, *(f"  {line}" for line in foot)))


def _totals(context: CommandContext, rows: ToolRows) -> list[str]:
    window = context.agent.meter.window
    resident = rows.always
    now, whole = rows.cost(resident), rows.cost_of_all
    counted = f"{plural(len(resident), 'tool')} in every request: {tokens(now)} tokens"
    otherwise = f"with nothing deferred: {tokens(whole)}, {percent(whole, window)} of the window"
    lines = [f"{counted} (estimate; /context has the figures of the last request)   {otherwise}"]
    if any(tool.placement is Placement.TOP_LEVEL_ONLY for tool in resident):
        lines.append(
            "RESIDENT only: the model alone may call it, programs may not   (n): tokens once it is loaded"
        )
    return [*lines, *filter(None, (rows.why_deferred,))]


def _without_most_deferred(rows: Sequence[JsonObject]) -> list[JsonObject]:
    deferred = [row for row in rows if row["state"] == "DEFERRED"]
    hidden = set(map(id, deferred[SHOWN:]))
    return [row for row in rows if id(row) not in hidden]


def _cells(row: JsonObject) -> tuple[str, ...]:
    size, state, loaded = tokens(row["tokens"]), row["state"], row["loaded"]
    return (
        f"{state} ({loaded})" if loaded else state,
        row["name"],
        row["source"],
        "0" if state == "BLOCKED" else size if row["in_context"] else f"({size})",
        row["permission"],
        str(row["calls"]),
        f"turn {row['last_turn']}" if row["calls"] else "never",
    )


def _searched(context: CommandContext, row: JsonObject) -> str:
    tool = context.agent.catalog.find(row["name"])
    description = tool.description if tool is not None else ""
    return f"{row['name']} {row['source']} {row['state']} {description}".lower()


async def _search(context: CommandContext, words: Sequence[str]) -> CommandResult:
    """The model's own search; nothing is loaded.

    A score has no unit: it depends on the words, and on whether what they mean counts, too. What is shown is the share
    of the best one's score, which is what decides what the model gets.
    """
    shelf = context.agent.builder.shelf
    query = " ".join(words)
    found = await shelf.find(query)
    best = {tool.name for tool in found.best()[:5]}
    shown = found.worth_naming()
    top = max((hit.score for hit, _ in shown if not math.isinf(hit.score)), default=0.0) or 1.0
    shares = [None if math.isinf(hit.score) else round(hit.score / top, 3) for hit, _ in shown]
    data = {
        "query": query,
        "no_match": found.missed,
        "searched": found.searched,
        "hits": [
            {
                "rank": rank,
                "name": tool.name,
                "score": None if math.isinf(hit.score) else round(hit.score, 3),
                "share": share,
                "exact": hit.exact,
                "would_load": tool.name in best and shelf.is_unloaded(tool),
                "tokens": shelf.definitions.tokens(tool),
            }
            for rank, ((hit, tool), share) in enumerate(zip(shown, shares, strict=True), 1)
        ],
    }
    if found.fault:
        return CommandResult(f"`{query}` could not be searched: {found.fault}.", data, failed=True)
    outcome = (
        "Nothing fits; the nearest" if found.missed and shown else "Nothing fits" if found.missed else "Found"
    )
    head = f"{outcome} among {found.searched:,} tools; nothing was loaded."
    rows = [
        (
            str(rank),
            tool.name,
            "named" if share is None else f"{100 * share:.0f}%",
            tokens(shelf.definitions.tokens(tool)),
            "would load it" if tool.name in best and shelf.is_unloaded(tool) else "would name it",
        )
        for rank, ((_, tool), share) in enumerate(zip(shown, shares, strict=True), 1)
    ]
    heads = [("", "tool", "match", "tokens", "by the model")] if rows else []
    return CommandResult(
        "\n".join(filter(None, (head, table([*heads, *rows], right=frozenset({0, 2, 3}))))), data
    )


async def _why(context: CommandContext, words: Sequence[str]) -> CommandResult:
    tool = _named(context, words)
    shelf = context.agent.builder.shelf
    row = next(row for row in tool_rows(context) if row["name"] == tool.name)
    rules = shelf.placements.rules
    status, loaded = shelf.status(tool.source), row["loaded"]
    facts = [
        ("state", f"{row['state']}{loaded and f' ({loaded})'}"),
        ("because", row["reason"]),
        ("tokens", f"{row['tokens']:,}"),
        ("limit", f"{rules.threshold:,} tokens for servers' definitions, mode {rules.mode}: {rules.because}"),
        ("loading", f"{shelf.way}; programs {rules.programs}"),
        ("permission", row["permission"]),
        (
            "decided",
            "with the first request" if shelf.placements.frozen else "not yet: with the first request",
        ),
    ]
    if status is not None:
        facts.append(("server", f"{status.name}: {status.state}, {plural(status.tools, 'tool')}"))
    return CommandResult(f"{tool.name}\n{table(facts)}", {"name": tool.name, **dict(facts), "row": row})


async def _permission(context: CommandContext, words: Sequence[str]) -> CommandResult:
    return tool_permission(context, _named(context, words))


async def _pin(context: CommandContext, words: Sequence[str]) -> CommandResult:
    place = words[1] if len(words) > 1 else "resident"
    if place not in PINS or len(words) > 2:
        wrong = " ".join(words[1:])
        raise UsageError(
            f"A place is one of {', '.join(PINS)}, not `{wrong}`; nothing was changed.{did_you_mean(wrong, PINS)}"
        )
    return _write_pin(context, words[0], None if place == "auto" else place)


async def _hide(context: CommandContext, words: Sequence[str]) -> CommandResult:
    if len(words) > 1:
        raise UsageError("/tools hide takes one name of a tool or server; nothing was changed.")
    return _write_pin(context, words[0], "hidden")


def _write_pin(context: CommandContext, name: str, place: str | None) -> CommandResult:
    servers = {status.name for status in context.agent.builder.shelf.servers.statuses()}
    if name not in servers | {tool.source for tool in context.agent.catalog if tool.source != "core"}:
        name = _named(context, (name,)).name
    places = context.around.places
    set_value(places.settings_file, ("mcode", "placement", name), place, places=places)
    what = f"is {place}" if place else "is placed by its size again"
    text = f"{name} {what} from the next session or /clear on; written to {places.settings_file}."
    text += f" `/tools pin {name} auto` takes it back." if place else ""
    return CommandResult(text, {"name": name, "placement": place or "auto"})


async def _load(context: CommandContext, words: Sequence[str]) -> CommandResult:
    tool = _named(context, words)
    shelf = context.agent.builder.shelf
    if context.agent.policy.hides(tool.name) is not None or shelf.placed(tool).hidden:
        raise UsageError(f"{tool.name} is blocked ({shelf.permission(tool)}); it was not loaded.")
    if not shelf.is_unloaded(tool):
        return CommandResult(f"{tool.name} is with the model already.", {"name": tool.name, "loaded": True})
    context.agent.builder.load_for_user(tool)
    text = f"{tool.name} is shown to the model with the next request ({tokens(shelf.definitions.tokens(tool))} tokens)."
    return CommandResult(text, {"name": tool.name, "loaded": True})


def _named(context: CommandContext, words: Sequence[str]) -> Tool:
    """The tool that the user means; a bare name of a server's tool will do where only one has it."""
    if len(words) != 1:
        raise UsageError(
            f"One name of a tool is needed, not {len(words)}; nothing was done. /tools lists them."
        )
    catalog = context.agent.catalog
    tool = catalog.find(words[0])
    if tool is not None:
        return tool
    bare = [each for each in catalog if each.name.endswith(f"__{words[0]}")]
    if len(bare) == 1:
        return bare[0]
    near = [each.name for each in bare] or list(catalog.nearest(words[0]))
    hint = f" Did you mean {' or '.join(near[:3])}?" if near else ""
    raise UsageError(f"There is no tool called {words[0]!r}; nothing was done.{hint}")


def _names(context: CommandContext) -> Sequence[str]:
    return (*ACTIONS, *(tool.name for tool in context.agent.catalog))


TOOLS = Command(
    "tools",
    "the tools the model sees and finds: cost, permission, search, why, pin, hide, load",
    _tools,
    _USAGE,
    complete=_names,
    detail=_DETAIL,
)
