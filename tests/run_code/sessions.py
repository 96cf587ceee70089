"""Whole sessions for the tests of programs: real rooms, small limits, a scripted model."""

from __future__ import annotations

import itertools
import json
import stat
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.children import no_process_left
from tests.stage import Stage, stage, turns, use

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


@asynccontextmanager
async def session(
    directory: Path,
    *replies: Any,
    settings: dict[str, Any] | None = None,
    source: str = "startup",
    reference: str | None = None,
    prefixes: int = 0,
) -> AsyncGenerator[Stage]:
    """A session with small limits; each reply that is text is a program, the last one is said."""
    numbers = itertools.count(1)

    def turn(reply: Any) -> Any:
        if not isinstance(reply, str):
            return reply
        number = next(numbers)
        return use("run_code", f"prog{number}" if number > 1 else "prog", code=reply)

    script = turns(*map(turn, replies), "Done.", "Done again.")
    given = settings or {}
    small = {"runCode": {"cpuSeconds": 0.5, "memoryMb": 48}, **given.get("mcode", {})}
    with no_process_left():
        async with stage(
            directory,
            script,
            settings={**given, "mcode": small},
            source=source,
            reference=reference,
            new_prefixes=prefixes,
        ) as here:
            yield here


def result_of(here: Stage, identifier: str = "prog") -> str:
    """What the model was told of a call."""
    (outcome,) = [each for each in here.outcomes if each.call.id == identifier]
    return outcome.text


def project(directory: Path, **files: str) -> Path:
    root = directory / "project"
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        (root / name.replace("_", ".")).write_text(content)
    return root


def hook_script(directory: Path, name: str, body: str) -> str:
    """A hook that notes its input in `<name>.log` and then does `body` with it, in Python, as `given`."""
    path = directory / f"{name}.py"
    log = directory / f"{name}.log"
    path.write_text(
        "import json, sys\n"
        "text = sys.stdin.read()\n"
        "given = json.loads(text)\n"
        f"open({str(log)!r}, 'a').write(json.dumps(given) + '\\n')\n"
        f"{body}\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"{sys.executable} -I -S {path}"


def noted(directory: Path, name: str) -> list[dict[str, Any]]:
    path = directory / f"{name}.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
