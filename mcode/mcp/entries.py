"""One server as the user's files name it: how to start or reach it, and where the entry stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from mcode.jsontext import JsonObject, JsonValue, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Kind: TypeAlias = Literal["stdio", "http", "sse"]
Scope: TypeAlias = Literal["managed", "user", "local", "project", "flag"]

OFF_LINE = frozenset({"enabled", "disabled"})
"""Fields that switch an entry on or off: they do not make it another server."""


@dataclass(frozen=True, slots=True, repr=False)
class ServerEntry:
    """What is known of a server before it is started. Has no `repr`: values may be secrets."""

    name: str
    """As written: letters, digits, `-` and `_`."""
    kind: Kind
    scope: Scope
    path: Path | None
    """The file that holds the entry; None for JSON on the command line."""
    command: str = ""
    """stdio: the program, variables expanded."""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """stdio: variables the server gets beside the list that every child gets, expanded."""
    cwd: Path | None = None
    """stdio: absolute; None for the start directory."""
    url: str = ""
    """http and sse: expanded."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    headers_helper: str = ""
    """http and sse: a shell command that prints a JSON object of headers, run at every connection."""
    timeout: float | None = None
    """Seconds that one call may take; None for the usual limit."""
    startup_timeout: float | None = None
    """Seconds that `initialize` may take; None for the usual limit."""
    always_load: bool = False
    disabled: bool = False
    why_disabled: str = ""
    """What switched it off, for people; empty where nothing did."""
    needs_approval: bool = False
    """A project's server whose present content the user has not approved: it is neither started nor contacted."""
    why_unapproved: str = ""
    """`new` or `changed` where `needs_approval`; else empty. A refused server is `disabled`."""
    oauth: JsonObject | None = None
    """http: `clientId`, `callbackPort`, `scopes`, `authServerMetadataUrl`; None where the entry names none."""
    include_tools: tuple[str, ...] | None = None
    """The server's own names of the only tools to take; None for all."""
    exclude_tools: tuple[str, ...] = ()
    own: JsonObject = field(default_factory=dict[str, JsonValue])
    """mcode's extras, the member `mcode` of the entry: `roots`, whether the server is told of the directories."""
    written: JsonObject = field(default_factory=dict[str, JsonValue])
    """The entry as its file has it, before expansion."""

    @property
    def hash(self) -> str:
        """SHA-256 (hex) over name and written entry: another value is another server, for caches and for trust."""
        import hashlib  # loads OpenSSL; a start without servers does without

        content = {key: value for key, value in self.written.items() if key not in OFF_LINE}
        return hashlib.sha256(canonical([self.name, content]).encode()).hexdigest()

    @property
    def target(self) -> str:
        """What it runs or where it goes, for people, as written: expanded values may hold secrets."""
        if self.kind == "stdio":
            words = [self.written.get("command", ""), *self.written.get("args", [])]
            return " ".join(str(word) for word in words)
        return str(self.written.get("url", ""))
