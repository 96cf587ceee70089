"""Where the JavaScript engine's extension module is, and why it is missing."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

MODULE = "_quickjs"
WANTED = "quickjs-ng>=0.17,<0.18"


@dataclass(frozen=True, slots=True)
class Library:
    """The engine as it is installed."""

    directory: Path
    """The directory that holds the extension module."""
    version: str = ""
    """Of the package `quickjs-ng`; empty where none is registered beside the module."""
    rival: str = ""
    """Version of the package `quickjs`, which installs a module of the same name over it."""


def find_library() -> Library | None:
    """Look for the module without importing it; None where there is none."""
    found = importlib.util.find_spec(MODULE)
    if found is None or found.origin is None:
        return None
    directory = Path(found.origin).parent
    return Library(directory, _version(directory, "quickjs_ng"), _version(directory, "quickjs"))


def why_missing() -> str:
    """What to say where there is no engine."""
    return (
        f"The JavaScript engine is not installed (package {WANTED}), so there is no run_code in this session. "
        "Everything else works. Install it into mcode's environment; on systems without a ready-made wheel that "
        "needs a C compiler."
    )


def why_unusable(library: Library, problem: str) -> str:
    """What to say where the engine that is there cannot be used."""
    if library.rival:
        return (
            f"The package quickjs {library.rival} is installed beside quickjs-ng and hides it: {problem}. "
            "Remove it and install the right one again: pip uninstall quickjs, then "
            f'pip install --force-reinstall "{WANTED}".'
        )
    version = f" {library.version}" if library.version else ""
    return (
        f"The JavaScript engine quickjs-ng{version} in {library.directory} cannot be used: {problem}. "
        f'Install it again: pip install --force-reinstall "{WANTED}".'
    )


def _version(directory: Path, package: str) -> str:
    for entry in directory.glob(f"{package}-*.dist-info"):
        return entry.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    return ""
