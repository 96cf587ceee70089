"""From a tree to the units of a line in their order: words, operators, redirections, assignments.

Only a closed set of nodes is known. Grouping is not taken from the tree: in what is accepted here the shell reads
from left to right, and so does this. Each byte must be accounted for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mcode.permissions.shell.words import Word, bare_word, double_quoted, joined, single_quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_GROUPS = frozenset(("program", "list", "pipeline", "command", "command_name", "redirected_statement"))
_WORDS = frozenset(("word", "number", "string", "raw_string", "concatenation"))
_OPERATORS = frozenset(("&&", "||", ";", "|"))
_REDIRECT_OPERATORS = frozenset((">", ">>", "<", ">|", "&>", "&>>", ">&", "<&", "<>"))
_GAP = re.compile(rb"(?:[ \t\n]|(?<=[ \t\n])\\\n(?=[ \t\n]))*")
_DEPTH_LIMIT = 200

UNIT_LIMIT = 1_000
"""Words, operators and redirections of a line that is read."""

_NAMES = {
    "command_substitution": "a command substitution",
    "process_substitution": "a process substitution",
    "simple_expansion": "a variable",
    "expansion": "an expansion",
    "arithmetic_expansion": "arithmetic",
    "ansi_c_string": "a quotation with escapes",
    "translated_string": "a translated string",
    "heredoc_redirect": "a here-document",
    "herestring_redirect": "a here-string",
    "subshell": "a subshell",
    "compound_statement": "a group of commands",
    "if_statement": "`if`",
    "while_statement": "a loop",
    "for_statement": "a loop",
    "c_style_for_statement": "a loop",
    "case_statement": "`case`",
    "function_definition": "a function",
    "test_command": "a test in brackets",
    "negated_command": "`!`",
    "variable_assignment": "a variable that is set",
    "variable_assignments": "variables that are set",
    "declaration_command": "a declaration",
    "unset_command": "`unset`",
    "brace_expression": "braces",
    "array": "an array",
    "&": "a command in the background",
    "|&": "`|&`",
    ";;": "`;;`",
}


class ComplexError(Exception):
    """The line is not plain; the text says what in it is not."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of a line."""

    kind: Literal["word", "operator", "redirect", "assignment"]
    start: int
    end: int
    text: str = ""
    """An operator (a newline counts as one), a redirection's operator, or a variable's name."""
    word: Word | None = None
    """The word, the redirection's target, or the variable's value."""


def units_of(root: Node, source: bytes) -> list[Unit]:
    """The units in order. Raises ComplexError for a node that is not known, and for a byte that is in none."""
    found: list[Unit] = []
    position, before = 0, ""
    for kind, node in _pieces(root, 0):
        if len(found) > UNIT_LIMIT:
            raise ComplexError(f"it has more than {UNIT_LIMIT} words and operators")
        start, end = node.start_byte, node.end_byte
        if start < position:
            raise ComplexError("its parts overlap")
        gap = _gap(source, position, start)
        if "\n" in gap:
            found.append(Unit("operator", position, start, "\n"))
        if not gap and before not in ("", "operator") and kind != "operator" and position > 0:
            raise ComplexError(f"two words touch before `{_text(source, start, end)[:40]}`")
        if kind != "comment":
            found.append(_unit(kind, node, source))
        position, before = end, kind
    if "\n" in _gap(source, position, len(source)):
        found.append(Unit("operator", position, len(source), "\n"))
    return found


def _gap(source: bytes, start: int, end: int) -> str:
    """The newlines between two units that end a command; raises ComplexError where more than blanks stands there."""
    whole = _GAP.fullmatch(source, max(start, 0), end)
    if whole is None:
        raise ComplexError(f"`{_text(source, start, end)[:40]}` in it could not be read")
    return _text(source, start, end).replace("\\\n", "")


