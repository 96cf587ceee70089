"""Permission rules: reading what stands in settings files and on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.config.settings import Problem
from mcode.permissions import names
from mcode.permissions.command_patterns import CommandPattern
from mcode.permissions.file_patterns import read_pattern
from mcode.permissions.specifiers import (
    ArgumentValue,
    Commands,
    Domain,
    Files,
    Named,
    Specifier,
    Whole,
)
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from mcode.config.settings import RuleText, Source
    from mcode.permissions.subject import Subject

_NAME = re.compile(r"[A-Za-z0-9_*-]+")
_ARGUMENT = re.compile(r"(-?[A-Za-z_][\w-]*):(.*)", re.DOTALL)
_NAMED_IN = {"Agent": ("subagent_type",), "Skill": ("skill", "name", "command")}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule in force."""

    tool: str
    """Canonical tool name, a glob over names, or `mcp__server`."""
    specifier: str | None
    """What stands between the parentheses, as written; None where there are none."""
    behavior: Behavior
    source: Source
    line: int | None
    """Line in the source's file, from 1."""
    text: str
    """The whole rule as written."""
    match: Specifier = field(default_factory=Whole)
    malformed: bool = False
    """The text could not be read; the rule restricts more than it says."""
    granted: bool = False
    """Added in this session."""
    program: str = ""
    """Id of the `run_code` call whose calls alone it is about; empty for a rule about all calls."""
    turn: int = 0
    """Number of the turn that it ends with, and whose calls alone it may allow; 0 for one that stays."""
    in_plan: bool = False
    """The user's answer to a question of mode plan: a tool of an MCP server runs by it there too."""

    @property
    def place(self) -> str:
        """Where the rule stands, for people."""
        if self.program or self.turn:
            return "this program" if self.program else "this turn"
        if self.source.path is None:
            session = "this session, mode plan too" if self.in_plan else "this session"
            return session if self.source.scope == "session" else self.source.name
        return f"{self.source.path}, line {self.line}" if self.line is not None else str(self.source.path)

    @property
    def cited(self) -> str:
        """The rule and its place, as reasons name it."""
        note = "; malformed, so it counts for more than it says" if self.malformed else ""
        return f"`{self.text}` ({self.place}{note})"

    @property
    def hides(self) -> bool:
        """True where the tool is taken from the model's view: a well-formed deny rule without a specifier."""
        return self.behavior is Behavior.DENY and isinstance(self.match, Whole) and not self.malformed

    def is_for(self, parent: str | None, turn: int) -> bool:
        """True where it holds for calls with this parent in this turn; what restricts holds for all."""
        if self.behavior is not Behavior.ALLOW:
            return True
        return self.program in ("", parent) and self.turn in (0, turn)

    def is_about(self, tool: str, source: str | None = None) -> bool:
        """True where the rule's name speaks for the tool; `source` is the tool's MCP server, or `core`."""
        return names.speaks_for(self.tool, tool, source, wide=self.behavior is not Behavior.ALLOW)

    def touches(self, subject: Subject) -> bool:
        """For deny and ask rules: the call, or anything in it, is what the rule is about."""
        if not isinstance(self.match, (Files, Commands)) and not self.is_about(subject.tool, subject.source):
            return False
        return self.match.touches(subject)


class _BadRuleError(Exception):
    """Why a rule cannot be used as it is written."""


class _IgnoredRuleError(Exception):
    """Why a rule, rightly written, has no effect."""


def parse_rule(text: RuleText) -> Rule | Problem:
    """Read one rule; the Problem of one that is malformed or has no effect."""
    rule, problems = read_rule(text)
    return rule if rule is not None else problems[0]


