"""A server of tools that wants a sign-in, and the authorization server beside it, on the loopback; with faults."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.mcp.http_server import Answer, Asked, result_of

if TYPE_CHECKING:
    from tests.mcp.http_server import HttpServer


@dataclass(slots=True)
class OAuthServer:
    """The handler of both. The faults are named where they strike."""

    fault: str = ""
    lasts: int = 3600
    """Seconds that a token is said to last."""
    server: HttpServer | None = None
    valid: set[str] = field(default_factory=set[str])
    """Access tokens that count."""
    challenges: dict[str, str] = field(default_factory=dict[str, str])
    """Code to the challenge it was asked for with."""
    given: int = 0

    @property
    def base(self) -> str:
        assert self.server is not None
        return self.server.url

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> Answer | None:
        path = urlsplit(asked.path).path
        if path.startswith("/.well-known/oauth-protected-resource"):
            issuer = "http://169.254.1.1" if self.fault in ("leads-away", "hidden") else self.base
            return Answer.json({"resource": f"{self.base}/mcp", "authorization_servers": [issuer]})
        if path == "/hidden/metadata" or (path.startswith("/.well-known/") and self.fault != "hidden"):
            return self._metadata()
        if path.startswith("/.well-known/"):
            return Answer(404)
        if path == "/register":
            return self._register(asked)
        if path == "/token":
            return self._token(asked)
        return self._tools(asked)

    def _metadata(self) -> Answer:
        other = "http://login.example" if self.fault == "unencrypted" else self.base
        return Answer.json(
            {
                "issuer": self.base,
                "authorization_endpoint": f"{other}/authorize",
                "token_endpoint": f"{self.base}/token",
                "registration_endpoint": f"{self.base}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    def _register(self, asked: Asked) -> Answer:
        wanted = asked.message
        if self.fault == "no-registration":
            return Answer.json({"error": "access_denied"}, 403)
        return Answer.json({**wanted, "client_id": f"client-{len(self.challenges) + 1}"}, 201)

    def authorize(self, address: str) -> str:
        """What the user's browser does at the authorization server: where it is sent back to."""
        query = dict(parse_qsl(urlsplit(address).query))
        if self.fault == "refused":
            return f"{query['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': query['state']})}"
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = query["code_challenge"]
        state = "another" if self.fault == "wrong-state" else query["state"]
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': state})}"

    def _token(self, asked: Asked) -> Answer:
        form = asked.form
        if form["grant_type"] == "refresh_token":
            if self.fault == "no-renewal" or form["refresh_token"] != f"refresh-{self.given}":
                return Answer.json({"error": "invalid_grant"}, 400)
        else:
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != self.challenges.get(form["code"]):
                return Answer.json({"error": "invalid_grant"}, 400)
        self.given += 1
        self.valid = {f"access-token-{self.given}"}
        return Answer.json(
            {
                "access_token": f"access-token-{self.given}",
                "token_type": "Bearer",
                "expires_in": self.lasts,
                "refresh_token": f"refresh-{self.given}",
            }
        )

    def _tools(self, asked: Asked) -> Answer:
        if asked.method != "POST":
            return Answer(405 if asked.method == "GET" else 200)
        if asked.headers.get("authorization", "").removeprefix("Bearer ") not in self.valid:
            place = f'Bearer resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
            return Answer(401, b"", {"www-authenticate": place})
        result = result_of(asked)
        return Answer(202) if result is None else Answer.json(result)


async def visit(address: str, *, host: str | None = None, method: str = "GET") -> str:
    """Go to an address on this machine as a browser does; returns the whole answer."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection("127.0.0.1", parts.port)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: {host or parts.netloc}\r\n\r\n".encode())
    await writer.drain()
    answer = (await reader.read()).decode()
    writer.close()
    return answer
