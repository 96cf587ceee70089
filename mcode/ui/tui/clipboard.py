"""The clipboard beside the terminal's own: by the system's program where there is one and the session is not remote."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.process.environment import find_program, without_model_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LIMIT = 2.0
"""Seconds that the program may take; it is ended then."""

WHERE = "to the terminal, for its clipboard; /copy file writes an answer to a file"
"""Behind what was copied by a command."""

_PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
"""Programs that take a text into the clipboard, with the variable that tells that their display is there."""


def clipboard_program(environment: Mapping[str, str]) -> Sequence[str] | None:
    """The program to use, never one of the project's; None over ssh, where its clipboard is the wrong machine's."""
    if any(name in environment for name in ("SSH_CONNECTION", "SSH_TTY")):
        return None
    for display, (name, *arguments) in _PROGRAMS:
        if not display or environment.get(display):
            path = find_program(name, environment.get("PATH", ""), (Path.cwd(),))
            if path is not None:
                return (str(path), *arguments)
    return None


def sent(program: str = "") -> str:
    """What was done with a text, which is not to say that it arrived."""
    also = f" and given to {program}" if program else ""
    return f"sent to the terminal{also} (Shift+drag selects past mcode)"


async def copy_beside(text: str, environment: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Hand a text that was sent to the terminal to the system's program as well, and tell so."""
    program = await copy_by_program(text, environment)
    if program is not None:
        tell(sent(program))


async def copy_by_program(text: str, environment: Mapping[str, str]) -> str | None:
    """Hand a text to the system's program; returns its name, or None where there is none or it failed.

    The program may go on in the background, as those for X do, to serve the text.
    """
    command = clipboard_program(environment)
    if command is None:
        return None
    nothing = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            env=without_model_keys(environment),
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(LIMIT):
            await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Path(command[0]).name if process.returncode == 0 else None