def read_rule(text: RuleText) -> tuple[Rule | None, tuple[Problem, ...]]:
    """Read one rule: what is in force of it, and what the user should know about it.

    A malformed allow rule is not in force. A malformed deny or ask rule is in force for the whole tool that it
    names, since forgetting it would let through what somebody wanted stopped.
    """
    written = text.text.strip()
    behavior = Behavior(text.behavior)
    try:
        tool, specifier = _split(written)
        if behavior is Behavior.ALLOW:
            _check_allow_name(tool)
        match, warning = _read_specifier(tool, specifier, behavior, text.source)
    except _IgnoredRuleError as ignored:
        return None, (_problem(text, f"{ignored}; the rule has no effect", lost=True),)
    except _BadRuleError as bad:
        return _instead_of(written, behavior, text, str(bad))
    rule = Rule(tool, specifier, behavior, text.source, text.line, written, match)
    warning = warning or _name_warning(tool, behavior)
    return rule, ((_problem(text, warning, lost=False),) if warning else ())


def split_rule_list(text: str) -> tuple[str, ...]:
    """Split a list of rules at commas and blanks; quotes around rules and parentheses in them protect both."""
    rules: list[str] = []
    current, depth, quote = "", 0, ""
    for position, letter in enumerate(text):
        if quote:
            current, quote = (current, "") if letter == quote else (current + letter, quote)
            continue
        if letter in "\"'" and depth == 0:
            quote = letter
            continue
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth = max(depth - 1, 0)
        if depth == 0 and (letter == "," or (letter.isspace() and not _opens(text, position, current))):
            rules.append(current)
            current = ""
        else:
            current += letter
    rules.append(current + quote)
    return tuple(rule.strip() for rule in rules if rule.strip())


def _opens(text: str, position: int, name: str) -> bool:
    """True where blanks stand between a name and `(`: `Bash (x)` must not become the whole of Bash."""
    return name != "" and text[position : position + 40].lstrip().startswith("(")


def _split(written: str) -> tuple[str, str | None]:
    """The canonical tool name and the specifier."""
    found = _NAME.match(written)
    if found is None:
        raise _BadRuleError("it does not begin with the name of a tool")
    tool, rest = names.canonical_name(found[0]), written[found.end() :]
    if rest == "":
        return tool, None
    if not rest.startswith("("):
        if rest.lstrip().startswith("("):
            raise _BadRuleError(f"a blank stands between `{found[0]}` and `(`")
        raise _BadRuleError(f"after the name `{found[0]}` nothing but `(` may follow")
    if not rest.endswith(")"):
        raise _BadRuleError("text follows the last `)`" if ")" in rest else "the parenthesis is not closed")
    if rest[1:-1].strip() == "":
        raise _BadRuleError("there is nothing between the parentheses")
    return tool, rest[1:-1]


def _check_allow_name(tool: str) -> None:
    if "*" in tool and not names.has_server_prefix(tool):
        raise _IgnoredRuleError(
            f"in an allow rule a wildcard in a tool's name counts only behind `mcp__server__`, not in `{tool}`"
        )


def _read_specifier(
    tool: str, specifier: str | None, behavior: Behavior, source: Source
) -> tuple[Specifier, str]:
    """The specifier, and a sentence of warning (empty where there is nothing to say)."""
    if specifier is None:
        return Whole(), ""
    family = next((kind for kind, tools in names.FAMILIES.items() if tool in tools), None)
    if specifier.strip() == "*" and (behavior is not Behavior.ALLOW or tool not in names.FAMILIES):
        return Whole(), ""
    argument = _read_argument(tool, specifier)
    if argument is not None:
        if behavior is Behavior.ALLOW:
            raise _BadRuleError("a test of an argument can only deny or ask")
        return argument, ""
    if tool == "Bash":
        return Commands(CommandPattern(specifier)), ""
    if family is not None:
        return _read_files(tool, specifier, family, behavior, source)
    if tool == "WebFetch":
        kind, _, host = specifier.partition(":")
        if kind != "domain" or host.strip() == "":
            raise _BadRuleError("a rule for WebFetch is written WebFetch(domain:example.com)")
        return Domain(host.strip()), ""
    if tool in _NAMED_IN:
        bare = specifier.removesuffix(":*").removesuffix(" *").strip()
        return Named(bare, _NAMED_IN[tool]), ""
    unknown = "" if names.is_known(tool) or "_" in tool else _nobody_called(tool)
    raise _BadRuleError(unknown or f"{tool} takes no specifier but `argument:value`")


