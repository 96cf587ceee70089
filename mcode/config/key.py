"""The key for the model's endpoint: where it is looked for, and what was found there.

Never in a file of a project. A key is kept in memory only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.keyring_entry import KEYRING, read_keyring
from mcode.config.no_key import TIME_LIMIT, NoKeyError, fault_of
from mcode.config.plain_file import reason
from mcode.config.settings import Problem
from mcode.process import ProcessSpec, run_process, without_model_keys
from mcode.process_environment import absolute_path_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.config.settings import Settings

VARIABLES = (("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_AUTH_TOKEN", "token"))

HELPER = "apiKeyHelper"


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
    looked: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for name, kind in VARIABLES:
        place = f"{name} in {'the settings' if name in settings.own_env else 'the environment'}"
        value = environment.get(name, "").strip()
        fault = fault_of(value) if value else ""
        if fault:
            problems.append(Problem(None, place, f"{fault}; it is not used", "error"))
        looked.append((place, fault or ("found" if value else "not set")))
        if value and not fault:
            return Search(Credential(value, kind, place), tuple(looked), tuple(problems))
    source = settings.api_key_helper_source
    file = source.path if source else None
    helper = f"{HELPER} in {source.name if source else '~/.mcode/settings.json'}"
    for place, path in ((helper, file), (KEYRING, None)):
        try:
            value = await (_ask_helper(settings, environment) if place == helper else read_keyring())
        except NoKeyError as failed:
            key = HELPER if path else place
            problems.append(Problem(path, key, f"gave no key: {failed}", "error"))
            looked.append((place, f"failed: {failed}"))
            continue
        looked.append((place, "found" if value else "not set" if place == helper else "no entry for mcode"))
        if value:
            return Search(Credential(value, "key", place), tuple(looked), tuple(problems))
    return Search(None, tuple(looked), tuple(problems))


async def _ask_helper(settings: Settings, environment: Mapping[str, str]) -> str | None:
    """Run the user's command. Raises NoKeyError where it gives no key.

    It runs in the root directory: the folder that mcode was started in must not decide what a relative name means.
    """
    command = settings.api_key_helper
    if not command:
        return None
    own = without_model_keys(environment)
    own["PATH"] = absolute_path_list(environment.get("PATH", ""))
    spec = ProcessSpec(("/bin/sh", "-c", command), Path("/"), own, timeout=TIME_LIMIT, output_limit=64_000)
    try:
        result = await run_process(spec)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise NoKeyError(f"the command could not be started ({why})") from None
    if result.timed_out:
        raise NoKeyError(f"the command was ended after {TIME_LIMIT:g} seconds")
    if result.exit_code != 0:
        how = f"signal {result.signal}" if result.exit_code is None else f"exit code {result.exit_code}"
        raise NoKeyError(f"the command ended with {how}{_first_line(result.stderr.text, environment)}")
    value = result.stdout.text.strip()
    fault = fault_of(value)
    if fault:
        raise NoKeyError(f"what the command printed {fault}")
    return value


def _first_line(text: str, environment: Mapping[str, str]) -> str:
    """What a command said first, without secrets; empty where it said nothing."""
    from mcode.masking import Masker  # only where a helper has failed

    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return f": {Masker(environment).mask(line[:200])}" if line else ""
