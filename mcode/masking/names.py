"""Names that secrets stand under, and values that are likely to be one."""

from __future__ import annotations

import os
import re
from enum import IntEnum
from functools import lru_cache

from mcode.masking.marks import OPEN, compiled


class Strength(IntEnum):
    """How surely a name says that its value is a secret."""

    NONE = 0
    KEY = 1
    """`key` alone: of a map, a sort, a keyboard, or a secret one. The value must look random."""
    TOKEN = 2
    """`token`, `api_key`: a secret, unless a parser or a language model is meant."""
    PASSWORD = 3
    """`password`, `secret`: a secret, however plain its value looks."""


_NAME_LIMIT = 128

_IN_ENVIRONMENT = r"(?i)key|token|secret|passw|passphrase|_pwd|credential"

_DIRECTORIES = frozenset({"PWD", "OLDPWD"})
"""What every shell calls its directories; elsewhere the same word is short for a password."""

_PASSWORDS = frozenset({"password", "passwd", "passwort", "passphrase", "pwd", "secret", "passcode"})
_TOKENS = frozenset({"token", "credential", "credentials", "apikey", "authkey"})
_KEY_OWNERS = """
api access secret private auth account shared signing encryption master license deploy app client storage session
subscription cookie jwt hmac bearer admin crypto fernet ssh consumer
"""
"""Words that make a `key` beside them a secret one."""

_DESCRIPTIONS = """
name names id ids type types path file files filename dir directory url uri endpoint host length len size count limit
max min field fields expiry expires expiration ttl ref arn policy class index prefix suffix env var variable helper
label regex pattern format version rotation enabled required error errors placeholder hint status usage used budget
provider source scope scopes store manager service validator reset visible algorithm bits vault engine
"""
"""Last words of names that say something about a secret and do not hold it: `token_type`, `secretName`."""

_SECRET_OWNERS = frozenset(_KEY_OWNERS.split())
_DESCRIBING = frozenset(_DESCRIPTIONS.split())

_ORDINARY = frozenset({"password", "changeme", "disabled", "required", "postgres", "username", "undefined"})
"""Values that stand in for a secret; masking them everywhere would only damage text."""

_WORDS = r"[_\-.\s]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_RUN_TOGETHER = r"(?:password|passwd|passphrase|secret)$"
_RUN_TOGETHER_KEYS = r"(?:token|apikey|secretkey|accesskey|privatekey|authkey|accountkey)$"


def is_secret_name(name: str) -> bool:
    """True for a name of a variable of the environment that may hold a secret."""
    return compiled(_IN_ENVIRONMENT).search(name) is not None


def is_secret_variable(name: str, value: str) -> bool:
    """True for a variable of the environment whose value is taken for a secret, wherever it is found.

    Not so a number or a path under a name that only describes, such as `TOKEN_LIMIT` or `SSH_KEY_PATH`, and no
    path that exists: hiding where the work is done would mislead everybody.
    """
    if not is_secret_name(name) or value.lower() in _ORDINARY:
        return False
    words = _words_of(name)
    if value.startswith("/") and os.path.exists(value):  # noqa: PTH110 -- a Path for each variable is slow
        return False
    describes = not words or words[-1] in _DESCRIBING
    return not (describes and (value.isdecimal() or value.startswith(("/", "~/", "./"))))


def _words_of(name: str) -> list[str]:
    return [word.lower() for word in compiled(_WORDS).split(name.strip("_-. ")) if word]


@lru_cache(maxsize=4096)
def strength_of_name(name: str) -> Strength:
    """How surely the value that stands under `name` is a secret."""
    if name in _DIRECTORIES or len(name) > _NAME_LIMIT or "/" in name or name.count(" ") > 2:
        return Strength.NONE  # a path or a sentence
    words = _words_of(name)
    if not words or words[-1] in _DESCRIBING:
        return Strength.NONE
    if any(word in _PASSWORDS or compiled(_RUN_TOGETHER).search(word) for word in words):
        return Strength.PASSWORD
    if any(word in _TOKENS or compiled(_RUN_TOGETHER_KEYS).search(word) for word in words):
        return Strength.TOKEN
    if "key" not in words:
        return Strength.NONE
    return Strength.TOKEN if _SECRET_OWNERS.intersection(words) else Strength.KEY


