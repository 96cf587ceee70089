"""Signing the user in at a server: through the browser, by OAuth, with the protocol library's own provider."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mcode.mcp.callback import Callback, CallbackError
from mcode.mcp.headers import all_headers
from mcode.mcp.http_guard import SESSION, Guard, host_of, is_loopback, status_text
from mcode.mcp.library import explain, failures, loaded
from mcode.mcp.named_authority import NamedAuthority, metadata_address
from mcode.mcp.server_facts import scrubber
from mcode.mcp.tokens import SignIn
from mcode.process.environment import find_program, without_model_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.tokens import TokenStore

PATIENCE = 300.0
"""Seconds that the user has in the browser."""

HELLO: JsonObject = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "mcode", "version": "0"},
    },
}
"""A request that a server asks to sign in for, if for any."""


class SignInError(Exception):
    """The user is not signed in; the message says why, as the rest of a sentence."""


@dataclass(slots=True)
class SigningIn:
    """One attempt. Nothing is kept before the server has accepted it."""

    entry: ServerEntry
    tokens: TokenStore
    start: Path
    environment: Mapping[str, str]
    """What a helper for headers gets."""
    show: Callable[[str], None]
    """Shown the address to open, and what is waited for."""
    open_browser: Callable[[str], bool]
    """Opens the address; False where that cannot be done."""
    patience: float = PATIENCE
    callback: Callback = field(init=False)
    _storage: _Storage = field(init=False)

    async def run(self) -> None:
        """Sign in and keep it. Raises SignInError, and StorageError where it cannot be kept."""
        entry = self.entry
        if entry.kind == "stdio":
            raise SignInError("it is a program on this machine, which needs no sign-in")
        if any(name.lower() == "authorization" for name in entry.headers):
            raise SignInError("its entry has an Authorization header of its own")
        await loaded()
        earlier = await asyncio.to_thread(self.tokens.get, entry)
        self._storage = _Storage(self._known_client(earlier))
        self.callback = Callback(self._port())
        try:
            async with self.callback:
                provider = self._provider()
                await self._ask(provider)
        except (*failures(), *_oauth_failures()) as error:
            raise SignInError(scrubber(entry)(explain(error))) from None
        sign_in = self._storage.sign_in(provider.context)
        if sign_in is None:
            raise SignInError("the server asked for no sign-in")
        await asyncio.to_thread(self.tokens.put, entry, sign_in)

    def _known_client(self, earlier: SignIn | None) -> JsonObject:
        """As what the server knows mcode: named by the entry, or registered at an earlier sign-in."""
        given = self.entry.oauth or {}
        if isinstance(given.get("clientId"), str):
            secret = given.get("clientSecret")
            method = {"client_secret": secret} if isinstance(secret, str) else {}
            return {
                "client_id": given["clientId"],
                "token_endpoint_auth_method": "client_secret_post" if method else "none",
                **method,
            }
        return earlier.client if earlier is not None else {}

    def _port(self) -> int:
        """The port that the server knows, where it knows one."""
        named = (self.entry.oauth or {}).get("callbackPort")
        if isinstance(named, int):
            return named
        uris = self._storage.client.get("redirect_uris") or [""]
        try:
            return urlsplit(str(uris[0])).port or 0
        except ValueError:
            return 0

    def _provider(self) -> Any:
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata

        metadata = OAuthClientMetadata.model_validate(
            {
                "client_name": "mcode",
                "redirect_uris": [self.callback.address],
                "token_endpoint_auth_method": "none",
            }
        )
        return OAuthClientProvider(
            self.entry.url, metadata, self._storage, self._send_to_browser, self._wait_for_browser
        )

    async def _ask(self, provider: Any) -> None:
        """Ask the server something; the provider steps in where it wants a sign-in."""
        import httpx2

        headers = await all_headers(self.entry, self.start, self.environment)
        faults: list[str] = []
        guard: Any = Guard(self.entry.url, frozenset(name.lower() for name in headers), faults.append)
        named = metadata_address(self.entry.oauth)
        if named:
            guard = NamedAuthority(guard, named, self.entry.url)
        async with httpx2.AsyncClient(transport=guard, headers=headers, auth=provider) as client:
            if self.entry.kind == "sse":
                async with client.stream(
                    "GET", self.entry.url, headers={"accept": "text/event-stream"}
                ) as response:
                    status = response.status_code
            else:
                accept = {"accept": "application/json, text/event-stream"}
                async with client.stream("POST", self.entry.url, json=HELLO, headers=accept) as response:
                    status, session = response.status_code, response.headers.get(SESSION)
                if session:
                    await client.delete(self.entry.url, headers={SESSION: session})
        if status >= 400 and self._storage.tokens is None:
            raise SignInError(scrubber(self.entry)((faults or [status_text(status)])[0]))

    async def _send_to_browser(self, address: str) -> None:
        scopes = (self.entry.oauth or {}).get("scopes")
        wanted = " ".join(scopes) if isinstance(scopes, list) else scopes  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- was Any
        address = with_scope(address, wanted) if isinstance(wanted, str) and wanted else address
        host = host_of(address)
        if not address.startswith("https://") and not is_loopback(host):
            raise CallbackError(f"it would have you sign in at {host} without encryption")
        opened = self.open_browser(address)
        how = "The browser was opened at" if opened else "Open this address in a browser"
        self.show(f"{how} to sign in at {host}:\n{address}")

    async def _wait_for_browser(self) -> Any:
        from mcp.shared.auth import AuthorizationCodeResult

        visit = await self.callback.visit(self.patience)
        return AuthorizationCodeResult(code=visit.code, state=visit.state, iss=visit.issuer)


@dataclass(slots=True)
class _Storage:
    """What the provider learns, in the shape that it wants; a sign-in of its own is never found in it."""

    client: JsonObject
    tokens: Any = None
    client_info: Any = None

    async def get_tokens(self) -> None:
        """None: the user wants to sign in anew."""

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        from mcp.shared.auth import OAuthClientInformationFull

        if self.client.get("client_id"):
            self.client_info = OAuthClientInformationFull.model_validate(self.client)
        return self.client_info

    async def set_client_info(self, client_info: Any) -> None:
        self.client_info = client_info

    def sign_in(self, context: Any) -> SignIn | None:
        """What was learnt, to be kept; None where the server never asked."""
        if self.tokens is None or self.client_info is None:
            return None
        named = context.oauth_metadata and context.oauth_metadata.token_endpoint
        parts = urlsplit(str(context.server_url))
        endpoint = str(named) if named else f"{parts.scheme}://{parts.netloc}/token"
        resource = context.get_resource_url() if context.should_include_resource_param() else ""
        return SignIn(
            self.tokens.access_token,
            refresh_token=self.tokens.refresh_token or "",
            expires_at=context.token_expiry_time,
            token_endpoint=endpoint,
            resource=resource,
            scope=self.tokens.scope or "",
            client=self.client_info.model_dump(mode="json", exclude_none=True),
        )


def with_scope(address: str, scope: str) -> str:
    """The address with the scope that the user's entry names in place of the one the server proposes."""
    parts = urlsplit(address)
    query = [
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "scope"
    ]
    return urlunsplit(parts._replace(query=urlencode([*query, ("scope", scope)])))


def open_in_browser(address: str, environment: Mapping[str, str], outside: Path) -> bool:
    """Open an address in the user's browser, where there is a screen for one; returns without waiting.

    The program that does so is never taken from `outside`, the folder that mcode works in.
    """
    import subprocess

    if sys.platform == "darwin":
        name = "open"
    elif environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        name = "xdg-open"
    else:
        return False
    program = find_program(name, environment.get("PATH", os.defpath), (outside,))
    if program is None:
        return False
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(
            [program, address],
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            cwd="/",
            env=without_model_keys(environment),
            start_new_session=True,
        )
    except OSError:
        return False
    return True


def _oauth_failures() -> tuple[type[Exception], ...]:
    from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError

    return OAuthFlowError, OAuthRegistrationError, OAuthTokenError
