"""Addresses on the web: read strictly, and told apart from those of this machine and of private networks."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urljoin, urlsplit

URL_LIMIT = 2_000
"""Characters of an address."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class WebAddress:
    """One http or https address."""

    url: str
    """Whole, without a fragment, in ASCII."""
    scheme: str
    host: str
    """In ASCII and lower case, without brackets."""
    port: int
    path: str
    """Path and query, as they are sent."""

    @property
    def authority(self) -> str:
        """Host and port as a Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _port_of(self.scheme) else f"{host}:{self.port}"

    @property
    def looks_private(self) -> bool:
        """True where the host itself says that it is not on the public web, as whoever approves it can see."""
        host = self.host.rstrip(".")
        try:
            return not is_public(ipaddress.ip_address(host))
        except ValueError:
            return "." not in host or host.endswith(
                (".localhost", ".local", ".internal", ".lan", ".home.arpa")
            )


def read_address(text: str) -> WebAddress:
    """Read an address; raises ValueError with the reason for what is not a plain http(s) one."""
    if not text or len(text) > URL_LIMIT:
        raise ValueError(f"url has {len(text)} characters; it needs 1 to {URL_LIMIT}")
    if any(character <= " " or character in '\\"<>^`{|}\x7f' for character in text):
        raise ValueError(
            "url has a blank, a control character, a backslash or another character that no url has"
        )
    parts = urlsplit(text)
    scheme = parts.scheme.lower()
    if scheme not in {"http", "https"}:
        raise ValueError(f"url must begin with http:// or https://, not with {parts.scheme or 'nothing'}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url holds a user name or password; mcode sends none")
    host = _host_of(parts)
    port = parts.port or _port_of(scheme)
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(parts.query, safe='/%:@!$&()*+,;=~-._?')}" if parts.query else ""
    shown = WebAddress("", scheme, host, port, path + query)
    return WebAddress(f"{scheme}://{shown.authority}{shown.path}", scheme, host, port, shown.path)


def redirected(address: WebAddress, location: str) -> WebAddress:
    """Where an answer's Location leads. Raises ValueError as `read_address` does."""
    return read_address(urljoin(address.url, location.strip()))


def same_site(one: WebAddress, other: WebAddress) -> bool:
    """Whether a redirect stays with the host that was judged; http may become https, never the reverse."""
    before, after = (one.scheme, one.port), (other.scheme, other.port)
    return one.host == other.host and (before == after or (before, after) == (("http", 80), ("https", 443)))


async def resolve_host(address: WebAddress) -> tuple[Address, ...]:
    """Every address of the host; raises OSError where it has none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))


def is_public(address: Address) -> bool:
    """True for an address on the public internet; what a v6 address wraps counts."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_unspecified


def _host_of(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    if not host:
        raise ValueError("url names no host")
    if ":" in host:
        return str(ipaddress.IPv6Address(host))
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise ValueError(f"the host {host!r} is not a valid name") from None
    labels = ascii_host.split(".")
    if len(ascii_host) > 253 or not all(0 < len(label) < 64 for label in labels):
        raise ValueError(f"the host {host!r} is not a valid name")
    if not all(character.isalnum() or character in "-_." for character in ascii_host):
        raise ValueError(f"the host {host!r} is not a valid name")
    return ascii_host.lower()


def _port_of(scheme: str) -> int:
    return 443 if scheme == "https" else 80
