"""The text of a program: what models put around it, its lines, and text that is no JavaScript at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mcode import jsontext

_FENCE = "```"
_LOOKED_AT = 20_000
"""Characters in which signs of TypeScript are looked for."""

_TITLE_LENGTH = 60

_OPTIONS = re.compile(r"\s*//[ \t]*@exec:[ \t]*(\{[^\n]*\})[ \t\r]*(?:\n|$)")
"""A first line of options, as models write it that know programs from elsewhere."""

_CHARS_A_TOKEN = 4

_TYPESCRIPT = re.compile(
    r"^\s*(?:export\s+)?(?:interface\s+\w+[^;]*\{|type\s+\w+(?:<[^>]*>)?\s*=|enum\s+\w+\s*\{|declare\s+)"
    r"|\b(?:const|let|var)\s+\w+\s*:\s*[A-Za-z_{\[]"
    r"|[(,]\s*\w+\??\s*:\s*(?:string|number|boolean|any|unknown|void|object|Record|Array|Promise|\w+\[\])\b"
    r"|\)\s*:\s*(?:string|number|boolean|any|unknown|void|Promise|Record|Array|\w+\[\])[\w<>\[\], |]*\s*(?:=>|\{)"
    r"|\bas\s+(?:const|any|unknown|string|number|boolean|\w+\[\])\b"
    r"|\w!\.\w",
    re.MULTILINE,
)

_SHELL_WORDS = """
awk bash cargo cat cd chmod cmake cp curl cut date diff docker du echo env export find gh git go grep head jq kill
ls make mkdir mv node npm npx perl pip pip3 pnpm ps pwd pytest python python3 rg rm ruff sed sh sort sudo tail tar
tee test touch tree uname uniq unzip uv wc wget which xargs yarn zip
"""
_SHELL_COMMANDS = frozenset(_SHELL_WORDS.split())


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program as the engine gets it; its lines and columns are those of the model's own text."""

    given: str
    """What the model wrote."""
    code: str = field(init=False)
    """Without a byte order mark and without a Markdown fence, both replaced by blanks."""

    def __post_init__(self) -> None:
        text = self.given.replace("\ufeff", " ", 1) if self.given.startswith("\ufeff") else self.given
        object.__setattr__(self, "code", _without_fence(text))

    @property
    def title(self) -> str:
        """The first comment, else the beginning, on one line; a line of options does not count."""
        options = _OPTIONS.match(self.code)
        stripped = self.code[options.end() if options else 0 :].strip()[:1_000]
        comment = re.match(r"//[ \t]*([^\n]+)|/\*+\s*(.*?)\s*\*/", stripped, re.DOTALL)
        text = next((part for part in comment.groups() if part), "") if comment else stripped
        text = " ".join(text.split())
        return text if len(text) <= _TITLE_LENGTH else f"{text[:_TITLE_LENGTH].rstrip()}…"

    @property
    def output_chars(self) -> int | None:
        """Characters of result that the first line's `@exec` options ask for; None where they do not."""
        options = _OPTIONS.match(self.code)
        try:
            given = jsontext.parse_object(options[1]) if options else {}
        except jsontext.JsonError:
            return None
        wanted = given.get("max_output_tokens")
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted <= 0:
            return None
        return wanted * _CHARS_A_TOKEN

    @property
    def count(self) -> int:
        """Number of lines."""
        return self.code.rstrip().count("\n") + 1

    def line(self, number: int) -> str:
        """A line of the program, from 1; empty where there is none."""
        lines = self.code.split("\n")
        return lines[number - 1] if 1 <= number <= len(lines) else ""

    def place(self, units: int) -> tuple[int, int]:
        """Line and byte, from 1, of a place that the engine gives in UTF-16 units."""
        before = self.code.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace")
        line = before[before.rfind("\n") + 1 :]
        return before.count("\n") + 1, len(line.encode("utf-8", "replace")) + 1

    def column(self, number: int, byte: int) -> int:
        """The column, from 1, of a byte of a line: the engine counts bytes of UTF-8."""
        raw = self.line(number).encode("utf-8", "surrogatepass")
        return len(raw[: byte - 1].decode("utf-8", "ignore")) + 1

    @property
    def looks_like_typescript(self) -> bool:
        """Whether a text that does not compile has types in it."""
        return _TYPESCRIPT.search(self.code, 0, _LOOKED_AT) is not None

    @property
    def as_shell(self) -> str:
        """A program that would run this text, where the text is plainly one shell command; else empty."""
        line = self.code.strip().removeprefix("$ ")
        if "\n" in line or line.split(maxsplit=1)[:1] == [] or line.split()[0] not in _SHELL_COMMANDS:
            return ""
        return f"return await tools.Bash({{command: {jsontext.dump(line)}}})"


def _without_fence(text: str) -> str:
    """The text in a fence that is around all of it, on the lines where it stood."""
    inside = text.strip()
    opening, _, rest = inside.partition("\n")
    fenced = opening.startswith(_FENCE) and "`" not in opening[len(_FENCE) :] and rest.endswith(_FENCE)
    if not fenced:
        return text
    before = text[: text.index(_FENCE)]
    return f"{before}\n{rest.removesuffix(_FENCE)}"
