"""What a user adds to tools of servers without touching the servers: `.mcode/tools.json`, `~/.mcode/tools.json`.

{"mcp__jira__create_issue": {
    "hint": "bug ticket story", "description": "Creates an issue.", "placement": "resident",
    "examples": [{"project": "APP", "summary": "Login fails"}]}}
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.catalog.placement import PINS, Pin
from mcode.config.hint_file import SIZE_LIMIT
from mcode.config.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject, JsonValue

TEXT_LIMIT = 2_000
"""Characters of a description and of the words to search by."""

KEYS = ("hint", "description", "placement", "examples")


@dataclass(frozen=True, slots=True)
class Hint:
    """What is added to one tool."""

    hint: str = ""
    """Words by which the search finds it as well."""
    description: str = ""
    """Stands in place of the tool's own; empty for none."""
    placement: Pin | None = None
    examples: tuple[JsonObject, ...] = ()
    """Realistic arguments."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What the files say together."""

    tools: dict[str, Hint]
    """By name of the tool."""
    problems: tuple[str, ...] = ()
    """What could not be used, a sentence each."""

    @property
    def pins(self) -> dict[str, Pin]:
        """The placements among them."""
        return {name: hint.placement for name, hint in self.tools.items() if hint.placement is not None}


def read_hints(files: Sequence[Path], digests: Mapping[Path, str] | None = None) -> Hints:
    """Read files of hints, the strongest first; of each part of a hint the first that is given counts.

    `digests`: SHA-256 of files that count only with the very content that the user approved.
    """
    tools: dict[str, Hint] = {}
    problems: list[str] = []
    for path in files:
        for name, hint in _read_file(path, (digests or {}).get(path), problems).items():
            tools[name] = _merged(tools[name], hint) if name in tools else hint
    return Hints(tools, tuple(problems))


def _read_file(path: Path, digest: str | None, problems: list[str]) -> dict[str, Hint]:
    try:
        data = read_plain(path, SIZE_LIMIT)
        if len(data) > SIZE_LIMIT:
            problems.append(f"{path} is larger than {SIZE_LIMIT:,} bytes; it is skipped")
            return {}
        if digest is not None and hashlib.sha256(data).hexdigest() != digest:
            problems.append(f"{path} has changed since it was approved; it is skipped in this session")
            return {}
        content = jsontext.parse_object(data.decode())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, jsontext.JsonError) as error:
        problems.append(f"{path} cannot be used, so its hints do not count: {error}")
        return {}
    found: dict[str, Hint] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            found[name] = _hint(cast("JsonObject", value), f"{path}: {name}", problems)
        else:
            problems.append(f"{path}: {name} takes an object with {', '.join(KEYS)}; it is ignored")
    return found


def _hint(value: JsonObject, where: str, problems: list[str]) -> Hint:
    unknown = [key for key in value if key not in KEYS]
    problems += [f"{where}.{key} is not known; a hint has {', '.join(KEYS)}" for key in unknown]
    placement = value.get("placement")
    pin: Pin | None = next((known for known in PINS if known == placement), None)
    if placement is not None and pin is None:
        problems.append(f"{where}.placement takes one of {', '.join(PINS)}, not {placement!r}; it is ignored")
    return Hint(
        hint=_text(value.get("hint"), f"{where}.hint", problems),
        description=_text(value.get("description"), f"{where}.description", problems),
        placement=pin,
        examples=_examples(value.get("examples"), f"{where}.examples", problems),
    )


def _text(value: JsonValue, where: str, problems: list[str]) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        problems.append(f"{where} takes a text; it is ignored")
        return ""
    return value.strip()[:TEXT_LIMIT]


def _examples(value: JsonValue, where: str, problems: list[str]) -> tuple[JsonObject, ...]:
    if value is None:
        return ()
    listed = cast("list[JsonValue]", value) if isinstance(value, list) else [None]
    good = tuple(cast("JsonObject", each) for each in listed if isinstance(each, dict))
    if len(good) < len(listed):
        problems.append(
            f"{where} takes a list of objects, each the arguments of a call; the others are ignored"
        )
    return good


def _merged(strong: Hint, weak: Hint) -> Hint:
    return replace(
        strong,
        hint=strong.hint or weak.hint,
        description=strong.description or weak.description,
        placement=strong.placement or weak.placement,
        examples=strong.examples or weak.examples,
    )
