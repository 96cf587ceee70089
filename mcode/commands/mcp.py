"""/mcp: the servers, their states and costs; start, stop, reconnect, sign in, log, approve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.catalog.servers import ServerControl
from mcode.commands.near_words import did_you_mean, unknown_word
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.tables import plural, table, tokens
from mcode.commands.tool_rows import measure_tools
from mcode.errors import UsageError
from mcode.mcp.servers import Servers
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.catalog.servers import ServerFacts, ServerStatus
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

LOG_LINES = 40
"""Lines of a log that are shown, the newest."""

LOG_BYTES = 64 * 1024

_ACTIONS = ("start", "stop", "reconnect", "sign-in", "log", "approve")

_USAGE = "/mcp [NAME] | start NAME | stop NAME | reconnect NAME | sign-in NAME | log NAME | approve NAME"

_DETAIL = """\
States: connected; cached (its tools are known, it is connected when one is used); connecting; failed; needs approval; \
needs sign-in; disabled. `NAME` shows one with its tools and the full text of its last error."""


async def _mcp(context: CommandContext, arguments: Arguments) -> CommandResult:
    words = arguments.words
    actions = dict(zip(_ACTIONS, (_reconnect, _stop, _reconnect, _sign_in, _log, _approve), strict=True))
    if len(words) == 2 and words[0] in actions:
        return await actions[words[0]](context, words[1])
    servers = {status.name for status in _servers(context).statuses()}
    if len(words) == 1 and words[0] in actions and words[0] not in servers:
        raise UsageError(f"/mcp {words[0]}: which server? Nothing was done; /mcp lists them. Usage: {_USAGE}")
    if len(words) == 2:
        raise unknown_word("/mcp", arguments.rest, actions, _USAGE)
    (name,) = arguments.at_most(1, _USAGE) or ("",)
    await measure_tools(context)
    return _one(context, name) if name else _list(context)


def _list(context: CommandContext) -> CommandResult:
    statuses = _servers(context).statuses()
    data = [_as_object(context, status) for status in statuses]
    if not statuses:
        text = "No MCP server is configured. `mcode mcp add` adds one, or write it into .mcp.json."
        return CommandResult(text, data)
    head = ("server", "state", "by", "resident", "deferred", "tokens", "last error")
    rows = [
        (
            str(each["name"]),
            str(each["state"]),
            str(each["transport"]),
            str(each["resident"]),
            str(each["deferred"]),
            tokens(each["tokens"]),
            str(each["error"])[:100],
        )
        for each in data
    ]
    return CommandResult(table((head, *rows), right=frozenset({3, 4, 5})), data)


def _one(context: CommandContext, name: str) -> CommandResult:
    status = _status(context, name)
    data = _as_object(context, status)
    shelf = context.agent.builder.shelf
    facts = [
        ("state", status.state),
        ("reached by", status.transport or "-"),
        ("says", status.line or "-"),
        (
            "tools",
            f"{data['resident']} resident, {data['deferred']} deferred, {tokens(data['tokens'])} tokens in all",
        ),
        ("last error", _why(status) or "none"),
        ("taken out", status.taken_out or "nothing"),
        ("always loaded", "yes" if status.always_load else "no"),
        ("log", str(_log_path(context, name) or "none")),
    ]
    rows = [
        (
            tool.name,
            tokens(shelf.definitions.tokens(tool)),
            str(shelf.placed(tool).placement),
            shelf.permission(tool),
        )
        for tool in _tools_of(context, name)
    ]
    text = "\n".join(filter(None, (status.name, table(facts), table(rows, right=frozenset({1})))))
    return CommandResult(text, {**data, "tools": [row[0] for row in rows]})


def _as_object(context: CommandContext, status: ServerStatus) -> JsonObject:
    shelf = context.agent.builder.shelf
    tools = _tools_of(context, status.name)
    deferred = [tool for tool in tools if shelf.placed(tool).placement is Placement.DEFERRED]
    return {
        "name": status.name,
        "state": status.state,
        "transport": status.transport,
        "resident": len(tools) - len(deferred),
        "deferred": len(deferred),
        "tokens": sum(shelf.definitions.tokens(tool) for tool in tools),
        "line": status.line,
        "error": _why(status),
        "taken_out": status.taken_out,
        "always_load": status.always_load,
    }


def _why(status: ServerStatus) -> str:
    """Why a server does not run, in words that stand alone; empty where nothing went wrong."""
    if status.state == "needs approval":
        return f"its entry is {status.error}; approve lets it run"
    return status.error


async def _reconnect(context: CommandContext, name: str) -> CommandResult:
    said = await _control(context, name).reconnect(name)
    return _acted(context, name, said)


async def _stop(context: CommandContext, name: str) -> CommandResult:
    said = await _control(context, name).stop(name)
    return _acted(context, name, said)


async def _sign_in(context: CommandContext, name: str) -> CommandResult:
    said = await _control(context, name).sign_in(name)
    return _acted(context, name, said)


async def _approve(context: CommandContext, name: str) -> CommandResult:
    servers = _control(context, name)
    if not isinstance(servers, Servers) or servers.approve_named is None:
        raise UsageError(f"Servers cannot be approved in this session; {name} is unchanged.")
    return _acted(context, name, await servers.approve_named(name))


def _acted(context: CommandContext, name: str, said: str) -> CommandResult:
    status = _status(context, name)
    return CommandResult(said, {**_as_object(context, status), "said": said}, failed=status.state == "failed")


async def _log(context: CommandContext, name: str) -> CommandResult:
    _status(context, name)
    path = _log_path(context, name)
    if path is None or not path.is_file():
        return CommandResult(f"{name} has written no log.", {"name": name, "log": None})
    lines = _tail(path)
    text = "\n".join((f"{path}, its last {plural(len(lines), 'line')}:", *(f"  {line}" for line in lines)))
    return CommandResult(text, {"name": name, "log": str(path), "lines": list(lines)})


def _tail(path: Path) -> Sequence[str]:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - LOG_BYTES, 0))
        return file.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]


def _servers(context: CommandContext) -> ServerFacts:
    return context.agent.builder.shelf.servers


def _status(context: CommandContext, name: str) -> ServerStatus:
    statuses = _servers(context).statuses()
    for status in statuses:
        if status.name == name:
            return status
    names = [status.name for status in statuses]
    near = did_you_mean(name, names) or did_you_mean(name, _ACTIONS, "/mcp ")
    known = ", ".join(names) or "none is configured"
    raise UsageError(f"There is no server called {name!r}; nothing was done.{near} Servers: {known}.")


def _control(context: CommandContext, name: str) -> ServerControl:
    _status(context, name)
    servers = _servers(context)
    if not isinstance(servers, ServerControl):
        raise UsageError(f"Servers cannot be steered in this session; {name} is unchanged.")
    return servers


def _log_path(context: CommandContext, name: str) -> Path | None:
    servers = _servers(context)
    return servers.log_path(name) if isinstance(servers, ServerControl) else None


def _tools_of(context: CommandContext, name: str) -> list[Tool]:
    return [tool for tool in context.agent.catalog if tool.source == name]


def _names(context: CommandContext) -> Sequence[str]:
    return (*_ACTIONS, *(status.name for status in _servers(context).statuses()))


MCP = Command(
    "mcp",
    "the MCP servers: states, tools, errors; start, stop, reconnect, sign in, log, approve",
    _mcp,
    _USAGE.removeprefix("/mcp "),
    complete=_names,
    detail=_DETAIL,
)
