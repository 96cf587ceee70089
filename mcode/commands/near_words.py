"""What a command says of a word that it does not know: the nearest ones that it does."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from mcode.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def near_words(word: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Up to `count` of the known words that begin with `word` or look like it, the best first."""
    names = tuple(dict.fromkeys(known))
    begins = [name for name in names if word and name.lower().startswith(word.lower())]
    by_lower = {name.lower(): name for name in reversed(names)}
    close = [by_lower[name] for name in get_close_matches(word.lower(), by_lower, count, 0.65)]
    return tuple(dict.fromkeys((*begins, *close)))[:count]


def did_you_mean(word: str, known: Iterable[str], before: str = "") -> str:
    """` Did you mean view?`, with a blank in front; empty where nothing is near. `before` stands before each."""
    near = near_words(word, known)
    return f" Did you mean {' or '.join(before + each for each in near)}?" if near else ""


def unknown_word(
    command: str, given: str, known: Iterable[str], usage: str, unchanged: str = "nothing was done"
) -> UsageError:
    """The error for a word behind `command` (`/context`) that is none of its own; `given` is all that was typed."""
    first = given.split(maxsplit=1)[0] if given.strip() else given
    return UsageError(
        f"{command} has no `{given}`; {unchanged}.{did_you_mean(first, known)} Usage: {usage.rstrip('.')}"
    )