def _read_argument(tool: str, specifier: str) -> ArgumentValue | None:
    """`argument:value`, where it is that for this tool."""
    found = _ARGUMENT.fullmatch(specifier)
    if found is None or (tool == "Bash" and specifier.endswith(":*")):
        return None
    argument, value = found[1], found[2].strip()
    if argument in names.CONTENT.get(tool, ()):
        raise _IgnoredRuleError(
            f"`{argument}` is what a call of {tool} is about, which `argument:value` cannot test; "
            f"write {_content_form(tool)}"
        )
    known = names.ARGUMENTS.get(tool)
    if known is not None and argument not in known:
        return None
    return ArgumentValue(argument, value)


def _content_form(tool: str) -> str:
    if tool == "WebFetch":
        return "WebFetch(domain:example.com)"
    forms = {"Bash": "Bash(command *)", "Write": "Edit(path)", "NotebookEdit": "Edit(path)"}
    return forms.get(tool, "Read(path)" if tool in names.READING else f"{tool}(...)")


def _read_files(
    tool: str, specifier: str, family: str, behavior: Behavior, source: Source
) -> tuple[Specifier, str]:
    warning = ""
    if tool != family:
        if behavior is Behavior.ALLOW:
            raise _IgnoredRuleError(f"paths are compared by {family} rules only; write {family}({specifier})")
        warning = f"paths are compared by {family} rules only; it counts as {family}({specifier})"
    pattern = read_pattern(specifier, source.base)
    if isinstance(pattern, str):
        raise _BadRuleError(pattern)
    return Files(pattern, family == "Edit", behavior is Behavior.DENY), warning


def _instead_of(
    written: str, behavior: Behavior, text: RuleText, fault: str
) -> tuple[Rule | None, tuple[Problem, ...]]:
    """What counts in place of a malformed rule."""
    found = _NAME.match(written)
    if behavior is Behavior.ALLOW or found is None:
        return None, (_problem(text, f"{fault}; the rule is not in force", lost=True),)
    tool = names.canonical_name(found[0])
    verb = "denied" if behavior is Behavior.DENY else "asked about"
    if not names.is_known(tool) and "(" not in written:
        # Words without parentheses are a command line whose `Bash(...)` was forgotten.
        match = Commands(CommandPattern(written))
        rule = Rule("Bash", written, behavior, text.source, text.line, written, match, malformed=True)
        meaning = f"it is taken for Bash({written})"
    else:
        rule = Rule(tool, None, behavior, text.source, text.line, written, malformed=True)
        meaning = f"every call of {tool} is {verb}"
    what = f"{fault}; it is not in force as written: until it is mended, {meaning}"
    return rule, (_problem(text, what, lost=True),)


def _name_warning(tool: str, behavior: Behavior) -> str:
    hint = names.spelling_hint(tool)
    if hint:
        return hint
    if behavior is Behavior.ALLOW or names.is_known(tool) or "_" in tool or "*" in tool:
        return ""
    return _nobody_called(tool)


def _nobody_called(tool: str) -> str:
    near = names.nearest_known(tool)
    return f"no tool is called `{tool}`" + (f"; do you mean {near}?" if near else "")


def _problem(text: RuleText, what: str, *, lost: bool) -> Problem:
    """`lost`: the rule does not do what it says, which is serious for one that should restrict."""
    severe = lost and text.behavior != Behavior.ALLOW
    return Problem(
        path=text.source.path,
        key=f"permissions.{text.behavior}",
        text=f"the rule `{text.text}`: {what}",
        severity="error" if severe else "warning",
        line=text.line,
    )
