"""The arguments of a program's call: what it gave, read, with their text and digest for the audit."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from mcode import jsontext

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

Given: TypeAlias = "JsonObject | str"
"""Arguments as a frame has them: short ones as they are, others as JSON text; empty text where there are none."""

_LARGE = 64 * 1024
"""Characters from which on they are read in a thread."""

_CANONICAL = json.JSONEncoder(separators=(",", ":"), sort_keys=True)
"""Writes what `jsontext.canonical` writes, without being made anew for every call."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call was given."""

    given: Given
    value: JsonObject
    """Empty where the text could not be read."""
    fault: str = ""
    """Why it could not."""
    hashed: str = ""
    """The digest, where it was made beforehand because there is much to look at."""

    @property
    def digest(self) -> str:
        """SHA-256 of the value in canonical form, in hexadecimal; of the text where that is no JSON."""
        if self.hashed:
            return self.hashed
        text = text_of(self.given) if self.fault else _CANONICAL.encode(self.value)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def read_arguments(given: Given) -> Arguments:
    """Read the arguments of a call; what was not given, which has a fault of its own already, means none."""
    if isinstance(given, dict):
        return Arguments(given, given)
    return await asyncio.to_thread(_read_large, given) if len(given) > _LARGE else _read(given)


def text_of(given: Given) -> str:
    """Arguments as JSON text."""
    return given if isinstance(given, str) else jsontext.dump(given)


def _read(text: str) -> Arguments:
    try:
        return Arguments(text, jsontext.parse_object(text) if text else {})
    except jsontext.JsonError as error:
        return Arguments(text, {}, f"the argument cannot be used: {error}")


def _read_large(text: str) -> Arguments:
    read = _read(text)
    return replace(read, hashed=read.digest)  # made here, where it holds nobody up
