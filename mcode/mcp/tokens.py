"""Sign-ins at servers, and the file of the user's alone (0600) that keeps them where no keyring does.

A sign-in belongs to one name and one address: an entry that is changed to lead elsewhere has none.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Protocol

from mcode.config.json_parts import as_object
from mcode.config.plain_file import read_plain, reason
from mcode.errors import StorageError
from mcode.files import private_directory, update_json
from mcode.jsontext import JsonError, JsonObject, JsonValue, parse_object

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.mcp.entries import ServerEntry

SIZE_LIMIT = 4_000_000

EARLY = 30.0
"""Seconds before its end at which a token counts as expired."""


@dataclass(frozen=True, slots=True, repr=False)
class SignIn:
    """What a sign-in gave. Has no `repr`: all of it is secret."""

    access_token: str
    refresh_token: str = ""
    expires_at: float | None = None
    """Seconds since 1970; None where the server did not say."""
    token_endpoint: str = ""
    """Where the token is renewed."""
    resource: str = ""
    """What the token is for, where the endpoint wants to be told."""
    scope: str = ""
    client: JsonObject = field(default_factory=dict[str, JsonValue])
    """What the authorization server knows mcode as: `client_id` and the rest of its registration."""

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and time.time() > self.expires_at - EARLY

    @property
    def renewable(self) -> bool:
        return bool(self.refresh_token and self.token_endpoint and self.client.get("client_id"))


class TokenStore(Protocol):
    """Keeps sign-ins."""

    def get(self, entry: ServerEntry) -> SignIn | None:
        """The sign-in for an entry's name and address; None where there is none, or it cannot be read."""
        ...

    def put(self, entry: ServerEntry, sign_in: SignIn) -> None:
        """Keep it; raises StorageError."""
        ...

    def remove(self, entry: ServerEntry) -> bool:
        """Forget it; False where there was none. Raises StorageError."""
        ...


class TokenFile:
    """The store in `mcp-tokens.json` of mcode's directory."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._path = state / "mcp-tokens.json"
        self.fault = ""
        """Why nothing could be read the last time; empty where all is well."""

    def get(self, entry: ServerEntry) -> SignIn | None:
        """Read it from the file each time: another session may have renewed it."""
        self.fault = ""
        try:
            content = parse_object(read_plain(self._path, SIZE_LIMIT).decode())
        except FileNotFoundError:
            return None
        except OSError as error:
            self.fault = f"{self._path} cannot be read ({reason(error)}): sign in again"
            return None
        except (UnicodeDecodeError, JsonError) as error:
            self.fault = f"{self._path} is damaged ({error}): sign in again"
            return None
        return read_sign_in((as_object(content.get("signIns")) or {}).get(_key(entry)))

    def put(self, entry: ServerEntry, sign_in: SignIn) -> None:
        """Write under a lock, so that sessions do not lose one another's."""
        private_directory(self._state)
        update_json(
            self._path,
            lambda content: _with(content, entry, written_sign_in(sign_in)),
            on_unreadable=_forgotten,
        )
        self._remove_copy()

    def remove(self, entry: ServerEntry) -> bool:
        """Forget it here; the server is not told."""
        if self.get(entry) is None:
            return False
        update_json(self._path, lambda content: _with(content, entry, None), on_unreadable=_forgotten)
        self._remove_copy()
        return True

    def _remove_copy(self) -> None:
        """No copy of an earlier content: a sign-in that was removed must not live on in it."""
        try:
            self._path.with_name(f"{self._path.name}.bak").unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"{self._path}.bak, a copy with earlier sign-ins, cannot be removed ({reason(error)}). Remove it."
            ) from error


def _forgotten(_: str) -> None:
    """A damaged file is put aside; its sign-ins have to be done again."""


def _key(entry: ServerEntry) -> str:
    return f"{entry.name} {entry.url}"


def _with(content: JsonObject, entry: ServerEntry, written: JsonObject | None) -> JsonObject:
    kept = {key: one for key, one in (as_object(content.get("signIns")) or {}).items() if key != _key(entry)}
    return {**content, "signIns": kept if written is None else {**kept, _key(entry): written}}


def written_sign_in(sign_in: SignIn) -> JsonObject:
    """A sign-in as it is kept."""
    return {one.name: getattr(sign_in, one.name) for one in fields(sign_in)}


def read_sign_in(value: JsonValue) -> SignIn | None:
    """A sign-in that was kept; None for one that is not whole."""
    record = as_object(value) or {}
    token, ends = record.get("access_token"), record.get("expires_at")
    if not isinstance(token, str) or not token or not (ends is None or isinstance(ends, int | float)):
        return None
    texts = {name: record.get(name, "") for name in ("refresh_token", "token_endpoint", "resource", "scope")}
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    return SignIn(token, expires_at=ends, client=as_object(record.get("client")) or {}, **texts)
