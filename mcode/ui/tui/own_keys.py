"""Key bindings of the user's: `mcode.ui.keys` of the settings, by the names of the bindings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.binding import Binding

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.binding import BindingType

_KEY = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)+[a-z0-9_]+|f\d{1,2}|[a-z]+[a-z0-9_]{2,}", re.ASCII)
"""A key that types nothing: with Ctrl or Alt, or one with a name of its own, such as `pageup`."""

_TYPES = frozenset({"space", "slash", "backslash", "comma", "minus", "plus", "underscore", "full_stop"})
"""Names of keys that type something."""

_TAKEN = frozenset({"ctrl+b", "ctrl+q", "ctrl+s"})
"""Keys that tmux or the flow control of a terminal keep."""


def names_of(bindings: Iterable[BindingType]) -> set[str]:
    """The names by which the keys of a place can be changed."""
    return {binding.id for binding in bindings if isinstance(binding, Binding) and binding.id}


def checked(wanted: Mapping[str, str], names: set[str]) -> tuple[dict[str, str], list[str]]:
    """The keys that can be used, and a sentence on each of the others."""
    usable: dict[str, str] = {}
    remarks: list[str] = []
    for name, keys in wanted.items():
        shown = clean(name, Kind.LINE)
        if name not in names:
            known = ", ".join(sorted(names))
            remarks.append(f"mcode.ui.keys: there is no `{shown}`; it was left out. The names are {known}.")
            continue
        wrong = [key for key in keys.split(",") if not _may_be_used(key.strip(), name)]
        if wrong:
            said = clean(wrong[0], Kind.LINE)
            remarks.append(
                f"mcode.ui.keys: `{said}` cannot be the key of `{shown}`, which keeps its usual one: a key there "
                "types nothing and is neither Ctrl+B, Ctrl+S nor Ctrl+Q. Examples: ctrl+x, alt+e, f5."
            )
        else:
            usable[name] = ",".join(key.strip() for key in keys.split(","))
    return usable, remarks


def _may_be_used(key: str, name: str) -> bool:
    if name.startswith("inspector.") and re.fullmatch(r"[a-z]", key):
        return True
    types = key in _TYPES or key.removeprefix("shift+") in _TYPES or re.fullmatch(r"(shift\+)?.", key)
    return _KEY.fullmatch(key) is not None and not types and key not in _TAKEN
