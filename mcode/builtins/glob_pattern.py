"""Patterns for file paths: `*`, `?`, `[...]` within a name, `**` across directories, `{a,b}` for alternatives.

Matching takes time in proportion to pattern and path, whatever the pattern: models write them.
"""

from __future__ import annotations

import re
from typing import TypeAlias

ALTERNATIVES_LIMIT = 256
"""Patterns that the braces of one pattern may stand for."""

_Part: TypeAlias = re.Pattern[str] | None
"""What one name must match; None stands for `**`: any number of names."""


class GlobPattern:
    """A pattern for whole paths, relative and with `/` between names."""

    def __init__(self, text: str) -> None:
        """Read a pattern; raises ValueError with the reason."""
        if "\0" in text or "\n" in text:
            raise ValueError(f"the pattern {text!r} has a NUL or a newline")
        self.text = text
        self._alternatives = [_parts(alternative) for alternative in _expand_braces(text)]

    def matches(self, path: str) -> bool:
        """True where the whole path is what the pattern describes."""
        names = path.split("/")
        return any(_match(parts, names) for parts in self._alternatives)


def names_hidden(pattern: str) -> bool:
    """True where a pattern itself asks for names that begin with a dot."""
    return re.search(r"(?:^|[/{,])\.(?!\.?(?:/|$))", pattern) is not None


def literal_directory(pattern: str) -> tuple[str, str]:
    """Split off the leading directories without wildcards: `src/a/*.py` gives `src/a` and `*.py`."""
    names = pattern.split("/")
    count = 0
    while count < len(names) - 1 and not re.search(r"[*?\[\]{}\\]", names[count]):
        count += 1
    directory = "/".join(names[:count])
    if count == 1 and not directory:
        directory = "/"
    return directory, "/".join(names[count:])


def _match(parts: list[_Part], names: list[str]) -> bool:
    """Whether names fit parts. Both ends are settled first, so that only what lies between `**` is searched."""
    start, end = 0, len(parts)
    first, last = 0, len(names)
    while end > start and (part := parts[end - 1]) is not None:
        if last <= first or part.fullmatch(names[last - 1]) is None:
            return False
        end, last = end - 1, last - 1
    if end == start:
        return first == last
    positions = {first}
    for part in parts[start:end]:
        if part is None:
            positions = set(range(min(positions), last + 1))
        else:
            positions = {
                position + 1
                for position in positions
                if position < last and part.fullmatch(names[position]) is not None
            }
        if not positions:
            return False
    return last in positions


def _parts(pattern: str) -> list[_Part]:
    parts: list[_Part] = []
    for name in pattern.split("/"):
        if name == "**":
            if not parts or parts[-1] is not None:
                parts.append(None)
        elif name not in {"", "."}:
            parts.append(_name_expression(name))
    if parts and parts[-1] is None:
        parts.append(_name_expression("*"))
    return parts


def _name_expression(name: str) -> re.Pattern[str]:
    """An expression for one name. A part between two stars is taken where it first fits, which is always right."""
    pieces = [""]
    position = 0
    while position < len(name):
        character = name[position]
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "[":
            expression, position = _character_class(name, position)
            pieces[-1] += expression
            continue
        else:
            if character == "\\" and position + 1 < len(name):
                position += 1
                character = name[position]
            pieces[-1] += re.escape(character)
        position += 1
    if len(pieces) == 1:
        return re.compile(pieces[0], re.DOTALL)
    middle = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1] if piece)
    return re.compile(f"{pieces[0]}{middle}.*{pieces[-1]}", re.DOTALL)


def _character_class(name: str, start: int) -> tuple[str, int]:
    """The expression for the class that begins at `start`, and where it ends; without an end it is a plain `[`."""
    begin = start + 1
    negated = name[begin : begin + 1] in {"!", "^"}
    begin += negated
    end = name.find("]", begin + 1)
    if end < 0:
        return re.escape("["), start + 1
    body = name[begin:end]
    pairs: list[str] = []
    position = 0
    while position < len(body):
        low = high = body[position]
        if body[position + 1 : position + 2] == "-" and position + 2 < len(body):
            high = body[position + 2]
            position += 2
        if high < low:
            raise ValueError(f"the range {low}-{high} in the pattern {name!r} runs backwards")
        pairs.append(f"{re.escape(low)}-{re.escape(high)}" if high != low else re.escape(low))
        position += 1
    return f"[{'^' * negated}{''.join(pairs)}]", end + 1


def _expand_braces(pattern: str) -> list[str]:
    """The patterns that stand behind one with braces."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            before, choices, after = group
            waiting += [before + choice + after for choice in reversed(choices)]
        if len(done) + len(waiting) > ALTERNATIVES_LIMIT:
            raise ValueError(f"the braces in {pattern!r} stand for more than {ALTERNATIVES_LIMIT} patterns")
    return done


def _first_group(pattern: str) -> tuple[str, list[str], str] | None:
    """What stands before, in and after the first outer pair of braces; None where there is none."""
    depth = opening = start = 0
    choices: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 1
        elif character == "[" and (end := pattern.find("]", position + 2)) > 0:
            position = end
        elif character == "{":
            depth += 1
            if depth == 1:
                opening, start = position, position + 1
        elif character == "}" and depth:
            depth -= 1
            if depth == 0:
                choices.append(pattern[start:position])
                return pattern[:opening], choices, pattern[position + 1 :]
        elif character == "," and depth == 1:
            choices.append(pattern[start:position])
            start = position + 1
        position += 1
    if depth:
        raise ValueError(f"a brace in the pattern {pattern!r} is not closed")
    return None
