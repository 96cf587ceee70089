"""Targets of links that foreign text asks for."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_KEPT = "-._~:/?#[]@!$&'()*+,;=%"
"""Signs that an address may hold beside letters and digits."""


def link_target(address: str) -> str | None:
    """The address in a form that can stand in a link escape sequence, or None where none may be made.

    Only http and https addresses of a host are links, without user or password; everything but printable ASCII
    is percent-encoded, and hosts of other scripts take their ASCII form, which shows what they are. Show the
    result beside the link's text where the two differ.
    """
    try:
        parts = urlsplit(address.strip())
        host = parts.hostname or ""
        if not host.isascii():
            host = host.encode("idna").decode()
        port = f":{parts.port}" if parts.port is not None else ""
    except (ValueError, UnicodeError):
        return None
    if ":" in host:
        host = f"[{host}]"
    if parts.scheme not in {"http", "https"} or "@" in parts.netloc or _HOST.fullmatch(host) is None:
        return None
    rest = parts._replace(scheme="", netloc="").geturl()
    try:
        return f"{parts.scheme}://{host}{port}{quote(rest, safe=_KEPT)}"
    except UnicodeEncodeError:
        return None
