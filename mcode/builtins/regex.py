r"""Regular expressions of Grep: ripgrep's dialect, and its translation for searching without ripgrep.

ripgrep reads a pattern in Rust's dialect and falls back to PCRE2 where it does not fit. Python's dialect agrees
in all that is common. Translated are POSIX classes (`[[:alpha:]]`), `(?<name>...)`, `\z`, `\<`, `\>`, `\e` and
`\x{...}`. Refused with a reason, where ripgrep is missing: `\p{...}`, `&&` in classes, and flags switched in the
middle of a pattern.
"""

from __future__ import annotations

import re

_POSIX = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "word": r"\w",
    "cntrl": r"\x00-\x1f\x7f",
    "print": " -~",
    "graph": "!-~",
    "ascii": r"\x00-\x7f",
}

_TOKEN = re.compile(
    r"""
    (?P<code> \\x\{ (?P<digits> [0-9A-Fa-f]{1,6} ) \} )
    | (?P<property> \\[pP] (?: \{ [^}]* \} | . ) )
    | (?P<escape> \\ . )
    | (?P<posix> \[ : (?P<negated> \^? ) (?P<class> [a-z]+ ) : \] )
    | (?P<group> \(\?< (?![=!]) )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)

_ESCAPES = {r"\z": r"\Z", r"\<": r"\b(?=\w)", r"\>": r"\b(?<=\w)", r"\e": r"\x1b"}


def spans_lines(pattern: str) -> bool:
    r"""True where a pattern names a line end outside a class, so that it can only match across lines."""
    in_class = False
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text == "[":
            in_class = True
        elif text == "]":
            in_class = False
        elif not in_class and text in {"\n", r"\n"}:
            return True
    return False


def to_python(pattern: str) -> str:
    """The pattern in Python's dialect. Raises ValueError with the reason where it cannot be translated."""
    translated: list[str] = []
    class_start = -1
    for token in _TOKEN.finditer(pattern):
        in_class = class_start >= 0
        text = token[0]
        if token["property"]:
            raise ValueError(f"{text} (a Unicode property) needs ripgrep, which is not installed")
        if token["code"]:
            text = re.escape(_character(token["digits"]))
        elif token["escape"]:
            text = text if in_class else _ESCAPES.get(text, text)
        elif token["posix"] and in_class:
            text = _posix(token["class"], negated=bool(token["negated"]))
        elif token["group"] and not in_class:
            text = "(?P<"
        elif in_class:
            text, class_start = _in_class(pattern, token.start(), text, class_start)
        elif text.startswith("["):
            class_start = token.start()
        translated.append(text)
    result = "".join(translated)
    try:
        re.compile(result)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{error} (read by Python, since ripgrep is not installed)") from None
    return result


def _in_class(pattern: str, position: int, text: str, start: int) -> tuple[str, int]:
    """A piece of a character class, and where the class began; -1 behind its end."""
    first = pattern[start + 1 : position] in {"", "^"}
    if text == "]":
        return (r"\]", start) if first else (text, -1)
    if text == "&" and pattern[position + 1 : position + 2] == "&":
        raise ValueError("&& in a character class needs ripgrep, which is not installed")
    if text.startswith("["):
        return re.escape(text), start
    return text, start


def _character(digits: str) -> str:
    try:
        return chr(int(digits, 16))
    except ValueError:
        raise ValueError(rf"\x{{{digits}}} is not a character") from None


def _posix(name: str, *, negated: bool) -> str:
    if name not in _POSIX or negated:
        raise ValueError(f"the class [:{'^' * negated}{name}:] needs ripgrep, which is not installed")
    return _POSIX[name]
