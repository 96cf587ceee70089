"""Files and resources that the user names with `@` in a message, and the calls that read them for the model."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.call import Outcome
    from mcode.jsontext import JsonObject

LIMIT = 20
"""Mentions of one message that are read; the model can read more by itself."""

_MENTION = re.compile(r'(?<![^\s(\[{,;])@(?:"([^"\n]+)"|([^\s"]+))')

_RESOURCE = re.compile(r"(?<![^\s(\[{,;])@([A-Za-z0-9_-]{1,64}):([A-Za-z][A-Za-z0-9+.-]*:[^\s\"]+)")

READS_RESOURCES = "ReadMcpResourceTool"
"""The tool that a mentioned resource is read with, where servers are configured."""

_CLOSING = ".,;:!?)]}'\""
"""Characters at the end of a word that may belong to the sentence and not to the name."""


@dataclass(frozen=True, slots=True)
class MentionedRead:
    """A call that reads something which a message mentions."""

    name: str
    """What is mentioned, as the message has it."""
    tool: str
    arguments: JsonObject


def file_reads(text: str, directory: Path) -> tuple[MentionedRead, ...]:
    """A read of each file that a message mentions; of a directory, its files are listed."""
    return tuple(
        MentionedRead(f"@{path}", "Glob", {"pattern": "*", "path": path})
        if (directory / path).is_dir()
        else MentionedRead(f"@{path}", "Read", {"file_path": path})
        for path in mentioned_paths(text, directory)
    )


def mentioned_paths(text: str, directory: Path) -> tuple[str, ...]:
    """The paths that a message mentions and that exist, as typed, each once and at most LIMIT of them.

    `@"a b.txt"` names a path with blanks. What names no file or directory is left to be read as it stands.
    """
    found: dict[str, None] = {}
    if "@" not in text:
        return ()
    for quoted, plain in _MENTION.findall(text):
        name = quoted or _existing(plain, directory)
        if name and _exists(name, directory):
            found[name] = None
    return tuple(found)[:LIMIT]


def resource_reads(text: str) -> tuple[MentionedRead, ...]:
    """A read of each resource that a message mentions."""
    return tuple(
        MentionedRead(f"@{server}:{uri}", READS_RESOURCES, {"server": server, "uri": uri})
        for server, uri in mentioned_resources(text)
    )


def mentioned_resources(text: str) -> tuple[tuple[str, str], ...]:
    """Server and URI of each resource that a message mentions as `@server:scheme://…`, at most LIMIT of them."""
    if "@" not in text:
        return ()
    found = {(server, uri.rstrip(_CLOSING)): None for server, uri in _RESOURCE.findall(text)}
    return tuple(found)[:LIMIT]


def mention_blocks(name: str, outcome: Outcome) -> list[JsonObject]:
    """What the model is told and shown of one mentioned file; `name` as the message has it."""
    if outcome.is_error:
        text = f"The user mentions {name}, which could not be shown: {outcome.text}"
    else:
        text = f"The user mentions {name}. {outcome.call.tool} shows:\n{outcome.text}"
    return [{"type": "text", "text": text}, *outcome.images]


def _existing(name: str, directory: Path) -> str:
    """The longest beginning of a word that names something, without what closes a sentence."""
    while name and not _exists(name, directory) and name[-1] in _CLOSING:
        name = name[:-1]
    return name


def _exists(name: str, directory: Path) -> bool:
    try:
        return os.path.lexists(directory / os.path.expanduser(name))  # noqa: PTH111 -- Path raises on `~nobody`
    except ValueError:
        return False
