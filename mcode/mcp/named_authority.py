"""An authorization server that the user's entry names: looked up there, and not where the server of tools points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcode.config.json_parts import as_object
from mcode.jsontext import dump
from mcode.mcp.http_guard import host_of, is_loopback

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

RESOURCE = "/.well-known/oauth-protected-resource"
AUTHORITY = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


def metadata_address(oauth: JsonObject | None) -> str:
    """The address of its metadata, where the entry names one that may be asked; else empty."""
    named = (oauth or {}).get("authServerMetadataUrl")
    return named if isinstance(named, str) and may_be_asked(named) else ""


def may_be_asked(address: str) -> bool:
    """Whether nobody on the way could put another answer in its place."""
    return address.startswith("https://") or (address.startswith("http://") and is_loopback(host_of(address)))


@dataclass(slots=True)
class NamedAuthority:
    """Stands before the HTTP library's transport and answers its questions for the authorization server."""

    inner: Any
    """The transport that all requests go through in the end."""
    address: str
    resource: str
    """The server of tools, for which the sign-in is."""

    async def __aenter__(self) -> NamedAuthority:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.inner.__aexit__(*error)

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def handle_async_request(self, request: Any) -> Any:
        """A question for metadata is put to the named address; every other request goes on as it is."""
        import httpx2

        path = urlsplit(str(request.url)).path
        if request.method != "GET" or not path.startswith((RESOURCE, *AUTHORITY)):
            return await self.inner.handle_async_request(request)
        asked = httpx2.Request("GET", self.address, headers={"accept": "application/json"})
        response = await self.inner.handle_async_request(asked)
        if path.startswith(AUTHORITY) or response.status_code != 200:
            return response
        await response.aread()
        issuer = (as_object(response.json()) or {}).get("issuer")
        body = dump({"resource": self.resource, "authorization_servers": [str(issuer)]})
        return httpx2.Response(200, content=body.encode(), headers={"content-type": "application/json"})
