"""The draft in the user's own editor."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.errors import UsageError
from mcode.process.environment import without_model_keys

if TYPE_CHECKING:
    from collections.abc import Mapping


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """The editor's program and arguments from VISUAL or EDITOR, else vi; raises UsageError for a broken value."""
    for name in ("VISUAL", "EDITOR"):
        value = environment.get(name, "").strip()
        if value:
            try:
                return shlex.split(value)
            except ValueError:
                raise UsageError(
                    f"{name} is `{value}`, whose quotes do not close; no editor was started and the draft is "
                    f"unchanged. Set {name} to a command."
                ) from None
    return ["vi"]


async def edit_file(path: Path, command: list[str]) -> None:
    """Run the editor on a file itself, which it may make. The terminal is as `edit` needs it; raises UsageError."""
    name = str(path)
    await _run(command, path, broken=f"{name} is unchanged", failed=f"look whether {name} is right")


async def edit(text: str, command: list[str]) -> str:
    """Run the editor on a private file that holds `text` and return what it left there.

    The terminal must be in its normal mode and nobody else may read from it. Raises UsageError where the
    editor cannot be started or reports a failure; the draft then counts as unchanged.
    """
    with tempfile.TemporaryDirectory(prefix="mcode-draft-") as directory:
        path = Path(directory, "draft.md")
        path.write_text(f"{text}\n" if text else "", "utf-8")
        await _run(command, path, broken="The draft is unchanged", failed="the draft is unchanged")
        return path.read_text("utf-8", "replace").removesuffix("\n")


async def _run(command: list[str], path: Path, *, broken: str, failed: str) -> None:
    """Run the editor to its end; `broken` and `failed` say what then became of the text."""
    try:  # not by `run_process`: an editor needs the terminal, which a session of its own does not have
        process = await asyncio.create_subprocess_exec(
            *command, str(path), env=without_model_keys(os.environ)
        )
    except OSError as error:
        raise UsageError(
            f"The editor `{shlex.join(command)}` could not be started: {os.strerror(error.errno or 0)}. {broken}. "
            "Set VISUAL or EDITOR to an editor that is installed."
        ) from None
    code = await process.wait()
    if code != 0:
        raise UsageError(f"The editor `{shlex.join(command)}` ended with exit code {code}; {failed}.")
