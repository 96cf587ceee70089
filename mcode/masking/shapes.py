"""Secrets by the shape that their issuer gives them: prefixes of providers, JWT, private keys, AWS pairs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcode.masking.marks import BEGIN, compiled, mark
from mcode.masking.names import looks_random


@dataclass(frozen=True, slots=True)
class _Shape:
    needle: str
    """Fixed text that every secret of this shape begins with."""
    kind: str
    pattern: str
    """Matches the whole secret where the needle was found; looks no further than the secret's characters."""
    apart: bool
    """The needle must stand at the beginning of a word, being short or part of words."""


def _shape(needle: str, kind: str, rest: str, *, apart: bool = True) -> _Shape:
    return _Shape(needle, kind, f"(?a){re.escape(needle)}{rest}", apart)


_SHAPES = (
    _shape("sk-ant-", "anthropic", r"[\w-]{8,}+", apart=False),
    _shape("sk-", "provider", r"[\w-]{20,}+"),
    _shape("gsk_", "provider", r"\w{20,}+"),
    _shape("xai-", "provider", r"\w{20,}+"),
    _shape("pplx-", "provider", r"\w{20,}+"),
    _shape("hf_", "huggingface", r"[A-Za-z0-9]{20,}+"),
    *(_shape(f"gh{letter}_", "github", r"[A-Za-z0-9]{16,}+", apart=False) for letter in "pousr"),
    _shape("github_pat_", "github", r"\w{20,}+", apart=False),
    *(
        _shape(f"gl{word}-", "gitlab", r"[\w.-]{16,}+")
        for word in ("pat", "oas", "dt", "rt", "rtr", "ptt", "cbt", "ft", "soat", "imt", "agent", "ffct")
    ),
    *(_shape(f"xox{letter}-", "slack", r"[A-Za-z0-9-]{10,}+", apart=False) for letter in "abceoprs"),
    _shape("xapp-", "slack", r"\d-[A-Za-z0-9-]{10,}+"),
    _shape("hooks.slack.com/services/", "slack", r"[\w/]{16,}+", apart=False),
    _shape("AIza", "google", r"[\w-]{35}"),
    _shape("ya29.", "google", r"[\w.-]{20,}+"),
    _shape("GOCSPX-", "google", r"[\w-]{20,}+"),
    *(
        _shape(prefix, "aws", r"[A-Z0-9]{16}(?![A-Za-z0-9])")
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA")
    ),
    _shape("eyJ", "jwt", r"[\w-]{8,}+(?:\.[\w-]{4,}+){1,4}+"),
    *(_shape(f"{letter}k_{mode}_", "stripe", r"\w{12,}+") for letter in "srp" for mode in ("live", "test")),
    _shape("whsec_", "stripe", r"[\w+/=]{20,}+"),
    _shape("npm_", "npm", r"[A-Za-z0-9]{30,}+"),
    _shape("pypi-", "pypi", r"[\w-]{40,}+"),
    _shape("SG.", "sendgrid", r"[\w-]{16,}+\.[\w-]{16,}+"),
    _shape("dop_v1_", "digitalocean", r"[a-f0-9]{32,}+"),
    _shape("AGE-SECRET-KEY-", "age", r"[A-Z0-9]{20,}+", apart=False),
)

_BEGINS_WORD = r"(?ia)(?:[^\w-]|^|\\[nrtbf]|\\u00[0-9a-f]{2}|%[0-9A-F]{2})\Z"
"""What may stand before a secret: no letter, unless that letter is the end of an escape."""


def mask_shapes(text: str) -> str:
    """Mask keys and tokens that can be told from their first characters."""
    for shape in _SHAPES:
        if shape.needle in text:
            text = _replace_shape(text, shape)
    return text


def _replace_shape(text: str, shape: _Shape) -> str:
    pieces: list[str] = []
    position = 0
    needle = shape.needle
    start = text.find(needle)
    while start >= 0:
        # The boundary comes first: it keeps the runs that patterns look at from overlapping.
        apart = not shape.apart or compiled(_BEGINS_WORD).search(text, max(0, start - 6), start) is not None
        found = compiled(shape.pattern).match(text, start) if apart else None
        if found is not None and (needle != "sk-" or _is_provider_key(found[0])):
            kept = needle if needle.endswith("/") else ""
            pieces += (text[position:start], kept, mark(shape.kind, found[0]))
            position = found.end()
        start = text.find(needle, start + len(needle) if found is None else found.end())
    return "".join((*pieces, text[position:]))


def _is_provider_key(key: str) -> bool:
    """Tell a key from a class name such as `sk-folding-cube-container`."""
    longest = max(map(len, re.split("[-_]", key[3:])))
    return longest >= 20 or (longest >= 10 and looks_random(key[3:]))


_PEM_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_LIMIT = 65536
"""Characters between the first and the last line of a private key, at most."""
_PEM_BODY = (
    r"""(?:\s|\\[nr]|[A-Za-z0-9+/]{16,}+={0,2}(?![^\s\\"'`])|[A-Za-z0-9+/]{1,15}={1,2}"""
    r"""|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{0,200}+)*+"""
)
"""The lines of a key whose last line is missing."""


def mask_private_keys(text: str) -> str:
    """Mask private keys in PEM form, also those that are cut off or stand inside JSON text."""
    if "PRIVATE KEY" not in text:
        return text
    pieces: list[str] = []
    position = 0
    while (found := compiled(_PEM_BEGIN).search(text, position)) is not None:
        body, end = _find_pem_end(text, found.end())
        secret = re.sub(r"\\[nr]|[^A-Za-z0-9+/]", "", text[max(found.end(), body - 80) : body])
        pieces += (text[position : found.start()], mark("pem", secret))
        position = end
    return "".join((*pieces, text[position:]))


def _find_pem_end(text: str, start: int) -> tuple[int, int]:
    """Where the body of a key ends, and where its last line does."""
    following = text.find("-----BEGIN", start, start + _PEM_LIMIT)
    limit = start + _PEM_LIMIT if following < 0 else following
    last_line = text.find("-----END", start, limit)
    if last_line >= 0:
        closing = text.find("-----", last_line + 8, last_line + 80)
        return last_line, last_line + 8 if closing < 0 else closing + 5
    body = compiled(_PEM_BODY).match(text, start)
    end = start if body is None else body.end()
    return end, end


_FORTY_CHARACTERS = r"(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])"
_AWS_NEIGHBOURHOOD = 300
"""Characters around an AWS key id within which the secret of the pair is looked for."""
_AWS_MARK = f"{BEGIN}aws:"


def mask_aws_pairs(text: str) -> str:
    """Mask the nameless secret beside an AWS key id; `mask_shapes` must have masked the id before."""
    if _AWS_MARK not in text:
        return text
    pieces: list[str] = []
    position = 0
    for found in compiled(_FORTY_CHARACTERS).finditer(text):
        near = text[max(0, found.start() - _AWS_NEIGHBOURHOOD) : found.end() + _AWS_NEIGHBOURHOOD]
        if _AWS_MARK in near and looks_random(found[0]):
            pieces += (text[position : found.start()], mark("aws", found[0]))
            position = found.end()
    return "".join((*pieces, text[position:]))
