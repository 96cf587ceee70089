"""Sign-ins in the system's keyring, where the package `keyring` is there and has one; else in the file.

The package runs in a Python of its own: its back ends are foreign plug-ins that may hang or fail in any way.
"""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.config.key_commands import SERVICE
from mcode.errors import StorageError
from mcode.mcp.tokens import TokenFile, read_sign_in, written_sign_in
from mcode.process.environment import absolute_path_list, without_model_keys

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.tokens import SignIn, TokenStore

TIME_LIMIT = 20.0
"""Seconds that the keyring may take; it may ask to be unlocked."""

NO_KEYRING = 3
"""Exit code of the program where there is no keyring at all."""

PROGRAM = f"""\
import sys
import keyring, keyring.errors
action, name = sys.argv[1:]
try:
    if action == "put":
        keyring.set_password({SERVICE!r}, name, sys.stdin.read())
    elif action == "remove":
        keyring.delete_password({SERVICE!r}, name)
    else:
        sys.stdout.write(keyring.get_password({SERVICE!r}, name) or "")
except keyring.errors.NoKeyringError:
    raise SystemExit({NO_KEYRING})
except keyring.errors.PasswordDeleteError:
    pass
except Exception as error:
    raise SystemExit(f"{{type(error).__name__}}: {{error}}")
"""


def token_store(state: Path, environment: Mapping[str, str]) -> TokenStore:
    """Where sign-ins are kept on this machine. `environment` is mcode's own; keyrings are found by it."""
    file = TokenFile(state)
    if importlib.util.find_spec("keyring") is None:
        return file
    return TokenKeyring(file, environment)


class _NoKeyringError(Exception):
    """There is no keyring that could keep anything."""


class TokenKeyring:
    """The store in the keyring. What is in the file from earlier counts until it is written anew."""

    def __init__(self, file: TokenFile, environment: Mapping[str, str]) -> None:
        self._file = file
        self._environment = without_model_keys(environment)
        self._environment["PATH"] = absolute_path_list(environment.get("PATH", ""))

    def get(self, entry: ServerEntry) -> SignIn | None:
        """What the keyring has, or else the file. One that cannot be read counts as none."""
        try:
            text = self._run("get", entry)
            value = jsontext.parse_object(text) if text else None
        except (_NoKeyringError, StorageError, jsontext.JsonError):
            value = None
        found = read_sign_in(value) if value is not None else None
        return found or self._file.get(entry)

    def put(self, entry: ServerEntry, sign_in: SignIn) -> None:
        """Keep it in the keyring alone; in the file where there is no keyring. Raises StorageError."""
        try:
            self._run("put", entry, jsontext.dump(written_sign_in(sign_in)))
        except _NoKeyringError:
            self._file.put(entry, sign_in)
        else:
            self._file.remove(entry)

    def remove(self, entry: ServerEntry) -> bool:
        """Forget it, wherever it is; the server is not told. Raises StorageError."""
        held = self.get(entry) is not None
        with contextlib.suppress(_NoKeyringError):
            self._run("remove", entry)
        self._file.remove(entry)
        return held

    def _run(self, action: str, entry: ServerEntry, secret: str = "") -> str:
        """What the program says. Raises _NoKeyringError, and StorageError with the keyring's own words."""
        command = [sys.executable, "-P", "-c", PROGRAM, action, f"mcp {entry.name} {entry.url}"]
        try:
            ran = subprocess.run(
                command,
                input=secret,
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT,
                check=False,
                cwd="/",
                env=self._environment,
            )
        except subprocess.TimeoutExpired:
            raise StorageError(_refused(entry, f"it took more than {TIME_LIMIT:g} seconds")) from None
        except (OSError, ValueError) as error:
            raise StorageError(_refused(entry, f"its program could not be started ({error})")) from None
        if ran.returncode == NO_KEYRING:
            raise _NoKeyringError
        if ran.returncode != 0:
            lines = ran.stderr.strip().splitlines() or ["it ended without a word"]
            raise StorageError(_refused(entry, lines[-1][:200]))
        return ran.stdout


def _refused(entry: ServerEntry, said: str) -> str:
    return (
        f"the keyring did not do it for {entry.name}: {said}. Nothing was changed. Unlock it and try again, or set "
        "PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring to have sign-ins in a file."
    )
