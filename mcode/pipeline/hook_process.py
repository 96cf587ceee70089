"""Running one hook: the program, what it is told, and how it ended."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcode import jsontext
from mcode.process.environment import find_program, without_model_keys
from mcode.process.run import ProcessSpec, run_process

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.config.settings import HookHandler
    from mcode.jsontext import JsonObject

_OUTPUT_LIMIT = 512 * 1024
"""Bytes of each stream that a hook may print."""

_PROJECT = re.compile(r"\$\{(?:CLAUDE|MCODE)_PROJECT_DIR\}")


class HookContext(Protocol):
    """What every hook is told of the session; read anew for each run."""

    @property
    def session_id(self) -> str: ...

    @property
    def transcript_path(self) -> Path: ...

    @property
    def cwd(self) -> Path:
        """Where hooks run: the shell's directory."""
        ...

    @property
    def permission_mode(self) -> str: ...

    @property
    def effort(self) -> str:
        """How hard the model is asked to try; empty where nothing asks for that."""
        ...

    @property
    def project_directory(self) -> Path: ...

    @property
    def environment(self) -> Mapping[str, str]:
        """What hooks inherit; the model's keys are taken out of it."""
        ...


@dataclass(frozen=True, slots=True)
class Ran:
    """How one run of a hook ended."""

    exit_code: int | None
    """None where it has none: not started, timed out, ended by a signal."""
    stdout: str
    stderr: str
    duration: float
    problem: str
    """Why there is no exit code, or why the output cannot be read; empty otherwise."""


async def run_hook(
    handler: HookHandler, message: JsonObject, context: HookContext, timeout: float, grace: float
) -> Ran:
    """Run a hook with `message` on its standard input. Cancellation ends it with all it has started."""
    project = context.project_directory
    spec = ProcessSpec(
        argv=_command(handler, context),
        cwd=context.cwd if context.cwd.is_dir() else project,
        env={
            **without_model_keys(context.environment),
            "CLAUDE_PROJECT_DIR": str(project),
            "MCODE_PROJECT_DIR": str(project),
        },
        stdin=_encode(message),
        timeout=timeout,
        output_limit=_OUTPUT_LIMIT,
        grace=grace,
    )
    try:
        result = await run_process(spec)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Ran(None, "", "", 0.0, f"it cannot be started: {spec.argv[0]}: {reason}")
    problem = ""
    if result.timed_out:
        problem = f"it timed out after {timeout:g} s"
    elif result.signal is not None:
        problem = f"it was killed by {result.signal}"
    elif not result.stdout.is_whole:
        problem = f"it printed {result.stdout.total:,} bytes; at most {_OUTPUT_LIMIT:,} are read"
    exit_code = None if problem else result.exit_code
    return Ran(exit_code, result.stdout.text, result.stderr.text, result.duration, problem)


def _command(handler: HookHandler, context: HookContext) -> tuple[str, ...]:
    """The arguments to start. A shell expands the project's directory itself, where it cannot be taken for code."""
    if handler.args is None:
        return (_shell(handler, context), "-c", handler.command)
    project = str(context.project_directory)
    return tuple(_PROJECT.sub(lambda _: project, part) for part in (handler.command, *handler.args))


def _shell(handler: HookHandler, context: HookContext) -> str:
    wanted = handler.shell or "bash"
    found = find_program(wanted, context.environment.get("PATH", ""), (context.project_directory,))
    return str(found) if found is not None else wanted if handler.shell else "/bin/sh"


def _encode(message: JsonObject) -> bytes:
    try:
        return jsontext.dump(message).encode()
    except UnicodeEncodeError:  # half a surrogate pair can only be written as an escape
        return json.dumps(message).encode()
