"""`mcode mcp WORD ...`: the servers of tools that the files name, without a session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from mcode import jsontext
from mcode.commands.tables import plural, table
from mcode.config.trust import MCP_SERVER
from mcode.errors import UsageError
from mcode.jsontext import JsonError, JsonObject, parse_object
from mcode.masking.names import is_secret_variable
from mcode.mcp.server_facts import facts_of
from mcode.mcp.server_files import project_files
from mcode.mcp.server_writing import WRITABLE, ServerShelf
from mcode.mcp.token_keyring import token_store
from mcode.subcommands.mcp_desk import ServerDesk, remark, say
from mcode.subcommands.parser import SubcommandParser

if TYPE_CHECKING:
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.server_writing import Writable

OVERVIEW = """\
usage: mcode mcp WORD ...

The servers of tools (Model Context Protocol) that mcode's files and a project's .mcp.json name.

  add NAME [-s SCOPE] [-e NAME=VALUE] -- COMMAND ...      a program on this machine
  add NAME [-s SCOPE] -t http|sse [-H 'NAME: VALUE'] URL  a server elsewhere
  add-json NAME JSON [-s SCOPE]                           an entry as it stands in a file
  list [--json]                                           all servers: whether they may run, and how the last try ended
  get NAME [--json]                                       everything about one
  remove NAME [-s SCOPE]                                  take one out of mcode's file, or of .mcp.json
  test NAME [--json]                                      connect, list its tools, and what they cost
  approve NAME, refuse NAME                               whether a project's server may run here
  reset-project-choices                                   forget those answers
  login NAME, logout NAME                                 sign in at a server over HTTP, by the browser

SCOPE is local (you, in this project: the default), project (.mcp.json, for all who have the folder), or user
(you, everywhere). Values may have ${NAME} and ${NAME:-default}, which stand for variables when the server starts.

examples:
  mcode mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  mcode mcp add -s user -e API_KEY='${API_KEY}' search -- uvx search-server
  mcode mcp add -t http -H 'Authorization: Bearer ${TOKEN}' tickets https://tickets.example/mcp
