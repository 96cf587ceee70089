"""What a backslash stands for inside the shell's two kinds of quotation that know one."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|[uU]([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))|([^\\'])", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def decoded_double_escape(following: str) -> str:
    """What a backslash and the character after it mean between double quotation marks."""
    if following == "\n":
        return ""
    return following if following in '$`"\\' else "\\" + following


def ansi_text(text: str, position: int) -> tuple[str, int]:
    """Read a `$'...'` quotation from behind its first mark; returns its text and the position after it."""
    value: list[str] = []
    while position < len(text) and text[position] != "'":
        found = _ANSI.match(text, position)
        if found is None:
            break
        code = found[1] or found[2]
        if code:
            value.append(chr(int(code, 16)))
        elif found[3]:
            value.append(chr(int(found[3], 8) & 255))
        else:
            value.append(found[5] or _LETTERS.get(found[4], found[4]))
        position = found.end()
    return "".join(value), position + 1
