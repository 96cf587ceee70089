"""Adds a stored sign-in to requests to a server, and renews one that has expired or is about to.

Only requests to the server's own origin carry the token. Nothing here ever asks the user: see `sign_in.py`.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcode.jsontext import JsonError, parse_object
from mcode.mcp.http_guard import same_origin

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from mcode.mcp.entries import ServerEntry
    from mcode.mcp.tokens import SignIn, TokenStore


def stored_sign_in(entry: ServerEntry, headers: Mapping[str, str], tokens: TokenStore | None) -> Any:
    """What puts the stored sign-in on requests, for the HTTP library; None where there is none, or none is wanted.

    An entry that brings an Authorization header of its own is not signed in.
    """
    if tokens is None or any(name.lower() == "authorization" for name in headers):
        return None
    sign_in = tokens.get(entry)
    return None if sign_in is None else _as_auth(Signer(entry, tokens, sign_in))


@dataclass(slots=True)
class Signer:
    """Puts the token on requests of one connection."""

    entry: ServerEntry
    tokens: TokenStore
    sign_in: SignIn
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One renewal at a time; requests themselves do not wait for one another."""

    async def flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        """The requests that one request takes, in the library's way: each is yielded, its answer comes back."""
        if not same_origin(str(request.url), self.entry.url):
            yield request
            return
        used = self.sign_in
        if used.expired and used.renewable:
            async with aclosing(self._renewing(used)) as steps:
                async for step in steps:
                    await self._take((yield step))
        used = self.sign_in
        request.headers["authorization"] = f"Bearer {used.access_token}"
        response = yield request
        if response.status_code != 401 or not used.renewable:
            return
        async with aclosing(self._renewing(used)) as steps:
            async for step in steps:
                await self._take((yield step))
        if self.sign_in is not used:
            request.headers["authorization"] = f"Bearer {self.sign_in.access_token}"
            yield request

    async def _renewing(self, used: SignIn) -> AsyncGenerator[Any]:
        """The request that renews the sign-in; none where somebody else has renewed it meanwhile."""
        async with self._lock:
            stored = await asyncio.to_thread(self.tokens.get, self.entry)
            if stored is not None and stored.access_token != used.access_token:
                self.sign_in = stored
            if self.sign_in is used:
                yield _renewal(used)

    async def _take(self, response: Any) -> None:
        """Keep what the authorization server answered; a refusal leaves things as they are."""
        if response.status_code != 200:
            return
        try:
            answer = parse_object((await response.aread()).decode())
        except (UnicodeDecodeError, JsonError):
            return
        token, lasts = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            return
        again = answer.get("refresh_token")
        self.sign_in = replace(
            self.sign_in,
            access_token=token,
            refresh_token=again if isinstance(again, str) and again else self.sign_in.refresh_token,
            expires_at=time.time() + lasts if isinstance(lasts, int | float) else None,
        )
        await asyncio.to_thread(self.tokens.put, self.entry, self.sign_in)


def _renewal(sign_in: SignIn) -> Any:
    import base64
    from urllib.parse import quote

    import httpx2

    client_id, secret = str(sign_in.client["client_id"]), sign_in.client.get("client_secret")
    form = {"grant_type": "refresh_token", "refresh_token": sign_in.refresh_token, "client_id": client_id}
    headers = {"accept": "application/json"}
    if sign_in.resource:
        form["resource"] = sign_in.resource
    if isinstance(secret, str) and secret:
        if sign_in.client.get("token_endpoint_auth_method") == "client_secret_basic":
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form["client_secret"] = secret
    return httpx2.Request("POST", sign_in.token_endpoint, data=form, headers=headers)


def _as_auth(signer: Signer) -> Any:
    import httpx2
    from typing_extensions import override

    class StoredSignIn(httpx2.Auth):
        @override
        async def async_auth_flow(
            self, request: httpx2.Request
        ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            async with aclosing(signer.flow(request)) as flow:
                with suppress(StopAsyncIteration):
                    step = await anext(flow)
                    while True:
                        step = await flow.asend((yield step))

    return StoredSignIn()