"""

WORDS = {
    "add": "Add a server: a program on this machine behind --, or the address of one elsewhere.",
    "add-json": "Add a server as its entry stands in a file.",
    "list": "All servers: whether they may run, and how the last try ended.",
    "get": "Everything about one server.",
    "remove": "Take a server out of mcode's file, or of .mcp.json.",
    "test": "Connect to a server, list its tools, and say what they cost.",
    "approve": "Let a server of the project run here.",
    "refuse": "Keep a server of the project off here.",
    "reset-project-choices": "Forget whether this project's servers may run: you are asked again.",
    "login": "Sign in at a server over HTTP, by the browser.",
    "logout": "Forget the sign-in at a server.",
}
"""What stands behind `mcode mcp`, with what each does."""

_NAME = "what the server is called"

TRANSPORTS = ("stdio", "http", "sse")


class _Overview(SubcommandParser):
    """Shows all words with their arguments."""

    @override
    def format_help(self) -> str:
        return OVERVIEW


def main(arguments: list[str]) -> int:
    """Run the subcommand; returns the exit code. Raises UsageError and StorageError."""
    if arguments[:1] in (["-h"], ["--help"]):
        arguments = ["help"]
    _Overview("mcode mcp").check_word(arguments, tuple(WORDS))
    word, *rest = arguments
    front, behind = rest, None
    if "--" in rest:
        at = rest.index("--")
        front, behind = rest[:at], rest[at + 1 :]
    parser = _parser(word)
    if behind is not None and word != "add":
        parser.error("-- goes with `mcode mcp add`")
    given = parser.parse_intermixed_args(front)
    desk = ServerDesk.here()
    if word in ("test", "login", "logout"):
        return _connect(desk, word, given)
    match word:
        case "add":
            return _keep(desk, given.scope, given.name, _entry_of(given, behind))
        case "add-json":
            return _keep(desk, given.scope, given.name, _object_of(given.json_text))
        case "list":
            return _list(desk, as_json=given.json)
        case "get":
            return _get(desk, desk.entry(given.name), as_json=given.json)
        case "remove":
            return _remove(desk, given.name, given.scope)
        case "approve" | "refuse":
            return _answer(desk, desk.entry(given.name), approve=word == "approve")
        case _:
            return _reset(desk)


def _connect(desk: ServerDesk, word: str, given: Any) -> int:
    from mcode.subcommands.mcp_connect import log_in, log_out, test_server

    entry = desk.entry(given.name)
    if word == "test":
        return test_server(desk, entry, as_json=given.json)
    return log_in(desk, entry) if word == "login" else log_out(desk, entry)


def _parser(word: str) -> SubcommandParser:
    hint = "A server's own options stand behind --." if word == "add" else ""
    parser = SubcommandParser(f"mcode mcp {word}", unrecognized=hint, description=WORDS[word])
    add = parser.add_argument
    match word:
        case "add":
            _add_scope(parser, "local")
            add(
                "-t",
                "--transport",
                choices=TRANSPORTS,
                help="stdio for a program, http or sse for an address",
            )
            env, header = "a variable of the program; several times", "a header of requests; several times"
            add("-e", "--env", action="append", default=[], metavar="NAME=VALUE", help=env)
            add("-H", "--header", action="append", default=[], metavar="'NAME: VALUE'", help=header)
            add("name", metavar="NAME", help=_NAME)
            add("words", nargs="*", metavar="URL|COMMAND", help="an address, or a program behind --")
        case "add-json":
            _add_scope(parser, "local")
            add("name", metavar="NAME", help=_NAME)
            add("json_text", metavar="JSON", help='such as \'{"command": "npx", "args": ["server"]}\'')
        case "remove":
            _add_scope(parser, None)
            add("name", metavar="NAME", help=_NAME)
        case "get" | "test":
            add("name", metavar="NAME", help=_NAME)
            add("--json", action="store_true", help="JSON instead of a table")
        case "list":
            add("--json", action="store_true", help="JSON instead of a table")
        case "approve" | "refuse" | "login" | "logout":
            add("name", metavar="NAME", help=_NAME)
        case _:  # reset-project-choices takes nothing
            pass
    return parser


def _add_scope(parser: SubcommandParser, usual: str | None) -> None:
    about = "local: you, in this project; project: all who have the folder; user: you, everywhere"
    default = f" (without: {usual})" if usual else ""
    parser.add_argument("-s", "--scope", choices=WRITABLE, default=usual, help=f"{about}{default}")


def _entry_of(given: Any, behind: list[str] | None) -> JsonObject:
    """The entry that the words of `add` mean."""
    words: list[str] = [*given.words, *(behind or [])]
    first = words[0] if words else ""
    kind: str = given.transport or ("http" if first.startswith(("http://", "https://")) else "stdio")
    if kind == "stdio":
        if given.header:
            raise UsageError("-H goes with -t http or -t sse. Nothing was added.")
        if not words:
            raise UsageError("The command is missing: put it behind --. Nothing was added.")
        env = dict(_pair(text, "=", "-e takes NAME=VALUE") for text in given.env)
        return {"type": "stdio", "command": first, "args": words[1:], **({"env": env} if env else {})}
    if given.env:
        raise UsageError("-e goes with a command, not with an address. Nothing was added.")
    if len(words) != 1:
        raise UsageError(f"-t {kind} takes one address, got {len(words)}. Nothing was added.")
    headers = dict(_pair(text, ":", "-H takes 'NAME: VALUE'") for text in given.header)
    return {"type": kind, "url": first, **({"headers": headers} if headers else {})}


def _pair(text: str, mark: str, usage: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{usage}, not {name.strip()[:40]!r}. Nothing was added.")
    return name.strip(), value if mark == "=" else value.strip()


def _object_of(text: str) -> JsonObject:
    try:
        return parse_object(text)
    except JsonError as error:
        raise UsageError(f"The entry is not a JSON object: {error}. Nothing was added.") from None


def _keep(desk: ServerDesk, scope: Writable, name: str, written: JsonObject) -> int:
    """Check the entry, add it, and approve it where a project would have asked: the user has just written it."""
    shelf = ServerShelf(scope, desk.places, desk.start)
    entry, problems = shelf.check(name, written, os.environ)
    shelf.add(name, written)
    for problem in problems:
        remark(problem.message)
    secrets = [key for key, value in {**entry.env, **entry.headers}.items() if _is_open(key, value, written)]
    if scope == "project" and secrets:
        remark(
            f"{', '.join(secrets)}: everybody who has this folder can read the value in {shelf.path}; "
            '"${NAME}" in its place keeps it in your environment.'
        )
    if scope == "project":
        desk.approve(entry)
    say(f'Added the server "{name}" ({entry.kind}) in {scope} scope: {shelf.path}')
    return 0


def _is_open(key: str, value: str, written: JsonObject) -> bool:
    """Whether a secret stands in an entry itself."""
    return f'"{value}"' in jsontext.dump(written) and (
        is_secret_variable(key, value) or key.lower() == "authorization"
    )


def _remove(desk: ServerDesk, name: str, scope: Writable | None) -> int:
    scopes: tuple[Writable, ...] = (scope,) if scope else WRITABLE
    shelves = [ServerShelf(one, desk.places, desk.start) for one in scopes]
    holders = [shelf for shelf in shelves if name in shelf.names()]
    if len(holders) > 1:
        named = " and ".join(shelf.scope for shelf in holders)
        raise UsageError(f'"{name}" stands in {named} scope. Nothing was removed; name one with -s.')
    if not holders or not holders[0].remove(name):
        foreign = [entry for entry in desk.everything if entry.name == name and entry.path is not None]
        where = f" It stands in {foreign[0].path}, which mcode does not write." if foreign else ""
        known = sorted({each for shelf in shelves for each in shelf.names()})
        there = f" Its files have: {', '.join(known)}." if known and not where else ""
        inside = f" in {scope} scope" if scope else ""
        raise UsageError(f'mcode has no server "{name}"{inside}; nothing was removed.{where}{there}')
    say(f'Removed the server "{name}" from {holders[0].path} ({holders[0].scope} scope).')
    return 0


def _list(desk: ServerDesk, *, as_json: bool) -> int:
    desk.say_problems()
    if as_json:
        say(jsontext.dump([desk.as_json(entry) for entry in desk.listed]))
        return 0
    if not desk.listed:
        say("There are no servers here. `mcode mcp add` adds one; `mcode mcp --help` shows how.")
        return 0
    rows = [
        (entry.name, entry.scope, entry.kind, desk.state(entry), desk.masker.mask(entry.target)[:100])
        for entry in desk.listed
    ]
    say(table([("NAME", "SCOPE", "TYPE", "STATE", "RUNS OR CONTACTS"), *rows], indent=""))
    for entry in desk.listed:
        last = desk.last_try(entry)
        if last is not None and last.error and not (entry.disabled or entry.needs_approval):
            remark(f"{entry.name}: {last.error}. `mcode mcp test {entry.name}` tries it again.")
    return 0


def _get(desk: ServerDesk, entry: ServerEntry, *, as_json: bool) -> int:
    if as_json:
        say(jsontext.dump(desk.as_json(entry)))
        return 0
    shadowed = [one for one in desk.gathered.shadowed if one.name == entry.name]
    rows = [
        ("scope", entry.scope),
        ("file", str(entry.path or "--mcp-config")),
        ("type", entry.kind),
        ("state", desk.state(entry)),
        *([("last error", last.error)] if (last := desk.last_try(entry)) and last.error else []),
        *facts_of(entry, desk.masker.mask).items(),
        *(
            [("sign-in", "you are signed in")]
            if token_store(desk.places.state, os.environ).get(entry)
            else []
        ),
        *(("stands over", f"{one.scope} scope: {one.path}") for one in shadowed),
    ]
    say(f"{entry.name}\n{table(rows)}")
    return 0


def _answer(desk: ServerDesk, entry: ServerEntry, *, approve: bool) -> int:
    entry = next((one for one in desk.everything if one.name == entry.name and one.scope == "project"), entry)
    if entry.scope != "project":
        raise UsageError(f'"{entry.name}" is your own server ({entry.scope} scope), which needs no approval.')
    note = desk.approve(entry) if approve else desk.refuse(entry)
    say(f'The server "{entry.name}" of {entry.path} {"may run here" if approve else "stays off here"}:')
    say(table(facts_of(entry, desk.masker.mask).items()))
    if note:
        remark(note)
    return 0


def _reset(desk: ServerDesk) -> int:
    count = sum(desk.trust.forget(path.parent, MCP_SERVER) for path in project_files(desk.start))
    say(
        f"Forgot {plural(count, 'answer')} about servers of this project; you are asked again at the next start."
    )
    return 0