def _pieces(node: Node, depth: int) -> Iterator[tuple[str, Node]]:
    """The nodes that become units, in the order of the line."""
    if depth > _DEPTH_LIMIT:
        raise ComplexError("it nests too deeply")
    for child in node.children:
        kind = child.type
        if child.is_missing:
            raise ComplexError(f"`{kind}` is missing")
        if kind in _GROUPS:
            yield from _pieces(child, depth + 1)
        elif kind in _WORDS and child.is_named:
            yield "word", child
        elif kind in _OPERATORS and not child.is_named:
            yield "operator", child
        elif kind == "file_redirect":
            yield "redirect", child
        elif kind == "variable_assignment" and node.type == "command":
            yield "assignment", child
        elif kind == "comment":
            yield "comment", child
        elif kind != "\n":
            raise ComplexError(f"it contains {_NAMES.get(kind, kind)}")


def _unit(kind: str, node: Node, source: bytes) -> Unit:
    start, end = node.start_byte, node.end_byte
    match kind:
        case "word":
            return Unit("word", start, end, word=_word(node, source))
        case "operator":
            return Unit("operator", start, end, node.type)
        case "redirect":
            return _redirect(node, source)
        case _:
            return _assignment(node, source)


def _redirect(node: Node, source: bytes) -> Unit:
    """A redirection to one literal word."""
    children = list(node.children)
    descriptor = ""
    if children and children[0].type == "file_descriptor":
        first = children.pop(0)
        descriptor = _text(source, first.start_byte, first.end_byte)
        if not children or first.end_byte != children[0].start_byte or not descriptor.isdecimal():
            raise ComplexError("it contains a redirection that could not be read")
    if len(children) != 2 or children[0].type not in _REDIRECT_OPERATORS or children[1].type not in _WORDS:
        raise ComplexError("it contains a redirection that could not be read")
    operator, target = children
    if _gap(source, operator.end_byte, target.start_byte).strip(" \t"):
        raise ComplexError("it contains a redirection that could not be read")
    word = _word(target, source)
    if word.glob:
        raise ComplexError("it redirects to a pattern")
    return Unit("redirect", node.start_byte, node.end_byte, f"{descriptor}{operator.type}", word)


def _assignment(node: Node, source: bytes) -> Unit:
    """A variable set to one literal word."""
    children = node.children
    if len(children) not in (2, 3) or children[0].type != "variable_name" or children[1].type != "=":
        raise ComplexError("it sets a variable in a way that is not plain")
    name = _text(source, children[0].start_byte, children[0].end_byte)
    value = _word(children[2], source) if len(children) == 3 else Word("", "")
    ends = [
        children[0].start_byte,
        *(end for child in children for end in (child.start_byte, child.end_byte)),
    ]
    touching = all(ends[index + 1] == ends[index] for index in range(0, len(ends) - 1, 2))
    if value.glob or not touching or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ComplexError(f"it sets the variable {name[:40]} in a way that is not plain")
    return Unit("assignment", node.start_byte, node.end_byte, name, value)


def _word(node: Node, source: bytes) -> Word:
    """The literal word of a node; raises ComplexError where it is none."""
    text = _text(source, node.start_byte, node.end_byte)
    word: Word | None = None
    match node.type:
        case "word" | "number":
            word = bare_word(text) if node.child_count == 0 else None
        case "raw_string":
            word = single_quoted(text)
        case "string":
            plain = all(child.type in ('"', "string_content") for child in node.children)
            word = double_quoted(text) if plain else None
        case "concatenation":
            word = _concatenation(node, source)
        case _:
            word = None
    if word is None:
        raise ComplexError(_why_not_literal(node, text))
    return word


def _concatenation(node: Node, source: bytes) -> Word | None:
    position = node.start_byte
    pieces: list[Word] = []
    for child in node.children:
        if child.start_byte != position:
            return None
        pieces.append(_word(child, source))
        position = child.end_byte
    return joined(pieces) if position == node.end_byte and pieces else None


def _why_not_literal(node: Node, text: str) -> str:
    for child in node.children:
        if child.type in _NAMES:
            return f"it contains {_NAMES[child.type]}"
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    return f"the word `{shown}` may mean something else than it says"


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode()
