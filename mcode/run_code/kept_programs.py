"""Programs that the user keeps: `.mcode/programs/NAME.js`, with the tools they need, to be run without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import StorageError, UsageError
from mcode.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mcode.jsontext import JsonValue

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_NEEDS = re.compile(r"//\s*needs:\s*(.*)")
_HEAD = "// kept by mcode"
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class KeptProgram:
    """One file."""

    name: str
    path: Path
    code: str
    needs: tuple[str, ...]
    """The tools that it calls, by their own names, as its head says."""
    title: str
    """Its first comment that is not the head."""

    def with_arguments(self, arguments: Mapping[str, JsonValue]) -> str:
        """The program with its name and `args` in front; the lines keep their numbers."""
        given = f"/* {self.name} */ const args = {jsontext.dump(dict(arguments))};"
        first, newline, rest = self.code.partition("\n")
        if first.lstrip().startswith("//"):
            return f"{given}{newline}{rest}"
        return f"{given} {self.code}"


def programs_directory(start: Path) -> Path:
    """Where a project keeps its programs."""
    return start / ".mcode" / "programs"


def keep_program(directory: Path, name: str, code: str, needs: Iterable[str]) -> Path:
    """Write a program to its file and return the path; raises UsageError, StorageError."""
    path = directory / f"{_checked(name)}.js"
    if path.exists():
        raise UsageError(
            f"There is a program {name} already: {path}. Nothing was written; take another name, or delete the file."
        )
    text = f"{_HEAD}: {name}; `args` holds what --arg gives\n// needs: {', '.join(sorted(needs)) or 'no tools'}\n"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        replace_file(path, f"{text}{code.rstrip()}\n".encode("utf-8", "replace"), mode=0o644)
    except OSError as error:
        raise StorageError(
            f"The program could not be kept in {path}: {error.strerror or error}. Nothing was written."
        ) from None
    return path


def kept_programs(directory: Path) -> tuple[KeptProgram, ...]:
    """Every program that can be read, by name."""
    if not directory.is_dir():
        return ()
    names = sorted(path.stem for path in directory.glob("*.js") if _NAME.match(path.stem))
    return tuple(filter(None, (find_program(directory, name) for name in names)))


def find_program(directory: Path, name: str) -> KeptProgram | None:
    """The program of this name; None where there is none. Raises StorageError where it cannot be read."""
    path = directory / f"{name}.js"
    if not _NAME.match(name) or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        code = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"The program {path} cannot be read: {error}. Nothing was run.") from None
    if len(data) > _LARGEST:
        raise StorageError(f"The program {path} has more than {_LARGEST:,} bytes. Nothing was run.")
    return KeptProgram(name, path, code, _needs(code), _title(code))


def read_arguments(words: Iterable[str]) -> dict[str, JsonValue]:
    """`key=value` words as a program's arguments; a value that is JSON is meant as such. Raises UsageError."""
    arguments: dict[str, JsonValue] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"An argument is written key=value, not {word!r}. Nothing was run.")
        try:
            arguments[key] = jsontext.parse(value)
        except jsontext.JsonError:
            arguments[key] = value
    return arguments


def _checked(name: str) -> str:
    if not _NAME.match(name):
        raise UsageError(
            f"A program's name has small letters, digits, - and _, and at most 64 of them, not {name!r}. "
            "Nothing was written."
        )
    return name


def _needs(code: str) -> tuple[str, ...]:
    for line in code.splitlines()[:10]:
        found = _NEEDS.match(line.strip())
        if found:
            names = (each.strip() for each in found[1].split(","))
            return tuple(each for each in names if each and each != "no tools")
    return ()


def _title(code: str) -> str:
    for line in code.splitlines()[:20]:
        text = line.strip()
        if text.startswith("//") and not text.startswith(_HEAD) and not _NEEDS.match(text):
            return text.lstrip("/ ").strip()
    return ""
