"""`python -m tools.messages_server SCRIPT [--port N]`: serve a script and print the URL."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import signal
import sys
from pathlib import Path

from mcode.model.script import Script, ScriptError, load_script
from tools.messages_server.capabilities import LLAMA_CPP, Capabilities, with_switches
from tools.messages_server.faults import FAULTS
from tools.messages_server.server import MessagesServer

REQUESTS_KEPT = 20
"""Nobody looks at the requests of a program, save through its log."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM. Exit code 0, 1 where the script failed, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    if options.faults:
        for fault in FAULTS.values():
            print(f"{fault.name + (':' + fault.argument.upper() if fault.argument else ''):32}{fault.says}")
        return 0
    try:
        script = _find_script(options.script)
        base = LLAMA_CPP if options.like == "llama.cpp" else Capabilities()
        server = MessagesServer(
            script,
            capabilities=with_switches(base, options.set),
            port=options.port,
            log=options.log,
            keep=REQUESTS_KEPT,
            strict=False,
        )
        asyncio.run(_serve(server))
    except (ScriptError, OSError) as error:
        print(f"messages_server: {error}", file=sys.stderr)
        return 2
    for problem in server.problems:
        print(f"messages_server: {problem}", file=sys.stderr)
    return 1 if server.problems else 0


async def _serve(server: MessagesServer) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with server:
        print(server.url, flush=True)
        await stopped.wait()


def _find_script(name: str | None) -> Script:
    """A script file, or `module:attribute` of a script built in Python."""
    if name is None:
        raise ScriptError("give a script: a JSON file, or module:attribute")
    module, colon, attribute = name.partition(":")
    if not colon or Path(name).exists():
        return load_script(Path(name))
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ScriptError(f"script {name}: {error}") from None
    if callable(found):
        found = found()
    if not isinstance(found, Script):
        raise ScriptError(f"script {name}: is {type(found).__name__}, not a Script")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.messages_server",
        description="Serve a scripted model at the loopback interface; prints its base URL.",
    )
    parser.add_argument("script", nargs="?", help="a JSON file, or module:attribute of a Script or its maker")
    parser.add_argument("--port", type=int, default=0, help="port to listen at (default: any free one)")
    parser.add_argument("--log", type=Path, help="append each request as one line of JSON to this file")
    parser.add_argument("--like", choices=("anthropic", "llama.cpp"), default="anthropic")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a capability switch"
    )
    parser.add_argument("--faults", action="store_true", help="list the named faults and end")
    return parser


if __name__ == "__main__":
    sys.exit(main())
