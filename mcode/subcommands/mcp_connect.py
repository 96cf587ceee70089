"""The words of `mcode mcp` that go to a server: test, login, logout."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.commands.tables import plural, table, tokens
from mcode.errors import UsageError
from mcode.logs import open_log
from mcode.mcp.library import loaded
from mcode.mcp.server import Surroundings
from mcode.mcp.servers import Servers
from mcode.mcp.token_keyring import token_store
from mcode.process.environment import MODEL_KEYS, child_environment
from mcode.subcommands.mcp_desk import remark, say
from mcode.wiring.remote_servers import RemoteServers

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.server import Server
    from mcode.mcp.sign_in import SigningIn
    from mcode.subcommands.mcp_desk import ServerDesk

LARGEST = 10
"""Tools that are named with what they cost."""

THRESHOLD = 10_000
"""Tokens of definitions from which tools are deferred at the latest."""


def test_server(desk: ServerDesk, entry: ServerEntry, *, as_json: bool) -> int:
    """Connect to a server, list what it has and what that costs; 0 where that worked, else 1."""
    _check_usable(desk, entry)
    with open_log(desk.places.logs, desk.masker):
        found = asyncio.run(_test(desk, entry))
    say(jsontext.dump(found) if as_json else _page(found))
    return 0 if found["state"] == "connected" else 1


def log_in(desk: ServerDesk, entry: ServerEntry) -> int:
    """Sign the user in at a server; 0 where that worked, else 1."""
    _check_usable(desk, entry)
    with open_log(desk.places.logs, desk.masker):
        worked, said = asyncio.run(_log_in(desk, entry))
    (say if worked else remark)(said)
    return 0 if worked else 1


def log_out(desk: ServerDesk, entry: ServerEntry) -> int:
    """Forget a sign-in."""
    if token_store(desk.places.state, os.environ).remove(entry):
        say(f"The sign-in at {entry.name} is forgotten here. The server itself was not told.")
        return 0
    raise UsageError(f"You are not signed in at {entry.name}. Nothing was done.")


def _check_usable(desk: ServerDesk, entry: ServerEntry) -> None:
    if entry.needs_approval:
        raise UsageError(
            f'The server "{entry.name}" of {entry.path} is not approved: {entry.target}. It was not started; '
            f"`mcode mcp approve {entry.name}` lets it run here."
        )
    if entry.disabled:
        raise UsageError(f'The server "{entry.name}" is off: {entry.why_disabled}. It was not started.')


async def _test(desk: ServerDesk, entry: ServerEntry) -> JsonObject:
    remote = _remote(desk)
    around = Surroundings(
        start=desk.start,
        environment=os.environ,
        state=desk.places.state,
        logs=desk.places.logs,
        mask=desk.masker.mask,
        keys=_keys(),
        roots=lambda: (desk.start, *desk.settings.additional_directories),
        remote=remote.transport,
    )
    servers = Servers([entry], around)
    await loaded()
    began = time.monotonic()
    try:
        said = await servers.reconnect(entry.name)
        server = servers.get(entry.name)
        if server is None:
            raise UsageError(said)
        return _found(server, time.monotonic() - began)
    finally:
        await servers.close()


def _found(server: Server, seconds: float) -> JsonObject:
    status, catalogue = server.status(), server.catalogue
    connected = status.state == "connected"
    costs = {each.own_name: each.tokens for each in server.definitions} if connected else {}
    log = server.log.path
    return {
        "name": server.name,
        "state": status.state,
        "error": status.error,
        "seconds": round(seconds, 2),
        "protocol": server.connection.protocol,
        "title": catalogue.title if connected and catalogue else "",
        "tools": [{"name": name, "tokens": cost} for name, cost in costs.items()],
        "tokens": sum(costs.values()),
        "problems": list(catalogue.problems) if connected and catalogue else [],
        "log": str(log) if server.entry.kind == "stdio" and log.exists() else None,
    }


def _page(found: JsonObject) -> str:
    name, seconds = found["name"], found["seconds"]
    log = [f"  its log: {found['log']}"] if found["log"] else []
    if found["state"] != "connected":
        advice = [f"  `mcode mcp login {name}` signs you in."] if found["state"] == "needs sign-in" else []
        said = f": {found['error']}" if found["error"] else ""
        return "\n".join([f"{name}: {found['state']} after {seconds:g} s{said}", *advice, *log])
    tools: list[JsonObject] = sorted(found["tools"], key=lambda tool: -tool["tokens"])
    title = f" ({found['title']})" if found["title"] else ""
    total = found["tokens"]
    where = (
        "more than the usual threshold, so they are searched for and loaded when needed"
        if total > THRESHOLD
        else "loaded from the start, as far as all servers together stay under the threshold"
    )
    lines = [f"{name}{title}: connected in {seconds:g} s, protocol {found['protocol']}"]
    if tools:
        lines.append(f"  {plural(len(tools), 'tool')}, {tokens(total)} tokens of definitions: {where}")
        lines.append(
            table([(tool["name"], tokens(tool["tokens"])) for tool in tools[:LARGEST]], indent="    ")
        )
        lines += [f"    and {len(tools) - LARGEST} smaller ones"] if len(tools) > LARGEST else []
    else:
        lines.append("  no tools")
    return "\n".join([*lines, *(f"  {problem}" for problem in found["problems"]), *log])


async def _log_in(desk: ServerDesk, entry: ServerEntry) -> tuple[bool, str]:
    loop = asyncio.get_running_loop()
    reading = sys.stdin.isatty()

    def begun(attempt: SigningIn) -> None:
        if reading:
            loop.add_reader(0, take_line, attempt)

    def take_line(attempt: SigningIn) -> None:
        """The address that the browser was sent to, where the browser is on another machine."""
        line = os.read(0, 65536).decode(errors="replace")
        if not line:
            loop.remove_reader(0)
        elif line.strip() and not attempt.callback.bring(line):
            remark("that is not the address the browser is sent back to")

    def show(text: str) -> None:
        say(text)
        if reading:
            say("Is the browser on another machine? Paste the address it ends at here, then Enter.")

    try:
        return await _remote(desk).sign_in(entry, show, begun)
    finally:
        if reading:
            loop.remove_reader(0)


def _remote(desk: ServerDesk) -> RemoteServers:
    environment = child_environment(os.environ, desk.settings.env, keys=_keys())
    return RemoteServers(desk.start, environment, token_store(desk.places.state, os.environ), os.environ)


def _keys() -> tuple[str, ...]:
    return tuple(os.environ[name] for name in MODEL_KEYS if os.environ.get(name))
