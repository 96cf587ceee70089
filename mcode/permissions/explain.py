"""Why a call is allowed, asked about or denied, in words; and reading a call as a person types it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.errors import UsageError
from mcode.permissions import names
from mcode.permissions.check import part_lines
from mcode.permissions.needs import meets, needs_of
from mcode.permissions.specifiers import Files
from mcode.permissions.verdict import Behavior

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from mcode.jsontext import JsonObject
    from mcode.permissions.resolve import Place
    from mcode.permissions.rules import Rule
    from mcode.permissions.subject import Subject
    from mcode.permissions.verdict import Verdict
    from mcode.tool import Tool

_CALL = re.compile(r"([A-Za-z0-9_-]+)(?:\((.*)\)|([\s{].*))?", re.DOTALL)

_MAIN_ARGUMENT = {
    "Bash": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "WebFetch": "url",
    "WebSearch": "query",
    "Agent": "subagent_type",
    "Skill": "skill",
}
_REST: dict[str, JsonObject] = {
    "Edit": {"old_string": "", "new_string": ""},
    "Write": {"content": ""},
    "NotebookEdit": {"new_source": ""},
    "WebFetch": {"prompt": ""},
    "Agent": {"prompt": "", "description": ""},
}
"""Arguments that a tool wants besides the main one; they play no part in the decision."""


def parse_call_text(text: str, find: Callable[[str], Tool] | None = None) -> tuple[str, JsonObject]:
    """Read a call as typed: the tool's name and its arguments.

    Understood are `Bash(rm x)`, `Edit src/a.py`, `Read(/etc/passwd)`, `WebFetch(domain:example.com)`, `!ls`, and
    a name with a JSON object: `mcp__tickets__close {"id": 7}`. Raises UsageError for anything else.

    `find` gives the tool that a name means, and raises UsageError where there is none. With it, a text for a
    tool without a main argument above is the first argument that the tool requires.
    """
    text = text.strip()
    if text.startswith("!"):
        text = f"Bash({text[1:].strip()})"
    found = _CALL.fullmatch(text)
    if found is None:
        raise UsageError(
            f"{text!r} is not a call. Write the tool and what it is about, such as Bash(rm x), Edit src/a.py, "
            'or with all arguments: mcp__tickets__close {"id": 7}. Nothing was run.'
        )
    tool = names.canonical_name(found[1])
    known = find(tool) if find is not None else None
    tool = known.name if known is not None else tool
    content = (found[2] if found[2] is not None else found[3] or "").strip()
    main = _MAIN_ARGUMENT.get(tool) or _first_required(known)
    if content.startswith("{"):
        try:
            return tool, jsontext.parse_object(content)
        except jsontext.JsonError as error:
            if tool != "Bash":  # a shell line may begin so
                raise UsageError(
                    f"The arguments of {tool} are not a JSON object: {error}. Nothing was run."
                ) from None
    if content == "":
        return tool, {}
    if main is None:
        raise UsageError(
            f'The arguments of {tool} are written as a JSON object: {tool} {{"name": "value"}}. Nothing was run.'
        )
    if tool == "WebFetch":
        content = content.removeprefix("domain:")
        content = content if "://" in content else f"https://{content}"
    return tool, {main: content, **_REST.get(tool, {})}


def _first_required(tool: Tool | None) -> str | None:
    required: list[str] = tool.input_schema.get("required", []) if tool is not None else []
    return next(iter(required), None)


def explanation(
    verdict: Verdict, subject: Subject, rules: Collection[Rule], mode: str, hidden_by: Rule | None
) -> str:
    """Several lines: the verdict, then what was looked at and every rule that is about the call."""
    words = {Behavior.ALLOW: "runs without asking", Behavior.ASK: "asks first", Behavior.DENY: "is denied"}
    lines = [f"{subject.tool}: {words[verdict.behavior]}", f"  why: {verdict.reason}", f"  mode: {mode}"]
    if hidden_by is not None:
        lines.append(f"  hidden from the model by {hidden_by.cited}")
    lines.extend(f"  {line}" for line in _paths(subject))
    lines.extend(f"  {line}" for line in part_lines(verdict) or _commands(subject))
    matching = [f"{rule.behavior}: {rule.cited}" for rule in rules if _plays_a_part(rule, subject)]
    if subject.command is not None and any(map(_denies_reading, rules)):
        lines.append(f"  {_WHAT_DENIES_REACH}")
    lines.append(f"  rules that match: {'; '.join(matching) if matching else 'none'}")
    if verdict.proposals:
        lines.append(
            f"  could be remembered as: {', '.join(dict.fromkeys(rule for p in verdict.proposals for rule in p.rules))}"
        )
    return "\n".join(lines)


_WHAT_DENIES_REACH = (
    "rules that deny reading are compared with the files that the line names, with what git would show of tracked "
    "files, and with what grep, rg, diff and find would show below a directory; not with what any other program opens "
    "by itself"
)


def _denies_reading(rule: Rule) -> bool:
    return rule.behavior is Behavior.DENY and isinstance(rule.match, Files) and not rule.match.editing


def _plays_a_part(rule: Rule, subject: Subject) -> bool:
    if not rule.is_for(subject.parent, subject.turn):
        return False
    if rule.behavior is Behavior.ALLOW:
        return any(meets(rule, need, subject) for need in needs_of(subject))
    return rule.touches(subject)


def _paths(subject: Subject) -> Iterator[str]:
    for verb, places in (("writes", subject.writes), ("reads", subject.reads)):
        for place in places:
            yield f"{verb} {_described(place, subject)}"


def _described(place: Place, subject: Subject) -> str:
    notes = ["in the workspace" if subject.paths.inside(place) else "outside the workspace"]
    if place.resolved != place.given:
        notes.insert(0, f"which is {place.resolved}")
    notes.extend(note for note in (subject.paths.protection(place), subject.paths.secret(place)) if note)
    return f"{place.given} ({', '.join(notes)})"


def _commands(subject: Subject) -> Iterator[str]:
    if subject.command is None:
        return
    line = subject.reach.line
    for part in line.parts:
        if part.words:
            yield f"runs {' '.join(part.words)}"
    if line.doubt:
        yield f"not everything could be read: {line.doubt}"
