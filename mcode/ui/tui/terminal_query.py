"""Asking the terminal for its background colour and its keyboard protocol, before Textual reads its input.

Textual takes the answer for keys, so the question is put first, and never over ssh, where the answer could come
late. What the user types meanwhile is handed back.
"""

from __future__ import annotations

import os
import re
import select
import termios
import time
import tty
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 0.1
"""Seconds to wait for the first byte of an answer."""

REST = 0.4
"""Seconds to wait for the rest of an answer that has begun."""

_QUESTION = b"\x1b]11;?\x1b\\\x1b[?u\x1b[c"
"""The background colour, the keyboard protocol that tells Shift+Enter from Enter, and the terminal's kind, which
every terminal answers, so that nobody waits in vain."""

_PART = rb"([0-9a-fA-F]{1,4})"
_COLOUR = re.compile(rb"\x1b\]11;rgba?:%s/%s/%s[^\x07\x1b]*(?:\x07|\x1b\\)" % (_PART, _PART, _PART))
_KEYBOARD = re.compile(rb"\x1b\[\?[0-9]+u")
_KIND = re.compile(rb"\x1b\[\?[0-9;]*c")


@dataclass(frozen=True, slots=True)
class Background:
    """What the terminal told."""

    dark: bool | None
    """None where it did not tell."""
    typed: str = ""
    """What was typed while it was asked."""
    all_keys: bool = False
    """It knows the keyboard protocol in which Shift+Enter is another key than Enter."""


def may_ask(environment: Mapping[str, str]) -> bool:
    """False where an answer may come too late to be told from keys."""
    return not any(name in environment for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


def ask_background(source: int, target: int) -> Background:
    """Ask the terminal behind two file descriptors. Returns within half a second, whatever it does."""
    try:
        before = termios.tcgetattr(source)
        tty.setcbreak(source, termios.TCSANOW)
    except termios.error:
        return Background(None)
    try:
        os.write(target, _QUESTION)
        answer = _answer(source)
    except OSError:
        return Background(None)
    finally:
        termios.tcsetattr(source, termios.TCSANOW, before)
    return read_answer(answer)


def read_answer(answer: bytes) -> Background:
    """What an answer means; what does not belong to it was typed."""
    found = _COLOUR.search(answer)
    all_keys = _KEYBOARD.search(answer) is not None
    typed = _KIND.sub(b"", _KEYBOARD.sub(b"", _COLOUR.sub(b"", answer))).decode("utf-8", "ignore")
    typed = "".join(letter for letter in typed if letter.isprintable())
    if found is None:
        return Background(None, typed, all_keys)
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return Background(0.299 * red + 0.587 * green + 0.114 * blue < 0.5, typed, all_keys)


def _answer(source: int) -> bytes:
    answer = b""
    end = time.monotonic() + LIMIT
    while (left := end - time.monotonic()) > 0 and not _KIND.search(answer):
        if not select.select([source], [], [], left)[0]:
            break
        piece = os.read(source, 4096)
        if not piece:
            break
        if not answer:
            end = time.monotonic() + REST
        answer += piece
    return answer
