"""Names of servers' tools as the model calls them: `mcp__server__tool`, in letters that every endpoint takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 64
"""Characters of a tool's own name after mapping."""

WHOLE_LIMIT = 128
"""Characters of the whole name that endpoints take."""

RESERVED = frozenset({"core", "mcode"})
"""Names under which mcode's own tools go."""

_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


def plain_name(name: str) -> str:
    """A name in ASCII letters, digits, `_` and `-`; where letters were lost, a hash keeps it apart from others."""
    mapped = _STRANGE.sub("_", name)
    if any(letter.isalnum() and not letter.isascii() for letter in name):
        return with_mark(mapped, name)
    return mapped


def with_mark(mapped: str, name: str) -> str:
    """A mapped name with six digits that only the original name has."""
    import hashlib  # loads OpenSSL; a start without servers does without

    mark = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:6]
    return f"{mapped[: LIMIT - 7]}_{mark}"


def tool_names(server: str, names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Whole names by the server's own, and why some have none.

    Where two names become the same, the one that needed no mapping keeps it, and the others get a mark, whatever
    order they come in.
    """
    distinct = list(dict.fromkeys(names))
    plain = {name: plain_name(name) for name in distinct}
    users: dict[str, list[str]] = {}
    for name, mapped in plain.items():
        users.setdefault(mapped.lower(), []).append(name)
    prefix = f"mcp__{plain_name(server)}__"
    whole: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name in distinct:
        mapped = plain[name]
        rivals = users[mapped.lower()]
        if len(rivals) > 1 and not (
            name == mapped and min(each for each in rivals if each == plain[each]) == name
        ):
            mapped = with_mark(mapped, name)
        if not mapped.strip("_-") or len(mapped) > LIMIT:
            refused[name] = f"its name has to give 1 to {LIMIT} letters, digits, _ and -"
        elif len(prefix) + len(mapped) > WHOLE_LIMIT:
            refused[name] = f"its name behind {prefix} is longer than {WHOLE_LIMIT} characters"
        else:
            whole[name] = prefix + mapped
    return whole, refused


def rivalry(server: str, others: Iterable[str]) -> str:
    """Why a server cannot have its name beside others that came first; empty where it can.

    Names that differ in case or punctuation only would be confused by people and by rules.
    """
    own = plain_name(server).lower()
    if own in RESERVED or not own.strip("_-"):
        return f"the name {server} is mcode's own; give the server another one"
    for other in others:
        taken = plain_name(other).lower()
        if _joined(own) == _joined(taken) or own.startswith(f"{taken}__") or taken.startswith(f"{own}__"):
            return f"its tools would have the same names as those of the server {other}; give one of them another name"
    return ""


def _joined(name: str) -> str:
    return re.sub(r"[-_]+", "_", name)
