"""The environment of child processes, and where mcode's own helper programs are found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MODEL_KEYS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"})
"""Variables that hold the key of the model's endpoint, or may hold it; no child process gets them."""

_PASSED_ON = frozenset({"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"})

_ALWAYS_SET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "MCODE": "1",
}
"""Nothing may wait for a reader, open an editor or colour its output."""

_CHANGES_THE_SHELL = frozenset(
    {
        *("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4"),
        *("IFS", "CDPATH", "GLOBIGNORE"),
    }
)
_CHANGES_THE_LOADER = ("BASH_FUNC_", "LD_", "DYLD_")

_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


def child_environment(
    source: Mapping[str, str], extra: Mapping[str, str] | None = None, *, keys: Collection[str] = ()
) -> dict[str, str]:
    """Build the environment of a command from a list of what is harmless, never by removing from the whole.

    `source` is mcode's own environment, `extra` what the user wants passed on beyond the list. Neither can
    bring in what changes how the shell or the loader works, or one of the model's `keys` under any name.
    """
    chosen = {name: value for name, value in source.items() if name in _PASSED_ON or name.startswith("LC_")}
    chosen.update(extra or {})
    allowed = {name: value for name, value in chosen.items() if _may_pass(name, value, keys)}
    allowed["PATH"] = absolute_path_list(allowed.get("PATH", ""))
    return allowed | _ALWAYS_SET


def without_model_keys(environment: Mapping[str, str], *, keys: Collection[str] = ()) -> dict[str, str]:
    """The whole environment but the model's keys, for programs that the user set up: hooks and helpers."""
    return {
        name: value
        for name, value in environment.items()
        if name not in MODEL_KEYS and not _holds_key(value, keys)
    }


def absolute_path_list(path: str) -> str:
    """A PATH without its empty and relative entries, through which a project could slip in a program."""
    kept = [entry for entry in path.split(os.pathsep) if Path(entry).is_absolute()]
    return os.pathsep.join(kept) or _USUAL_PATH


def find_program(name: str, path: str, outside: Sequence[Path] = ()) -> Path | None:
    """Find a helper program of mcode's own on `path`, passing over directories in `outside` (the workspace).

    Both the entry and what it links to must lie outside. None where there is no such program.
    """
    for entry in absolute_path_list(path).split(os.pathsep):
        candidate = Path(entry, name)
        if not (candidate.is_file() and os.access(candidate, os.X_OK)):
            continue
        places = (Path(os.path.normpath(candidate)), candidate.resolve())
        if not any(place.is_relative_to(root) for root in outside for place in places):
            return candidate
    return None


def _may_pass(name: str, value: str, keys: Collection[str]) -> bool:
    return not (
        name in _CHANGES_THE_SHELL
        or name.startswith(_CHANGES_THE_LOADER)
        or name in MODEL_KEYS
        or _holds_key(value, keys)
    )


def _holds_key(value: str, keys: Collection[str]) -> bool:
    return any(key and key in value for key in keys)
