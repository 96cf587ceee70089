"""Secrets by the name they stand under: `NAME=value`, `"name": "value"`, `--name value`, `<name>value<`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mcode.masking.marks import CLOSE, OPEN, compiled, lower, mark
from mcode.masking.names import Strength, is_secret_value, strength_of_name

if TYPE_CHECKING:
    import re

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_NAME_LIMIT = 64
"""Characters of a name before and after its telling word that are looked at."""

_NAMED = (
    r"(?:key|token|secret|passw|passphrase|passcode|pwd|credential)[\w.-]{0,64}+"
    r"""(?P<quote>\\{0,4}["'`]?)\]?[ \t]{0,3}(?P<sign>=>|:=|=(?![=~])|:(?!:)|>)[ \t]{0,3}"""
)
"""Matched on lower-case text: a telling word, the rest of the name, and the sign of an assignment."""

_ANNOTATION = r"""[A-Za-z_][\w.\[\]| ]{0,40}?=[ \t]?(?=\\{0,4}["'])"""
"""The type between name and value, as in `token: str = "..."`."""

_CALL = r"[A-Za-z_][\w.]*[(\[]"
_JUDGED = 4096
"""Characters of a value that are judged; a secret is then masked to its end."""
_SKIPPED = 1024
"""Characters of one long value without a blank that was judged harmless, before the search goes on inside it."""


def _quoted(limit: str) -> str:
    inside = rf"{{1,{limit}}}+"
    return (
        rf"""(?P<prefix>[rbfuRBFU]{{0,2}}\\{{0,4}})"""
        rf"""(?:"(?P<double>[^"\n]{inside})|'(?P<single>[^'\n]{inside})|`(?P<back>[^`\n]{inside}))"""
    )


def _bare(excluded: str, limit: str) -> str:
    return rf"[^\s{excluded}]{{1,{limit}}}+"


_IN_CODE = r""""'`,;&<>|(){}\[\]\\"""
_IN_SHELL = r""""'`;|<>\\"""
_QUOTED, _WHOLE_QUOTED = _quoted(str(_JUDGED)), _quoted("")
_BARE, _WHOLE_BARE = _bare(_IN_CODE, str(_JUDGED)), _bare(_IN_CODE, "")
_SHELL, _WHOLE_SHELL = _bare(_IN_SHELL, str(_JUDGED)), _bare(_IN_SHELL, "")

_FLAG = r"""--(?P<name>[A-Za-z][\w-]{0,63}+)[ ]{1,3}(?P<quote>["']?)(?P<value>[^\s"'`\\]+)"""


def mask_assignments(text: str) -> str:
    """Mask the values of assignments whose name says that they are secret."""
    lowered = lower(text)
    pieces: list[str] = []
    position = 0
    found = compiled(_NAMED).search(lowered)
    while found is not None:
        resume = found.end()
        if text[found.start() - 1 : found.start()] == OPEN:
            resume = text.find(CLOSE, found.end(), found.end() + 80) + 1 or found.end()
        else:
            start, end, wanted = _find_value(text, found)
            if wanted:
                pieces += (text[position:start], mark("named", text[start:end]))
                position = resume = end
            elif end - start > _SKIPPED:
                resume = start + _SKIPPED
        found = compiled(_NAMED).search(lowered, resume)
    return "".join((*pieces, text[position:]))


def _find_value(text: str, found: re.Match[str]) -> tuple[int, int, bool]:
    """Where the value of an assignment begins and ends, and whether it is a secret."""
    start = found.end()
    nothing = (start, start, False)
    name, before = _whole_name(text, found)
    strength = strength_of_name(name)
    sign = found["sign"]
    if strength is Strength.NONE or (sign == ">" and before != "<"):
        return nothing
    if sign == ":" and (annotation := compiled(_ANNOTATION).match(text, start)) is not None:
        start = annotation.end()
    in_shell = sign == "=" and name == name.upper() and text[found.end("quote") : found.end()] == "="
    if (quoted := compiled(_QUOTED).match(text, start)) is not None:
        group = quoted.lastgroup or ""
        escaped = quoted["prefix"].endswith("\\")
        wanted = is_secret_value(strength, _inside(quoted[group], escaped), quoted=True, environment=in_shell)
        whole = compiled(_WHOLE_QUOTED).match(text, start) if wanted else quoted
        value = _inside((whole or quoted)[group], escaped)
        return quoted.start(group), quoted.start(group) + len(value), wanted
    bare = compiled(_SHELL if in_shell else _BARE).match(text, start)
    if bare is None:
        return nothing
    if compiled(_CALL).match(bare[0]) is not None or (
        not in_shell and text[bare.end() : bare.end() + 1] in {"(", "[", "{"}
    ):
        return start, bare.end(), False
    wanted = is_secret_value(strength, bare[0].rstrip(".:"), quoted=sign == ">", environment=in_shell)
    whole = compiled(_WHOLE_SHELL if in_shell else _WHOLE_BARE).match(text, start) if wanted else bare
    return start, start + len((whole or bare)[0].rstrip(".:")), wanted


def _inside(value: str, escaped: bool) -> str:
    """A quoted value without the escape of its closing quote."""
    return value.rstrip("\\") if escaped else value


def _whole_name(text: str, found: re.Match[str]) -> tuple[str, str]:
    """The name around a telling word, and the character before it."""
    start = found.start()
    window = text[max(0, start - _NAME_LIMIT) : start]
    rest = window.rstrip(_NAME_CHARACTERS)
    name = window[len(rest) :] + text[start : found.start("quote")]
    return _last_member(name), rest[-1:]


@lru_cache(maxsize=4096)
def _last_member(name: str) -> str:
    """`self.client.api_key` is about `api_key`."""
    return name.rstrip(".").rpartition(".")[2]


def mask_flags(text: str) -> str:
    """Mask the value behind a command line's `--password` and the like."""
    if "--" not in text:
        return text
    pieces: list[str] = []
    position = 0
    for found in compiled(_FLAG).finditer(text):
        strength = strength_of_name(found["name"])
        # A plain word behind a flag of prose or of a help text is no secret.
        if is_secret_value(strength, found["value"], quoted=bool(found["quote"])):
            pieces += (text[position : found.start("value")], mark("named", found["value"]))
            position = found.end("value")
    return "".join((*pieces, text[position:]))
