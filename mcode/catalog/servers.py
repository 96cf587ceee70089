"""What is known of the servers that bring tools: the little that the catalogue, the search and `/mcp` need of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

ServerState: TypeAlias = Literal[
    "off", "cached", "connecting", "connected", "failed", "needs approval", "needs sign-in", "disabled"
]
"""`cached`: its tools are known from an earlier session, and it is connected when one of them is used."""

UNAVAILABLE: frozenset[ServerState] = frozenset(
    {"off", "failed", "needs approval", "needs sign-in", "disabled"}
)
"""States in which a call of the server's tools cannot succeed as things stand."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How one server stands at this moment."""

    name: str
    state: ServerState
    tools: int
    """How many tools it has; of a `cached` or `failed` one, how many it had."""
    line: str = ""
    """First line of its instructions, else its title: foreign text, clean, one line."""
    error: str = ""
    """Why it failed, with the server's own words; clean and masked. Empty where nothing went wrong."""
    always_load: bool = False
    """Its entry says `alwaysLoad`: its tools are never deferred."""
    transport: str = ""
    """How it is reached: `stdio` for a program on this machine, `http`, `sse`."""
    taken_out: str = ""
    """What of its messages was wrong and went no further, counted over its connection; empty where nothing was."""


class ServerFacts(Protocol):
    """What the catalogue asks of whoever keeps the servers."""

    def statuses(self) -> tuple[ServerStatus, ...]:
        """All servers that are configured, in order of their names."""
        ...

    async def settle(self, seconds: float) -> None:
        """Wait, so long at most, until no server is connecting any more."""
        ...


@runtime_checkable
class ServerControl(ServerFacts, Protocol):
    """What `/mcp` can do beside looking."""

    async def reconnect(self, name: str) -> str:
        """End the server's connection, if there is one, and connect anew; returns a sentence on how it went."""
        ...

    async def stop(self, name: str) -> str:
        """End the server's connection and its program; a call of one of its tools begins it anew."""
        ...

    async def sign_in(self, name: str) -> str:
        """Sign the user in at the server; returns a sentence on how it went."""
        ...

    def log_path(self, name: str) -> Path | None:
        """The file that keeps the server's standard error; None where it has none."""
        ...


class NoServers:
    """Where no server is configured."""

    def statuses(self) -> tuple[ServerStatus, ...]:
        """None at all."""
        return ()

    async def settle(self, seconds: float) -> None:
        """There is nothing to wait for."""
        del seconds
