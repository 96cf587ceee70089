"""The verdict about a shell line laid out part by part, for people and programs. Nothing is run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from typing_extensions import override

from mcode.call import Call
from mcode.permissions.shell.lines import LENGTH_LIMIT
from mcode.permissions.verdict import Behavior
from mcode.tool import Access, Effect, Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.jsontext import JsonObject
    from mcode.permissions.decide import Policy
    from mcode.permissions.rules import Rule
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


def judged_line(policy: Policy, line: str) -> Verdict:
    """The verdict about a line, with each of its commands also where the line was decided as a whole."""
    subject = shell_call(line)
    verdict = policy.decide(*subject)
    return verdict if verdict.parts else replace(verdict, parts=policy.parts(*subject))


def waiting_rules(verdict: Verdict, trusting: Verdict) -> tuple[Rule, ...]:
    """The rules that let more of a line run once the folder is trusted; `trusting`: the verdict as it is then."""
    if verdict.behavior is not Behavior.ASK:
        return ()
    found = [trusting.rule] if trusting.behavior is Behavior.ALLOW else []
    if len(verdict.parts) == len(trusting.parts):
        pairs = zip(verdict.parts, trusting.parts, strict=True)
        found += [later.rule for now, later in pairs if later.allowed and not now.allowed]
    return tuple(dict.fromkeys(rule for rule in found if rule is not None))


def as_object(line: str, verdict: Verdict, waiting: Sequence[Rule] = ()) -> JsonObject:
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
                "denied": part.denied,
                "why": part.why,
                "kind": part.kind,
                "rule": part.rule.text if part.rule is not None else None,
                "rule_from": part.rule.place if part.rule is not None else None,
            }
            for part in verdict.parts
        ],
        "could_be_remembered": [list(proposal.rules) for proposal in verdict.proposals],
        "waits_for_trust": [{"rule": rule.text, "rule_from": rule.place} for rule in waiting],
    }


def part_lines(verdict: Verdict) -> tuple[str, ...]:
    """One line for each command of a line that was read to its last word, and the line that would run."""
    lines = [
        f"{'ok ' if part.allowed else 'no ' if part.denied else 'ask'}  {part.text}  ({part.why})"
        for part in verdict.parts
    ]
    if verdict.run_as is not None:
        lines.append(f"would run as: {verdict.run_as}")
    if verdict.note:
        lines.append(verdict.note)
    return tuple(lines)


def as_text(line: str, verdict: Verdict, waiting: Sequence[Rule] = ()) -> str:
    """The verdict in a few lines."""
    first = line if len(line) <= 200 else f"{line[:200]}…"
    return "\n".join(
        (
            f"{_WORDS[verdict.behavior]}: {first}",
            f"  why: {verdict.reason}",
            *(f"  {x}" for x in part_lines(verdict)),
            *(f"  waits for your trust in this folder: the rule {rule.cited} allows it" for rule in waiting),
            *(["  /trust in a session shows what waits, and lets you decide"] if waiting else []),
        )
    )
