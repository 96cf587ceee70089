"""Plant secrets wherever a session meets text, run it with a detailed log, and search every file that mcode wrote.

    python -m tools.planted_secrets [--rounds N]

Planted: in the environment, in a file, in output of a command (short, long, and of a background job), in a
server's entry and in its results, in a program's values, arguments and result, and in an exception of a tool.
Exempt: the undo store, whose whole use is to give back bytes as they were.
One line of result; the code is 0 where nothing was found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import string
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from mcode.logs import open_log
from mcode.model.script import parse_script
from mcode.model.scripted import ScriptedClient
from mcode.tool import Effect, Tool
from mcode.wiring.options import Options
from tools.local_session import local_workbench

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices

EXEMPT = "undo"
"""Name of the directory that holds old contents of files."""

SERVER = """\
import json, os, sys
text = open(sys.argv[1]).read() + os.environ["PLANT_TOKEN"]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    match asked["method"]:
        case "initialize":
            result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "plants", "version": "1"}}
        case "tools/list":
            schema = {"type": "object", "properties": {}}
            result = {"tools": [{"name": "show", "description": "Show it", "inputSchema": schema}]}
        case "tools/call":
            print(text, file=sys.stderr, flush=True)
            result = {"content": [{"type": "text", "text": text * 20}]}
        case _:
            result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@dataclass(frozen=True)
class Plant:
    """One secret and the text around it."""

    name: str
    before: str
    secret: str
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.secret}{self.after}"


def plants(dice: random.Random) -> list[Plant]:
    """Thirty secrets, each of another shape. All are made up here and open nothing."""

    def some(length: int, letters: str = string.ascii_letters + string.digits) -> str:
        # Ends in letters and a digit, so that it never looks like a word.
        return "".join(dice.choices(letters, k=length - 3)) + "q7Z"

    def upper(length: int) -> str:
        return "".join(dice.choices(string.ascii_uppercase + string.digits, k=length))

    hexadecimal = "0123456789abcdef"
    jwt = f"eyJ{some(20)}.eyJ{some(30)}.{some(30)}"
    return [
        Plant("anthropic", "", "sk-" + "ant-" + some(40)),
        Plant("provider", "", "sk-" + some(44)),
        Plant("project key", "", "sk-" + "proj-" + some(40)),
        Plant("groq", "", "gsk_" + some(40)),
        Plant("huggingface", "", "hf_" + some(34)),
        Plant("github", "", "gh" + "p_" + some(36)),
        Plant("github fine", "", "github_" + "pat_" + some(50)),
        Plant("gitlab", "", "gl" + "pat-" + some(20)),
        Plant("slack", "", "xox" + "b-" + some(30)),
        Plant("slack hook", "https://hooks.slack.com/services/", f"T{upper(9)}/B{upper(9)}/{some(24)}"),
        Plant("google", "", "AIza" + some(35)),
        Plant("aws id", "", "AKIA" + upper(16)),
        Plant("aws secret", "aws_secret_access_key = ", some(40)),
        Plant("jwt", "", jwt),
        Plant("stripe", "", "sk_" + "live_" + some(24)),
        Plant("npm", "", "npm_" + some(36)),
        Plant("pypi", "", "pypi-" + some(60)),
        Plant("sendgrid", "", f"SG.{some(22)}.{some(43)}"),
        Plant("pem", "-----BEGIN RSA " + "PRIVATE KEY-----\n", some(64), "\n-----END RSA PRIVATE KEY-----"),
        Plant("bearer", "Authorization: Bearer ", some(32)),
        Plant("basic", "Authorization: Basic ", some(30)),
        Plant("header key", "x-api-key: ", some(32)),
        Plant("cookie", "Cookie: session=", some(32)),
        Plant("url password", "postgres://user:", some(16), "@db.example/x"),
        Plant("query token", "https://x.example/?access_token=", some(32), "&a=1"),
        Plant("query signature", "https://x.example/?X-Amz-Signature=", some(40, hexadecimal)),
        Plant("assignment", "DB_PASSWORD=", some(14)),
        Plant("quoted", 'API_TOKEN="', some(28), '"'),
        Plant("json", '{"client_secret": "', some(28), '"}'),
        Plant("flag", "login --password ", some(14), " --yes"),
    ]


class Faulty(Tool):
    """Raises an exception whose text holds the secrets, as a fault of mcode's own would."""

    name = "Faulty"
    description = "Fails"
    effects = frozenset[Effect]()
    input_schema: JsonObject = {"type": "object", "properties": {}}  # noqa: RUF012 -- declared by Tool, never changed

    def __init__(self, text: str) -> None:
        self._text = text

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        raise RuntimeError(self._text)


