"""Which allow rules of a project's local settings mcode itself wrote, because the user answered "always".

A folder that is cloned or unpacked can bring a local settings file of its own, so standing in that file
proves nothing. The proof is a record in the user's directory: a hash of the rule, under the project's path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.config.plain_file import read_plain, reason
from mcode.jsontext import JsonError, canonical, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.jsontext import JsonObject, JsonValue

SIZE_LIMIT = 16_000_000


def rule_mark(behavior: str, rule: str) -> str:
    """What the record holds of a rule."""
    import hashlib  # loads OpenSSL; only where a project has local settings of ours

    return hashlib.sha256(canonical([behavior, rule]).encode()).hexdigest()


def read_marks(record: Path, project: Path) -> tuple[frozenset[str], str]:
    """The marks of the rules written for a project, and why there are none if the record cannot be read."""
    try:
        content = parse_object(read_plain(record, SIZE_LIMIT).decode())
    except FileNotFoundError:
        return frozenset(), ""
    except OSError as error:
        return frozenset(), f"cannot be read ({reason(error)})"
    except (UnicodeDecodeError, JsonError) as error:
        return frozenset(), f"is damaged ({error})"
    entry = (as_object(content.get("projects")) or {}).get(str(project))
    return frozenset(_marks_of(entry, folder_number(project))), ""


def with_mark(content: JsonObject, project: Path, mark: str) -> JsonObject:
    """The record with one rule more; everything else in it stays."""
    return _with_marks(content, project, lambda marks: marks if mark in marks else [*marks, mark])


def without_mark(content: JsonObject, project: Path, mark: str) -> JsonObject:
    """The record without a rule: it counts no longer, also where the project's file gets it back from elsewhere."""
    return _with_marks(content, project, lambda marks: [each for each in marks if each != mark])


def _with_marks(content: JsonObject, project: Path, change: Callable[[list[str]], list[str]]) -> JsonObject:
    number = folder_number(project)
    projects = dict(as_object(content.get("projects")) or {})
    projects[str(project)] = {
        "folder": number,
        "rules": change(_marks_of(projects.get(str(project)), number)),
    }
    return {**content, "projects": projects}


def folder_number(project: Path) -> int:
    """Tells a folder from another one that was made later under the same path; 0 where there is none."""
    try:
        return project.stat().st_ino
    except OSError:
        return 0


def _marks_of(value: JsonValue, number: int) -> list[str]:
    entry = as_object(value)
    if entry is None or entry.get("folder") != number:
        return []
    return [mark for mark in as_list(entry.get("rules")) or [] if isinstance(mark, str)]
