"""Servers over HTTP for a start: their transports, and signing the user in at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.errors import StorageError
from mcode.mcp.http import HttpTransport
from mcode.mcp.token_keyring import token_store
from mcode.process.environment import child_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.sign_in import SigningIn
    from mcode.mcp.tokens import TokenStore
    from mcode.wiring.workbench import Workbench


@dataclass(frozen=True, slots=True, repr=False)
class RemoteServers:
    """What connections over HTTP share. Has no `repr`: the environment may hold secrets."""

    start: Path
    environment: Mapping[str, str]
    """What a helper for headers gets."""
    tokens: TokenStore
    own: Mapping[str, str]
    """mcode's own environment, in which the program that opens a browser is found."""

    @classmethod
    def of(cls, bench: Workbench) -> RemoteServers:
        """Those of a workbench."""
        environment = child_environment(bench.environment, bench.settings.env, keys=bench.endpoint.secrets)
        return cls(
            bench.start, environment, token_store(bench.places.state, bench.environment), bench.environment
        )

    def transport(self, entry: ServerEntry) -> HttpTransport:
        """For one attempt to connect."""
        return HttpTransport(entry, self.start, self.environment, self.tokens)

    async def sign_in(
        self,
        entry: ServerEntry,
        show: Callable[[str], None],
        begun: Callable[[SigningIn], None] = lambda attempt: None,
    ) -> tuple[bool, str]:
        """Sign the user in at a server, in the browser; returns whether it worked, and a sentence on it.

        `show` is given what the user has to do, while this waits; `begun` gets the attempt before that.
        """
        from mcode.mcp.sign_in import SignInError, SigningIn, open_in_browser

        attempt = SigningIn(
            entry,
            self.tokens,
            self.start,
            self.environment,
            show,
            lambda address: open_in_browser(address, self.own, self.start),
        )
        begun(attempt)
        try:
            await attempt.run()
        except SignInError as error:
            return False, f"You are not signed in at {entry.name}: {error}."
        except StorageError as error:
            return False, f"You signed in at {entry.name}, but that could not be kept: {error}"
        return True, f"You are signed in at {entry.name}."