def script(text: str) -> JsonObject:
    """What the model does: meets the secrets in every way, and repeats them."""
    program = (
        "const got = await tools.Bash({command: 'cat planted.txt'});\n"
        "const text = got.value.stdout;\n"
        "await tools.Bash({command: \"printf '%s' '\" + text.replaceAll(\"'\", '') + \"'\"});\n"
        "console.log(text.repeat(30));\n"
        "return text.repeat(60);"
    )
    calls: list[tuple[str, JsonObject]] = [
        ("Read", {"file_path": "planted.txt"}),
        ("Bash", {"command": "cat planted.txt; env"}),
        ("Bash", {"command": "for i in $(seq 40); do cat planted.txt; done; cat planted.txt >&2; exit 3"}),
        ("Bash", {"command": "cat planted.txt", "run_in_background": True}),
        ("Grep", {"pattern": ".", "path": "planted.txt", "output_mode": "content"}),
        ("mcp__plants__show", {}),
        ("run_code", {"code": program}),
        ("Faulty", {}),
        ("Edit", {"file_path": "planted.txt", "old_string": "first line", "new_string": "FIRST line"}),
        ("Write", {"file_path": "copy.txt", "content": text}),
        ("Nowhere", {"text": text}),
    ]
    blocks = [
        {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": arguments}
        for at, (name, arguments) in enumerate(calls)
    ]
    replies: list[Any] = [{"blocks": [block], "stop_reason": "tool_use"} for block in blocks]
    return {"turns": [{"reply": reply} for reply in (*replies, f"I found this: {text}")]}


async def run(directory: Path, seed: int) -> list[str]:
    """Run one session in `directory`; returns what was found, one line each."""
    planted = plants(random.Random(seed))
    known = [plant.secret for plant in plants(random.Random(-1 - seed))]
    text = "\n".join(("first line", *(plant.text for plant in planted), *known, ""))
    literal, own = f"plain-words-of-nobody-{seed}", f"other-words-of-nobody-{seed}"
    home, project = directory / "home", directory / "project"
    (home / ".mcode").mkdir(parents=True)
    project.mkdir()
    (project / "planted.txt").write_text(text)
    server = directory / "server.py"
    server.write_text(SERVER)
    entry = {
        "command": sys.executable,
        "args": [str(server), str(project / "planted.txt")],
        "env": {"PLANT_TOKEN": own},
        "alwaysLoad": True,
    }
    (home / ".mcode" / "mcp.json").write_text(json.dumps({"mcpServers": {"plants": entry}}))
    client = ScriptedClient(parse_script(script(text + literal + own), "planted"))
    environment = {f"PLANT_{at}_TOKEN": secret for at, secret in enumerate(known)} | {"A_SECRET": literal}
    bench = local_workbench(
        directory,
        client,
        environment=environment,
        options=Options(skip_permissions=True),
        settings={"env": {"SETTING_PASSWORD": literal}, "permissions": {"allow": ["Read", "Grep"]}},
    )
    with open_log(bench.places.logs, bench.masker, detailed=True):
        agent = await bench.open_agent("startup")
        agent.catalog.add(Faulty(text + literal + own))
        try:
            await agent.start("startup")
            await bench.pool.settle(30)
            await agent.submit(f"Look at this: {text}")
            agent.rename(f"about {planted[0].secret}")
        finally:
            await agent.close("other")
            await bench.close()
    ours = (home / ".mcode" / "mcp.json", home / ".mcode" / "settings.json")
    secrets = [(plant.name, plant.secret) for plant in planted]
    secrets += [*((f"environment {at}", secret) for at, secret in enumerate(known))]
    secrets += [("words in the environment", literal), ("words in a server's entry", own)]
    return [
        f"{name}: {path.relative_to(directory)}"
        for path in written(home, without=ours)
        for name, secret in secrets
        if secret.encode() in path.read_bytes()
    ]


def written(home: Path, *, without: tuple[Path, ...]) -> list[Path]:
    """Every file that mcode wrote, but for the undo store and what was there before."""
    return [
        path
        for path in sorted(home.rglob("*"))
        if path.is_file() and path not in without and EXEMPT not in path.relative_to(home).parts
    ]


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Search what mcode writes for planted secrets.")
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    found: list[str] = []
    for seed in range(rounds):
        with tempfile.TemporaryDirectory(prefix="mcode-planted-") as name:
            found += asyncio.run(run(Path(name).resolve(), seed))
    for line in found[:40]:
        sys.stdout.write(f"  {line}\n")
    sys.stdout.write(f"planted secrets: {rounds} sessions, 62 secrets each, {len(found)} found\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
