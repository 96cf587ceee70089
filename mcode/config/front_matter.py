"""The lines between `---` at the head of a Markdown file, read leniently: what people write there is often no YAML.

Every value is kept as it was written, so `argument-hint: [area] [count]`, `name: on` and `description: Use when: x`
mean what they look like. A line that fits nothing is a problem of the file and never an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode.config.markdown import split_at_commas, split_front_matter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*)|[ \t]*)$")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?(?:[ \t]+#.*)?$")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "/": "/"}


@dataclass(frozen=True, slots=True)
class Written:
    """One value."""

    text: str
    """As written, on one line unless it is a block; quotes around the whole are taken off."""
    items: tuple[str, ...] = ()
    """The entries of a list, each without its quotes; empty where the value is no list."""
    first: str = ""
    """What stands behind the colon, as it is written."""
    lines: tuple[str, ...] = ()
    """The lines beneath that belong to it, as they are written: `nested` reads those with parts of their own."""

    @property
    def listed(self) -> tuple[str, ...]:
        """The entries of a list, else the text as the only one, without the brackets around it."""
        return self.items or ((self.text,) if self.text else ())

    @property
    def is_true(self) -> bool:
        return self.text.partition(" ")[0].lower() in ("true", "yes", "on")

    @property
    def is_false(self) -> bool:
        return self.text.partition(" ")[0].lower() in ("false", "no", "off")


_NOTHING = Written("")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the head of a file, and the file's body."""

    body: str
    values: Mapping[str, Written] = field(default_factory=dict[str, Written])
    problem: str = ""
    """What could not be read; empty where all could."""

    def get(self, key: str) -> Written:
        """The value of a key; an empty one where there is none."""
        return self.values.get(key, _NOTHING)

    def text(self, key: str) -> str:
        return self.get(key).text


def read_front_matter(text: str) -> FrontMatter:
    """Split a file into its head and its body. A byte order mark and any kind of line ends are accepted."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front, body = split_front_matter(text)
    if not front:
        unclosed = text.startswith("---\n") and body == text
        problem = "the `---` of its first line is never closed, so nothing counts as front matter"
        return FrontMatter(body, problem=problem if unclosed else "")
    values: dict[str, Written] = {}
    strange: list[str] = []
    lines = front.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _KEY.match(line)
        if found is None:
            strange.append(line.strip())
            continue
        more = _belonging(lines, at)
        at += len(more)
        first = (found[2] or "").strip()
        values[found[1]] = replace(_value(first, more), first=first, lines=tuple(more))
    problem = f"no value could be read from `{strange[0][:80]}`" if strange else ""
    return FrontMatter(body, values, problem)


def _belonging(lines: list[str], at: int) -> list[str]:
    """The lines after a key that are part of its value: indented ones, items of a list, and what lies between them."""
    end = at
    for index in range(at, len(lines)):
        line = lines[index]
        if (line.startswith((" ", "\t")) and line.strip()) or (
            _ITEM.match(line) and not line.startswith("---")
        ):
            end = index + 1
        elif line.strip() and not line.startswith("#"):
            break
    return lines[at:end]


def _value(first: str, more: list[str]) -> Written:
    if _BLOCK.match(first):
        return Written(block_text(more, folded=first.startswith(">")))
    written = [line for line in more if line.strip() and not line.lstrip().startswith("#")]
    if not first and written and _ITEM.match(written[0]):
        items = [scalar(found[1] or "") for line in written if (found := _ITEM.match(line))]
        return Written(", ".join(items), tuple(item for item in items if item))
    whole = " ".join((first, *(line.strip() for line in written))).strip()
    if whole.startswith("[") and whole.endswith("]") and "[" not in whole[1:] and "]" not in whole[:-1]:
        inner = split_at_commas(whole[1:-1])
        return Written(whole, tuple(item for each in inner if (item := scalar(each))))
    return Written(scalar(whole))


def scalar(written: str) -> str:
    """A value without its quotes, where they stand around the whole of it; a word without the comment behind it."""
    written = written.strip()
    if written[:1] in ("'", '"') and len(written) > 1 and written[-1] == written[0]:
        inner = written[1:-1]
        if written[0] == "'" and "'" not in inner.replace("''", ""):
            return inner.replace("''", "'")
        if written[0] == '"' and '"' not in re.sub(r"\\.", "", inner):
            return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), inner)
    word, _, comment = written.partition(" #")
    return word.strip() if comment and " " not in word.strip() else written


def block_text(lines: Sequence[str], *, folded: bool) -> str:
    """The text of a block after `|` or `>`, without its indentation."""
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    kept = [line[indent:].rstrip() for line in lines]
    if not folded:
        return "\n".join(kept).strip("\n")
    paragraphs = "\n".join(kept).strip("\n").split("\n\n")
    return "\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)