_PLACEHOLDER = r"""(?xi)
      [\u2039\u2026] | \*{3} | \.\.\.      # masked already
    | <[^<>]*>$ | \{[\w.:!\[\]"']*\} | \{\{  # a slot to be filled in
    | \$[({] | (?-i:\$[A-Z_][A-Z0-9_]*|\$[a-z_]+)(?:$|->|\[|["'])
    | %[({] | %s | %[A-Z_]+%$                # a variable of a shell, a format or a template
    | \[(?:redacted|hidden|masked)
    | (?:your|insert|enter)[-_ ] | (?:replace|change)[-_ ]?me
    | (?:xxx+|null|none|true|false|undefined|string|required|optional|process\.env|os\.environ)(?![A-Za-z0-9])
    | (.)\1*$                                # one character repeated
    """
_PATH = r"(?:~|\.{1,2})?/[\w.@+-]+/[\w./@+-]*$|[A-Za-z]:\\|https?://"
_IDENTIFIER = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.?$"
_PLAIN_WORDS = r"[a-z]+(?:[-_ .][a-z]+)*$|[A-Z]+(?:[-_ ][A-Z]+)*$|(?:[A-Z][a-z]+)+$"
_RANDOM = r"[A-Za-z0-9+/=_.~:-]{16,}$"


def looks_random(value: str) -> bool:
    """True for text of mixed letters and digits, as generated keys are, and for long hexadecimal numbers."""
    digits = sum(map(str.isdigit, value))
    if digits == 0:
        return False
    if re.fullmatch(r"[0-9a-fA-F]{24,}", value) is not None:
        return digits < len(value)
    has_upper = any(map(str.isupper, value))
    has_lower = any(map(str.islower, value))
    return (has_upper and has_lower) or (digits >= 3 and (has_upper or has_lower))


def is_placeholder(value: str) -> bool:
    """True for a value that stands for a secret and is none: a slot, a variable, a mark, `null`."""
    return value[:1] in {"", OPEN} or compiled(_PLACEHOLDER).match(value) is not None


def is_secret_value(strength: Strength, value: str, *, quoted: bool, environment: bool = False) -> bool:
    """Judge the value that stands under a name of this strength.

    `quoted`: it is a text literal, so that it cannot be a name of the program's own. `environment`: it stands
    as in a shell or an .env file, `NAME=value` with a name in capitals, where nearly everything is literal.
    """
    least = 6 if strength is Strength.PASSWORD else 8
    if strength is Strength.NONE or len(value) < least or is_placeholder(value):
        return False
    if compiled(_PATH).match(value) is not None and not value.lower().startswith("http"):
        return False
    if strength is Strength.PASSWORD:
        return _is_password(value, quoted=quoted, environment=environment)
    if environment:
        return strength is Strength.TOKEN or compiled(_PLAIN_WORDS).match(value) is None
    if value.isdecimal() or " " in value:
        return False
    if strength is Strength.KEY:
        return compiled(_RANDOM).match(value) is not None and _has_random_part(value)
    if not quoted and compiled(_IDENTIFIER).match(value) is not None:
        return len(value) >= 16 and _has_random_part(value)
    return looks_random(value) or (len(value) >= 20 and compiled(_PLAIN_WORDS).match(value) is None)


def _is_password(value: str, *, quoted: bool, environment: bool) -> bool:
    if environment:
        return True
    if " " in value:
        return looks_random(value)
    if quoted:
        return len(value) >= 8
    if compiled(_IDENTIFIER).match(value) is not None:
        return any(map(str.isdigit, value)) and "." not in value
    return len(value) >= 8 or looks_random(value)


def _has_random_part(value: str) -> bool:
    """True where one part of a compound value is long and random: not for `user_profile_2024_settings`."""
    return any(len(part) >= 12 and looks_random(part) for part in re.split(r"[_.:~-]", value))
