"""Secrets by their place: in headers of requests, and in the addresses of servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.masking.marks import OPEN, compiled, lower, mark
from mcode.masking.names import Strength, is_placeholder, looks_random, strength_of_name

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

_AUTHORIZATION = (
    r"""(?i)authorization\\{0,4}["'`]?\]?[ \t]{0,3}[:=,][ \t]{0,3}[rbfu]?\\{0,4}["'`]?"""
    r"""(?P<scheme>(?:bearer|basic|token|apikey|api-key|negotiate|ntlm)[ \t]{1,3})?"""
    r"""(?!digest|hawk|aws4)(?P<value>[^\s"'`\\<>]{6,}+)"""
)
_BEARER = r"(?i)bearer[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,}+)"
_PARAMETERS = r"(?i)(?:digest|hawk|aws4-hmac-sha256)[ \t]{1,3}(?=\w{1,32}=)"
_PARAMETER = r"""(?P<name>\w{1,32}+)=\\{0,4}["']?(?P<value>[^\s,"'`\\]*+)(?P<end>\\{0,4}["']?,[ \t]?)?"""
_COOKIES = r"""(?i)cookie\\{0,4}["'`]?[ \t]{0,3}:[ \t]{0,3}\\{0,4}["'`]?(?=[\w.-]{1,128}=)"""
_COOKIE = r"""(?P<name>[\w.!#$%&*+^|~-]{1,128}+)=(?P<value>[^;"'`\s\\]*+)(?P<end>;[ \t]?)?"""


def mask_headers(text: str) -> str:
    """Mask what authorises a request: `Authorization`, `Bearer` wherever it stands, and cookies."""
    if "authorization" in text.lower():
        for scheme in ("digest", "hawk", "aws4-hmac-sha256"):
            text = _mask_pairs(text, scheme, _PARAMETERS, _PARAMETER)
        text = _mask_values(text, "authorization", _AUTHORIZATION, _is_authorization)
    text = _mask_values(text, "bearer", _BEARER, lambda found: looks_random(found["value"]))
    return _mask_pairs(text, "cookie", _COOKIES, _COOKIE)


def _occurrences(text: str, word: str, pattern: str) -> Iterator[re.Match[str]]:
    """Matches of a pattern that begins with a word in any case: the word is found much faster than the pattern."""
    lowered = lower(text)
    start = lowered.find(word)
    while start >= 0:
        found = compiled(pattern).match(text, start)
        if found is not None:
            yield found
        start = lowered.find(word, start + len(word) if found is None else found.end())


def _mask_values(text: str, word: str, pattern: str, is_wanted: Callable[[re.Match[str]], bool]) -> str:
    pieces: list[str] = []
    position = 0
    for found in _occurrences(text, word, pattern):
        if is_wanted(found):
            pieces += (text[position : found.start("value")], mark("header", found["value"]))
            position = found.end("value")
    return "".join((*pieces, text[position:]))


def _is_authorization(found: re.Match[str]) -> bool:
    value = found["value"]
    if is_placeholder(value) or "(" in value or value.endswith(("{", "[")):
        return False
    if found["scheme"]:
        return not (value.isalpha() and (value.islower() or value.istitle() or value.isupper()))
    return looks_random(value) and len(value) >= 8


def _mask_pairs(text: str, word: str, opening: str, pair: str) -> str:
    """Mask the values of the `name=value` pairs behind each opening; of `Set-Cookie` only the first."""
    pieces: list[str] = []
    position = 0
    for found in _occurrences(text, word, opening):
        if found.start() < position:
            continue
        pieces.append(text[position : found.end()])
        position = found.end()
        only_one = text[max(0, found.start() - 4) : found.start()].lower() == "set-"
        while (member := compiled(pair).match(text, position)) is not None:
            value = member["value"]
            kept = len(value) < 4 or is_placeholder(value)
            kind = "cookie" if word == "cookie" else "header"
            pieces += (
                text[position : member.start("value")],
                value if kept else mark(kind, value),
                member["end"] or "",
            )
            position = member.end()
            if only_one or not member["end"]:
                break
    return "".join((*pieces, text[position:]))


_USER = r"""[^\s/?#"'`<>\\]{1,1024}+"""
_QUERY = r"""[?&](?P<name>[\w.%-]{1,64}+)=(?P<value>[^\s&"'`<>#\\;]++)"""
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
    return f"{found[0][: -len(value)]}{mark('url', value)}"
