"""An image in the clipboard, by the system's program that hands it over; and pasted text that names image files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mcode.errors import UsageError
from mcode.images.formats import label_of
from mcode.process.environment import find_program, without_model_keys
from mcode.process.helper import run_helper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LIMIT = 5.0
"""Seconds that the program may take; it is ended then."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of an image that are taken from it."""

LONGEST_PASTE = 8_000
"""Characters of a paste that may be names of files."""

_PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
"""Programs that write the image of the clipboard, with the variable that tells that their display is there."""


async def clipboard_image(environment: Mapping[str, str]) -> bytes:
    """The image in the clipboard. Raises UsageError that says what was tried and what helps."""
    if any(name in environment for name in ("SSH_CONNECTION", "SSH_TTY")):
        raise UsageError(
            "Over ssh the clipboard is on the other machine. Copy the image here and name it with @, or drop its path."
        )
    tried: list[str] = []
    for command in _commands(environment):
        tried.append(Path(command[0]).name)
        data = await _output_of(command, environment)
        if data:
            return data
    if tried:
        raise UsageError(
            f"There is no image in the clipboard ({', '.join(tried)} gave none). Nothing was pasted."
        )
    raise UsageError(
        "The clipboard cannot be read for an image: none of wl-paste, xclip and pngpaste is here. Nothing was pasted; "
        "an image file can be named with @."
    )


def _commands(environment: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Those that are here, but none of the project's."""
    for display, (name, *arguments) in _PROGRAMS:
        if not display or environment.get(display):
            path = find_program(name, environment.get("PATH", ""), (Path.cwd(),))
            if path is not None:
                yield (str(path), *arguments)


async def _output_of(command: tuple[str, ...], environment: Mapping[str, str]) -> bytes:
    """What the program writes; nothing where it fails, takes too long or writes too much."""
    try:
        printed = await run_helper(
            command, Path("/"), without_model_keys(environment), seconds=LIMIT, output_limit=MOST_BYTES
        )
    except OSError:
        return b""
    return bytes(printed.output) if printed.exit_code == 0 and not printed.stopped else b""


def mentions_of(pasted: str) -> str:
    """Mentions of the image files that a pasted text names and nothing else, as terminals paste dropped files.

    Empty where it is any other text.
    """
    if len(pasted) > LONGEST_PASTE or not pasted.strip() or "\n" in pasted.strip():
        return ""
    whole = Path(pasted.strip()).expanduser() if pasted.strip().startswith(("/", "~")) else None
    if whole is not None and _is_image(whole):
        return _mention(whole)
    try:
        words = shlex.split(pasted)
    except ValueError:
        return ""
    paths = [_path(word) for word in words]
    if paths and all(path is not None and _is_image(path) for path in paths):
        return " ".join(_mention(path) for path in paths if path is not None)
    return ""


def _path(word: str) -> Path | None:
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    return Path(word).expanduser() if word.startswith(("/", "~/")) else None


def _is_image(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return bool(label_of(file.read(16)))
    except (OSError, ValueError):
        return False


def _mention(path: Path) -> str:
    name = str(path)
    return f'@"{name}"' if any(letter.isspace() for letter in name) else f"@{name}"
