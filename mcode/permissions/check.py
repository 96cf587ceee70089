"""The verdict about a shell line laid out part by part, for people and programs. Nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from typing_extensions import override

from mcode.call import Call
from mcode.permissions.shell_lines import LENGTH_LIMIT
from mcode.permissions.verdict import Behavior
from mcode.tool import Access, Effect, Tool

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.permissions.verdict import Verdict
    from mcode.tool import ToolServices

_WORDS = {
    Behavior.ALLOW: "runs without asking",
    Behavior.ASK: "asks first",
    Behavior.DENY: "is denied",
}


class _Line(Tool):
    """Stands for Bash where a line is judged and never run."""

    name = "Bash"
    description = ""
    effects = frozenset({Effect.RUNS_COMMANDS})
    input_schema: JsonObject = {"type": "object"}  # noqa: RUF012 -- declared by Tool, never changed

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> NoReturn:
        raise AssertionError("a line that is only judged was run")


def shell_call(line: str) -> tuple[Call, Tool, Access]:
    """A call of Bash with this line, for `Policy.decide`."""
    return Call("check", "Bash", {"command": line}), _Line(), Access(command=line)


def as_object(line: str, verdict: Verdict) -> JsonObject:
    """The verdict as one JSON object."""
    return {
        "line": line if len(line) <= LENGTH_LIMIT else f"{line[:LENGTH_LIMIT]}…",
        "decision": str(verdict.behavior),
        "reason": verdict.reason,
        "kind": verdict.kind,
        "rule": verdict.rule.text if verdict.rule is not None else None,
        "rule_from": verdict.rule.place if verdict.rule is not None else None,
        "runs_as": verdict.run_as,
        "note": verdict.note,
        "parts": [
            {
                "text": part.text,
                "allowed": part.allowed,
                "why": part.why,
                "kind": part.kind,
                "rule": part.rule.text if part.rule is not None else None,
                "rule_from": part.rule.place if part.rule is not None else None,
            }
            for part in verdict.parts
        ],
        "could_be_remembered": [list(proposal.rules) for proposal in verdict.proposals],
    }


def part_lines(verdict: Verdict) -> tuple[str, ...]:
    """One line for each command of a line that was read to its last word, and the line that would run."""
    lines = [f"{'ok ' if part.allowed else 'ask'}  {part.text}  ({part.why})" for part in verdict.parts]
    if verdict.run_as is not None:
        lines.append(f"would run as: {verdict.run_as}")
    if verdict.note:
        lines.append(verdict.note)
    return tuple(lines)


def as_text(line: str, verdict: Verdict) -> str:
    """The verdict in a few lines."""
    first = line if len(line) <= 200 else f"{line[:200]}…"
    return "\n".join(
        (
            f"{_WORDS[verdict.behavior]}: {first}",
            f"  why: {verdict.reason}",
            *(f"  {x}" for x in part_lines(verdict)),
        )
    )
