"""Skills as the model reads them: a line each within a token budget; after a compaction, the texts of those in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mcode.model.tokens import count_tokens
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


LONGEST = 1_536
"""Characters of one description where the settings do not say otherwise."""

SHARE = 0.01
"""Of the window, for the whole listing, where the settings do not say otherwise."""

RETURNING, RETURNING_ALL = 5_000, 25_000
"""Tokens of one skill's text, and of all together, that come back behind a summary."""


class Listed(Protocol):
    """Something that the model may use by its name."""

    @property
    def name(self) -> str: ...

    @property
    def in_listing(self) -> str:
        """What it is for."""
        ...


def listing(skills: Sequence[Listed], budget: int, longest: int) -> str:
    """A line for each skill, its description as long as the budget of tokens lets all of them be."""
    texts = [clean(skill.in_listing, Kind.MODEL) for skill in skills]
    for limit in (longest, 400, 200, 100, 50, 0):
        if limit > longest:
            continue
        lines = [_line(skill.name, text, limit) for skill, text in zip(skills, texts, strict=True)]
        whole = "\n".join(lines)
        if count_tokens(whole) <= budget:
            return whole
    kept: list[str] = []
    for line in (f"- {skill.name}" for skill in skills):
        if count_tokens("\n".join((*kept, line))) > budget:
            break
        kept.append(line)
    return "\n".join((*kept, f"- and {len(skills) - len(kept)} more that are not named here"))


def returning(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The texts of skills, by name and the one used last at the end, for behind a summary: the newest first."""
    left = RETURNING_ALL
    result: list[str] = []
    for name, text in reversed(tuple(texts.items())):
        kept = _cut(text, min(RETURNING, left))
        left -= count_tokens(kept)
        if left <= 0:
            break
        result.append(f"The skill {name}, as it was invoked:\n{kept}")
    return tuple(result)


def _line(name: str, text: str, limit: int) -> str:
    short = text if len(text) <= limit else f"{text[: max(limit - 1, 0)]}…"
    return f"- {name}: {short}" if limit and short else f"- {name}"


def _cut(text: str, tokens: int) -> str:
    counted = count_tokens(text)
    while counted > tokens:
        text = text[: int(len(text) * tokens / counted * 0.95)]
        counted = count_tokens(text)
    return text
