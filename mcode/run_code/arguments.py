"""The arguments of a program's call: read from the JSON text that it gave, with their digest for the audit."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

_LARGE = 64 * 1024
"""Characters from which on they are read in a thread."""

_CANONICAL = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
"""Writes what `jsontext.canonical` writes, without being made anew for every call."""


@dataclass(frozen=True)
class Arguments:
    """What a call was given."""

    text: str
    value: JsonObject
    """Empty where the text could not be read."""
    fault: str = ""
    """Why it could not."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the value in canonical form, in hexadecimal; of the text where that is no JSON."""
        text = self.text if self.fault else _CANONICAL.encode(self.value)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def read_arguments(text: str) -> Arguments:
    """Read the JSON text of a call's arguments; an empty one, which has a fault of its own already, means none."""
    return await asyncio.to_thread(_read_large, text) if len(text) > _LARGE else _read(text)


def _read(text: str) -> Arguments:
    try:
        return Arguments(text, jsontext.parse_object(text) if text else {})
    except jsontext.JsonError as error:
        return Arguments(text, {}, f"the argument cannot be used: {error}")


def _read_large(text: str) -> Arguments:
    read = _read(text)
    _ = read.digest  # made here, where it holds nobody up
    return read
