"""A rough reading of a shell line: the simple commands in it, quotes removed.

It serves deny and ask rules and the checks for dangerous commands, which may see too much but should miss little.
It never serves to let a line run: what it cannot follow leaves a *doubt*, and then `fragments` adds the words of
the line with every quote taken away. The time it takes grows with the length of the line, not faster.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcode.permissions.shell.quotes import ansi_text, decoded_double_escape

LENGTH_LIMIT = 10_000
"""Characters up to which a line is read; a longer one is doubtful and only cut into fragments."""

DEPTH_LIMIT = 40
"""Substitutions within substitutions that are followed."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_UNFOLLOWED = frozenset(("case", "function", "coproc", "select"))
_RESERVED = _UNFOLLOWED | frozenset(
    (
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "while",
        "until",
        "do",
        "done",
        "for",
        "in",
        "esac",
        "{",
        "}",
        "!",
        "[[",
    )
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufffd\ud800-\udfff]"
)
_SEPARATORS = re.compile(r"[;&|(){}<>`\n\r\v\f]+|\$\(")
_PLAIN_VARIABLE = re.compile(r"\$\{\w+\}")
_REDIRECT = re.compile(r"&>>|&>|<<<|<<-?|<>|<&|>>|>\||>&|<|>")
_ORDINARY = re.compile(r"[^\s\\'\"$`;&|()<>{]+")
_ORDINARY_QUOTED = re.compile(r"[^\\\"$`]+")
_BACKQUOTED = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection, and where it leads."""

    operator: str
    """Such as `>`, `>>`, `<`, `>|`, `<>`, `<<<`; `&>` counts as `>`, `<<-` as `<<`."""
    target: str
    """A file, a descriptor, or for `<<` and `<<<` the text itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command."""

    words: tuple[str, ...]
    """Without quotes; without assignments and reserved words in front. Empty for an assignment alone."""
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class RoughLine:
    """What the reading found."""

    text: str
    parts: tuple[Part, ...]
    quoted: tuple[str, ...] = ()
    """Texts in single quotes that hold a substitution, which some commands carry out all the same."""
    doubt: str = ""
    """Why the reading may have missed something; empty where it is certain."""

    @property
    def over_limit(self) -> bool:
        """True where the line was too long to be read."""
        return len(self.text) > LENGTH_LIMIT


def read_line(text: str) -> RoughLine:
    """Read a shell line. Never fails."""
    if len(text) > LENGTH_LIMIT:
        return RoughLine(text, (), doubt=f"it is longer than {LENGTH_LIMIT} characters")
    reader = _Reader(text, 0)
    reader.read_commands("")
    reader.end()
    doubt = "it contains control or invisible characters" if _HIDDEN.search(text) else reader.doubt
    parts = tuple(Part(words, tuple(redirects)) for words, redirects in reader.found)
    return RoughLine(text, parts, tuple(reader.quoted), doubt)


def fragments(text: str) -> tuple[tuple[str, ...], ...]:
    """The line cut at every separator, blind to quotes, each piece as its words."""
    unquoted = re.sub(r"\\\n|['\"\\]", "", text)
    spaced = re.sub(r"['\"\\=,]", " ", text)
    pieces = dict.fromkeys((*_SEPARATORS.split(unquoted), *_SEPARATORS.split(spaced)))
    return tuple(words for words in (tuple(piece.split()) for piece in pieces) if words)


class _Reader:
    """Walks over the line once; substitutions and groups are read by recursion into the same list."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.position = 0
        self.depth = depth
        self.found: list[tuple[tuple[str, ...], list[Redirect]]] = []
        """Words and redirects of each part; the text of a here-document is put into its redirect later."""
        self.quoted: list[str] = []
        self.doubt = ""
        self._documents: list[tuple[list[Redirect], int, str, bool]] = []
        """Here-documents whose text comes after the next newline: where to put it, delimiter, tabs stripped."""

    def read_commands(self, closer: str) -> None:
        """Read commands up to `closer`, or to the end of the text where it is empty."""
        self.depth += 1
        words: list[str] = []
        redirects: list[Redirect] = []
        while self.position < len(self.text):
            letter = self.text[self.position]
            if closer and letter == closer:
                self.position += 1
                break
            if letter in " \t":
                self.position += 1
            elif letter == "#":
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
            elif letter in "<>" or self._ahead("&>"):
                self._read_redirect(words, redirects)
            elif letter in ";&|\n()":
                self._separate(letter, words, redirects)
                words, redirects = [], []
            else:
                word = self._read_word()
                if word is not None:
                    words.append(word)
        else:
            if closer:
                self.doubt = f"a substitution or group is not closed by {closer}"
        self._keep(words, redirects)
        self.depth -= 1

    def end(self) -> None:
        """Note what is still missing at the end of the text."""
        if self._documents:
            self.doubt = "a here-document has no text"

    def _separate(self, letter: str, words: list[str], redirects: list[Redirect]) -> None:
        self.position += 1
        if letter == "\n":
            self._read_documents()
        self._keep(words, redirects)
        if letter == "(":
            self.read_nested(")")

    def read_nested(self, closer: str) -> None:
        if self.depth >= DEPTH_LIMIT:
            self.doubt = f"it nests deeper than {DEPTH_LIMIT} levels"
            self.position = len(self.text)
            return
        self.read_commands(closer)

    def _keep(self, words: list[str], redirects: list[Redirect]) -> None:
        start = 0
        while start < len(words) and (words[start] in _RESERVED or _ASSIGNMENT.match(words[start])):
            if words[start] in _UNFOLLOWED:
                self.doubt = f"it contains `{words[start]}`"
            start += 1
        if start < len(words) and words[start].startswith(("$", "`")):
            self.doubt = "a command's name is computed"
        if words or redirects:
            self.found.append((tuple(words[start:]), redirects))

    def _read_redirect(self, words: list[str], redirects: list[Redirect]) -> None:
        found = _REDIRECT.match(self.text, self.position)
        operator = found[0] if found else self.text[self.position]
        self.position += len(operator)
        if operator in "<>" and self._ahead("("):
            self.position += 1
            self.read_nested(")")
            words.append(f"{operator}(...)")
            return
        while self._ahead(" ") or self._ahead("\t"):
            self.position += 1
        target = ""
        if self.position < len(self.text) and self.text[self.position] not in ";&|\n()<>":
            target = self._read_word() or ""
        if operator in ("<<", "<<-"):
            self._documents.append((redirects, len(redirects), target, operator == "<<-"))
        redirects.append(Redirect(operator.replace("&>", ">").rstrip("-"), target))

    def _read_documents(self) -> None:
        """Take the text of the here-documents that begin after this newline."""
        for redirects, index, delimiter, stripped in self._documents:
            lines: list[str] = []
            closed = False
            while self.position < len(self.text) and not closed:
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                self.position = min(end + 1, len(self.text))
                closed = (line.lstrip("\t") if stripped else line) == delimiter
                if not closed:
                    lines.append(line)
            if not closed:
                self.doubt = "a here-document is not closed"
            body = "\n".join(lines)
            redirects[index] = Redirect("<<", body)
            if "$" in body or "`" in body:
                self._read_expansions(body)
        self._documents.clear()

    def _read_expansions(self, body: str) -> None:
        """Commands substituted in a here-document. (A quoted delimiter would forbid them; that is not looked at.)"""
        inner = _Reader(body.replace('"', " ") + '"', self.depth)
        inner.read_double([])
        self._take(inner)

    def _take(self, inner: _Reader) -> None:
        self.found.extend(inner.found)
        self.quoted.extend(inner.quoted)

    def _ahead(self, text: str) -> bool:
        return self.text.startswith(text, self.position)

    def _read_word(self) -> str | None:
        """The next word without its quotes; None for what is no word: a descriptor's number, a joined line."""
        begin = self.position
        value: list[str] = []
        while self.position < len(self.text):
            letter = self.text[self.position]
            if letter in " \t\n;&|()":
                break
            if letter in "<>":
                if self.text[begin : self.position].isdigit():
                    return None
                break
            self._read_piece(letter, value)
        word = "".join(value)
        return None if word == "" and self.text[begin : self.position].startswith("\\\n") else word

    def _read_piece(self, letter: str, value: list[str]) -> None:
        """Take a run of ordinary characters, a quotation or a substitution of a word."""
        run = _ORDINARY.match(self.text, self.position)
        if run is not None:
            value.append(run[0])
            self.position = run.end()
        elif letter == "\\":
            following = self.text[self.position + 1 : self.position + 2]
            value.append("" if following == "\n" else following)
            self.position += 2
        elif letter == "'":
            end = self._find("'", self.position + 1)
            value.append(self.text[self.position + 1 : end])
            self.position = end + 1
            if "$(" in value[-1] or "`" in value[-1]:
                self.quoted.append(value[-1])
        elif letter == '"':
            self.position += 1
            self.read_double(value)
        elif letter == "`":
            self._read_substitution(letter, value)
        elif letter == "$":
            self._read_dollar(value)
        else:
            self._check_braces(letter)
            value.append(letter)
            self.position += 1

    def _read_dollar(self, value: list[str]) -> None:
        """Take what begins with a dollar outside of quotation marks."""
        match self.text[self.position + 1 : self.position + 2]:
            case '"':
                self.position += 2
                self.read_double(value)
            case "'":
                self.doubt = self.doubt or "it contains a quotation with escapes"
                text, self.position = ansi_text(self.text, self.position + 2)
                value.append(text)
            case "(":
                self._read_substitution("$", value)
            case following:
                self._check_expansion(following)
                value.append("$")
                self.position += 1

    def read_double(self, value: list[str]) -> None:
        while self.position < len(self.text):
            run = _ORDINARY_QUOTED.match(self.text, self.position)
            if run is not None:
                value.append(run[0])
                self.position = run.end()
                continue
            letter = self.text[self.position]
            if letter == '"':
                self.position += 1
                return
            if letter == "\\":
                value.append(decoded_double_escape(self.text[self.position + 1 : self.position + 2]))
                self.position += 2
            elif letter == "`" or self._ahead("$("):
                self._read_substitution(letter, value)
            else:
                if letter == "$":
                    self._check_expansion(self.text[self.position + 1 : self.position + 2])
                value.append(letter)
                self.position += 1
        self.doubt = "a quotation mark is not closed"

    def _read_substitution(self, letter: str, value: list[str]) -> None:
        begin = self.position
        if letter == "`":
            end = _BACKQUOTED.match(self.text, self.position + 1)
            if end is None:
                self.doubt = "a backquote is not closed"
                self.position += 1
                return
            inner = _Reader(re.sub(r"\\([`\\$])", r"\1", end[0][:-1]), self.depth)
            inner.read_nested("")
            self._take(inner)
            self.doubt = self.doubt or inner.doubt
            self.position = end.end()
        else:
            self.position += 2
            self.read_nested(")")
        value.append(self.text[begin : self.position])

    def _check_expansion(self, following: str) -> None:
        """Of a dollar: what comes behind it."""
        if following == "{" and not _PLAIN_VARIABLE.match(self.text, self.position):
            self.doubt = "it contains an expansion with an operator"

    def _check_braces(self, letter: str) -> None:
        if letter == "{" and not self._ahead("{}") and self.text[self.position - 1 : self.position] != "$":
            self.doubt = self.doubt or "it contains braces"

    def _find(self, letter: str, begin: int) -> int:
        end = self.text.find(letter, begin)
        if end < 0:
            self.doubt = "a quotation mark is not closed"
            return len(self.text)
        return end
