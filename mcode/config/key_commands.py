"""Getting the key from a program: the user's `apiKeyHelper`, or a look into the system's keyring."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.config.plain_file import reason
from mcode.process.environment import absolute_path_list, without_model_keys
from mcode.process.run import ProcessSpec, run_process

if TYPE_CHECKING:
    from collections.abc import Mapping

TIME_LIMIT = 10.0
"""Seconds that a program may take; a keyring may ask to be unlocked."""

SERVICE, USER = "mcode", "api-key"
"""Under which the keyring keeps the key."""

LOOK_INTO_KEYRING = f"""\
try:
    import keyring, keyring.errors
except ImportError:
    raise SystemExit
try:
    print(keyring.get_password({SERVICE!r}, {USER!r}) or "")
except keyring.errors.NoKeyringError:
    pass
"""
"""Runs in a Python of its own: back ends are foreign plug-ins that may hang or fail in any way."""


class NoKeyError(Exception):
    """A program that should give a key gave none; the message says why and holds nothing secret."""


async def ask_helper(command: str, environment: Mapping[str, str], *, limit: float = TIME_LIMIT) -> str:
    """The key that the user's shell command prints. Raises NoKeyError."""
    value = await _output_of(("/bin/sh", "-c", command), environment, limit)
    fault = fault_of(value)
    if fault:
        raise NoKeyError(f"what the command printed {fault}")
    return value


async def ask_keyring(environment: Mapping[str, str]) -> str:
    """The key in the keyring; empty where there is none, or no keyring at all. Raises NoKeyError."""
    if importlib.util.find_spec("keyring") is None:
        return ""
    value = await _output_of((sys.executable, "-P", "-c", LOOK_INTO_KEYRING), environment, TIME_LIMIT)
    fault = fault_of(value) if value else ""
    if fault:
        raise NoKeyError(f"its entry {fault}")
    return value


def fault_of(value: str) -> str:
    """Why a text can be no key, to follow its name; empty where it can be one."""
    if not value:
        return "is empty"
    if len(value.splitlines()) > 1:
        return "has more than one line"
    if not (value.isascii() and value.isprintable()) or " " in value:
        return "has blanks or characters that no key has"
    return ""


async def _output_of(argv: tuple[str, ...], environment: Mapping[str, str], limit: float) -> str:
    """What a program prints, trimmed.

    It runs in the root directory, without the model's keys, and with no relative directory on its PATH: the folder
    that mcode was started in must not decide what a name means.
    """
    own = without_model_keys(environment)
    own["PATH"] = absolute_path_list(environment.get("PATH", ""))
    spec = ProcessSpec(argv, Path("/"), own, timeout=limit, output_limit=64_000)
    try:
        result = await run_process(spec)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise NoKeyError(f"the command could not be started ({why})") from None
    if result.timed_out:
        raise NoKeyError(f"the command was ended after {limit:g} seconds")
    if result.exit_code != 0:
        how = f"signal {result.signal}" if result.exit_code is None else f"exit code {result.exit_code}"
        raise NoKeyError(f"the command ended with {how}{_last_line(result.stderr.text, environment)}")
    return result.stdout.text.strip()


def _last_line(text: str, environment: Mapping[str, str]) -> str:
    """What a program said last, without secrets; empty where it said nothing."""
    from mcode.masking import Masker  # many expressions to compile; only where something has failed

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {Masker(environment).mask(lines[-1][:200])}" if lines else ""
