"""Secrets by their place: in headers of requests, and in the addresses of servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.masking.marks import OPEN, compiled, mark
from mcode.masking.names import Strength, is_placeholder, looks_random, strength_of_name

if TYPE_CHECKING:
    import re

_AUTHORIZATION = (
    r"""(?i)authorization\\{0,4}["'`]?\]?[ \t]{0,3}[:=,][ \t]{0,3}[rbfu]?\\{0,4}["'`]?"""
    r"""(?P<scheme>(?:bearer|basic|token|apikey|api-key|negotiate|ntlm)[ \t]{1,3})?"""
    r"""(?!digest|hawk|aws4)(?P<value>[^\s"'`\\<>]{6,}+)"""
)
_BEARER = r"(?i)bearer[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,}+)"
_PARAMETERS = r"(?i)(?:digest|hawk|aws4-hmac-sha256)[ \t]{1,3}(?=\w{1,32}=)"
_PARAMETER = r"""(?P<name>\w{1,32}+)=\\{0,4}["']?(?P<value>[^\s,"'`\\]{0,}+)(?P<end>\\{0,4}["']?,[ \t]?)?"""
_COOKIES = r"""(?i)(?P<set>set-)?cookie\\{0,4}["'`]?[ \t]{0,3}:[ \t]{0,3}\\{0,4}["'`]?(?=[\w.-]{1,128}=)"""
_COOKIE = r"""(?P<name>[\w.!#$%&*+^|~-]{1,128}+)=(?P<value>[^;"'`\s\\]{0,}+)(?P<end>;[ \t]?)?"""


def mask_headers(text: str) -> str:
    """Mask what authorises a request: `Authorization`, `Bearer` wherever it stands, and cookies."""
    lowered = text.lower()
    if "authorization" in lowered:
        text = _mask_pairs(text, _PARAMETERS, _PARAMETER, "header")
        text = compiled(_AUTHORIZATION).sub(_mask_authorization, text)
    if "bearer" in lowered:
        text = compiled(_BEARER).sub(_mask_bearer, text)
    if "cookie" in lowered:
        text = _mask_pairs(text, _COOKIES, _COOKIE, "cookie")
    return text


def _replace(found: re.Match[str], group: str, kind: str) -> str:
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:start] + mark(kind, found[group]) + found[0][end:]


def _mask_authorization(found: re.Match[str]) -> str:
    value = found["value"]
    if is_placeholder(value) or "(" in value or value.endswith(("{", "[")):
        return found[0]
    plain = value.isalpha() and (value.islower() or value.istitle() or value.isupper())
    wanted = not plain if found["scheme"] else looks_random(value) and len(value) >= 8
    return _replace(found, "value", "header") if wanted else found[0]


def _mask_bearer(found: re.Match[str]) -> str:
    return _replace(found, "value", "header") if looks_random(found["value"]) else found[0]


def _mask_pairs(text: str, opening: str, pair: str, kind: str) -> str:
    """Mask the values of the `name=value` pairs behind each opening; of `Set-Cookie` only the first."""
    pieces: list[str] = []
    position = 0
    while (found := compiled(opening).search(text, position)) is not None:
        pieces.append(text[position : found.end()])
        position = found.end()
        while (member := compiled(pair).match(text, position)) is not None:
            value = member["value"]
            unchanged = len(value) < 4 or is_placeholder(value)
            pieces.append(member[0] if unchanged else _replace(member, "value", kind))
            position = member.end()
            if not member["end"] or found.groupdict().get("set"):
                break
    return "".join((*pieces, text[position:]))


_USER = r"""[^\s/?#"'`<>\\]{1,1024}+"""
_QUERY = r"""[?&](?P<name>[\w.%-]{1,64}+)=(?P<value>[^\s&"'`<>#\\;]{1,}+)"""
_SIGNATURES = frozenset(
    {"sig", "signature", "auth", "jwt", "sas", "x-amz-signature", "x-goog-signature", "code"}
)


def mask_addresses(text: str) -> str:
    """Mask passwords and tokens in URLs."""
    if "://" in text:
        text = _mask_users(text)
    if "=" in text and ("?" in text or "&" in text):
        text = compiled(_QUERY).sub(_mask_query, text)
    return text


def _mask_users(text: str) -> str:
    pieces: list[str] = []
    position = 0
    start = text.find("://")
    while start >= 0:
        found = compiled(_USER).match(text, start + 3)
        user, at, _ = (found[0] if found else "").rpartition("@")
        name, colon, password = user.partition(":")
        secret = password if colon else name
        if (
            at
            and secret
            and OPEN not in user
            and not is_placeholder(secret)
            and (colon or (len(secret) >= 20 and looks_random(secret)))
        ):
            end = start + 3 + len(user)
            pieces += (text[position : end - len(secret)], mark("url", secret))
            position = end
        start = text.find("://", start + 3)
    return "".join((*pieces, text[position:]))


def _mask_query(found: re.Match[str]) -> str:
    value = found["value"]
    name = found["name"].lower()
    strength = Strength.TOKEN if name in _SIGNATURES else strength_of_name(found["name"])
    least = {Strength.NONE: 1 << 30, Strength.KEY: 16, Strength.TOKEN: 6, Strength.PASSWORD: 4}[strength]
    if len(value) < least or is_placeholder(value) or "(" in value:
        return found[0]
    if (strength is Strength.KEY or name in _SIGNATURES) and not looks_random(value):
        return found[0]
    return _replace(found, "value", "url")
