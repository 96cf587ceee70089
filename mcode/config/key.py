"""The key for the model's endpoint: where it is looked for, and what was found there.

Never in a file of a project. A key is kept in memory only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.config.key_commands import NoKeyError, ask_helper, ask_keyring, fault_of
from mcode.config.settings import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.config.settings import Settings

VARIABLES = (("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_AUTH_TOKEN", "token"))

HELPER = "apiKeyHelper"
KEYRING = "the system keyring"


@dataclass(frozen=True, slots=True)
class Credential:
    """A key, and where it came from."""

    value: str = field(repr=False)
    kind: str
    """`key`, or `token` for ANTHROPIC_AUTH_TOKEN."""
    source: str
    """For display, such as `ANTHROPIC_API_KEY in the environment`."""


@dataclass(frozen=True, slots=True)
class Search:
    """What the search for a key came to."""

    credential: Credential | None
    looked_at: tuple[tuple[str, str], ...]
    """Each place and what was there, in order, as far as the search went. No part of a key is in it."""
    problems: tuple[Problem, ...] = ()


async def find_credential(environment: Mapping[str, str], settings: Settings) -> Search:
    """Look in the environment, then ask the user's helper, then the system's keyring.

    `environment` is the process's own, with the `own_env` of the settings. A place that fails becomes a problem,
    and the search goes on.
    """
    looking = _Looking()
    for name, kind in VARIABLES:
        place = f"{name} in {'the settings' if name in settings.own_env else 'the environment'}"
        value = environment.get(name, "").strip()
        fault = fault_of(value) if value else ""
        if fault:
            looking.failed(place, f"its value {fault}", None)
        elif looking.saw(place, value, "not set"):
            return looking.result(Credential(value, kind, place))
    source = settings.api_key_helper_source
    place = f"{HELPER} in {source.name if source else '~/.mcode/settings.json'}"
    try:
        value = await ask_helper(settings.api_key_helper, environment) if settings.api_key_helper else ""
        if looking.saw(place, value, "not set"):
            return looking.result(Credential(value, "key", place))
    except NoKeyError as error:
        looking.failed(place, str(error), source.path if source else None)
    try:
        value = await ask_keyring(environment)
        if looking.saw(KEYRING, value, "no entry for mcode"):
            return looking.result(Credential(value, "key", KEYRING))
    except NoKeyError as error:
        looking.failed(KEYRING, str(error), None)
    return looking.result(None)


class _Looking:
    """The places so far."""

    def __init__(self) -> None:
        self._places: list[tuple[str, str]] = []
        self._problems: list[Problem] = []

    def saw(self, place: str, value: str, nothing: str) -> bool:
        """Note a place; True where it has a key."""
        self._places.append((place, "found" if value else nothing))
        return bool(value)

    def failed(self, place: str, why: str, file: Path | None) -> None:
        self._places.append((place, f"failed: {why}"))
        self._problems.append(Problem(file, HELPER if file else place, f"gave no key: {why}", "error"))

    def result(self, credential: Credential | None) -> Search:
        return Search(credential, tuple(self._places), tuple(self._problems))
