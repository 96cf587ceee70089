"""Hostile folders, opened without trust, looked at and closed: no process is started, no connection made.

    python -m tools.hostile_folders [--rounds N] [--only TRAP]

The real program, with an account of every process and every connection that its interpreter makes, opens a folder
full of traps: headless and in a terminal, as a whole and with each trap by itself. One line of result; the code is
0 where the account is empty and nothing was touched.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.terminal import BinaryTerminal
from tests.wiring.hostile_folder import PROGRAMS, HostileFolder

if TYPE_CHECKING:
    from collections.abc import Callable

TRAPS: dict[str, tuple[str, ...]] = {
    "everything": (),
    "settings": (".mcode/settings.json", ".claude/settings.json"),
    "local settings": (".mcode/settings.local.json", ".claude/settings.local.json"),
    "servers": (".mcp.json",),
    "environment files": (".env", ".envrc"),
    "instructions": ("AGENTS.md",),
    "programs": (*PROGRAMS, "node_modules"),
    "repositories": (".git", "inner.git"),
}
"""What stays of the folder, by the name of the trap; nothing named: all of it."""

QUESTION, READY = "Trust this folder?", "offline-guide"
"""What stands on the terminal where the folder is asked about, and where a session has begun."""

PAUSE = 1.5
"""Seconds between two lines that are typed."""

COMMANDS = ("/status", "/mcp", "/hooks", "/permissions", "/memory", "/tools", "/diff")


@dataclass
class Looked:
    """What came of opening folders."""

    opened: int = 0
    found: list[str] = field(default_factory=list[str])


def headless(folder: HostileFolder) -> str:
    """Ask for the status and one answer of the guide; returns what went wrong with mcode itself."""
    ran = folder.machine.run("-p", "--demo", "/status", environment=folder.environment)
    return "" if ran.code == 0 else f"mcode ended with {ran.code}: {ran.err}"


def in_a_terminal(folder: HostileFolder) -> str:
    """Leave the question about the folder at its default, look around, and quit."""
    options = ("--demo", "--plain")
    with BinaryTerminal(
        folder.machine, *options, rows=100, columns=160, environment=folder.environment
    ) as terminal:
        while not any(text in str(terminal) for text in (QUESTION, READY)) and terminal.pump(0.2):
            pass
        if READY not in str(terminal):
            terminal.say("")
            terminal.wait_for(READY)
        for command in (*COMMANDS, "/quit"):
            # Lines that come faster than they are read would be taken for a paste.
            terminal.pump(PAUSE)
            terminal.say(command)
        code = terminal.wait_for_end()
    return "" if code == 0 else f"mcode ended with {code}"


WAYS: dict[str, Callable[[HostileFolder], str]] = {"headless": headless, "in a terminal": in_a_terminal}


def look(directory: Path, trap: str, way: str) -> list[str]:
    """Open one folder in one way; returns what must not have happened."""
    folder = HostileFolder.fresh(directory)
    try:
        _keep_only(folder.machine.project, TRAPS[trap])
        wrong = WAYS[way](folder)
        found = [wrong] if wrong else []
        found += [f"started or contacted: {line}" for line in folder.started()]
        found += ["somebody came to the folder's address"] if folder.contacted() else []
        found += ["a trap has run"] if folder.marker.exists() else []
        found += ["trust was stored"] if (folder.machine.home / ".mcode" / "trust.json").exists() else []
        return [f"{trap}, {way}: {each}" for each in found]
    finally:
        folder.close()


def _keep_only(project: Path, names: tuple[str, ...]) -> None:
    if not names:
        return
    tops = {Path(name).parts[0] for name in names}
    for entry in project.iterdir():
        if entry.name not in tops:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for top in tops:
        for entry in (project / top).iterdir() if (project / top).is_dir() and top[0] == "." else ():
            if top != ".git" and f"{top}/{entry.name}" not in names:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Open hostile folders.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", choices=TRAPS, metavar="TRAP", help=", ".join(TRAPS))
    given = parser.parse_args()
    traps = (given.only,) if given.only else tuple(TRAPS)
    looked = Looked()
    for _ in range(given.rounds):
        for trap in traps:
            for way in WAYS:
                with tempfile.TemporaryDirectory(prefix="mcode-hostile-") as name:
                    looked.found += look(Path(name).resolve(), trap, way)
                looked.opened += 1
    for line in looked.found[:40]:
        sys.stdout.write(f"  {line}\n")
    sys.stdout.write(
        f"hostile folders: {looked.opened} opened untrusted ({len(traps)} kinds, {len(WAYS)} ways), "
        f"{len(looked.found)} processes, connections or traces\n"
    )
    return 1 if looked.found else 0


if __name__ == "__main__":
    raise SystemExit(main())
