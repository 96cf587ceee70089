"""/permissions: the rules in the order in which they decide, and what they say of one call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mcode.call import Call, Origin
from mcode.commands.near_words import unknown_word
from mcode.commands.registry import Arguments, Command, CommandResult
from mcode.commands.rule_removal import USAGE as REMOVE_USAGE
from mcode.commands.rule_removal import remove
from mcode.commands.tables import plural, table
from mcode.errors import UsageError
from mcode.permissions.check import as_object
from mcode.permissions.explain import parse_call_text
from mcode.permissions.modes import Mode

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.permissions.rules import Rule
    from mcode.tool import Tool

_USAGE = "/permissions explain Tool(text), or /permissions explain Tool {json arguments}"

_WITHOUT_RULES = {
    Mode.DEFAULT: "What only reads in the workspace runs; everything else is asked about.",
    Mode.ACCEPT_EDITS: "What reads or edits files of the workspace runs; everything else is asked about.",
    Mode.PLAN: (
        "What only reads in the workspace runs; tools of MCP servers and what leaves it are asked about; "
        "everything else is denied until you approve a plan."
    ),
    Mode.DONT_ASK: "What only reads in the workspace runs; everything else is denied.",
    Mode.BYPASS: "Everything runs but what is asked about in every mode: critical and protected paths.",
}
"""What happens to a call that no rule is about."""

_WHERE_RULES_COME_FROM = (
    "A rule is made by the answer “always” to a question, or written under permissions.allow, ask or deny "
    "in ~/.mcode/settings.json or .mcode/settings.json."
)


async def _permissions(context: CommandContext, arguments: Arguments) -> CommandResult:
    verb, _, rest = arguments.rest.partition(" ")
    if verb == "explain":
        return _explain(context, rest.strip())
    if verb == "remove":
        return await remove(context, rest.strip())
    if verb:
        if verb in {"allow", "ask", "deny", "add"}:
            raise UsageError(f"/permissions makes no rules; nothing was done. {_WHERE_RULES_COME_FROM}")
        usage = f"/permissions, {REMOVE_USAGE}, or {_USAGE}"
        raise unknown_word("/permissions", verb, ("explain", "remove"), usage)
    return _listing(context)


def _listing(context: CommandContext) -> CommandResult:
    policy = context.agent.policy
    rows = [(str(rule.behavior), rule.text, rule.place) for rule in policy.rules]
    lines = [f"Permission mode: {context.agent.mode}"]
    without_rules = (
        "" if rows else f"No rules are in force. {_WITHOUT_RULES[policy.mode]}\n{_WHERE_RULES_COME_FROM}"
    )
    if rows:
        lines += [f"{plural(len(rows), 'rule')}, the strongest first", table(rows)]
    else:
        lines.append(without_rules)
    problems = [problem.message for problem in policy.problems]
    if problems:
        lines += ["Problems with the rules", *(f"  {text}" for text in problems)]
    lines.append(f"What decides about one call: {_USAGE}")
    data = {
        "mode": context.agent.mode,
        "without_rules": without_rules,
        "rules": [rule_facts(rule) for rule in policy.rules],
        "grants": [rule.text for rule in policy.grants],
        "problems": problems,
    }
    return CommandResult("\n".join(lines), data)


def _explain(context: CommandContext, text: str) -> CommandResult:
    if not text:
        raise UsageError(f"Which call? Nothing was run. Usage: {_USAGE}")
    find = partial(_known_tool, context)
    name, given = parse_call_text(text, find)
    tool = find(name)
    missing = [each for each in tool.input_schema.get("required", []) if each not in given]
    if missing:
        lacks = ", ".join(f"`{each}`" for each in missing)
        raise UsageError(f"The call of {tool.name} lacks {lacks}; nothing was run. Usage: {_USAGE}")
    workspace = context.agent.workspace
    try:
        arguments = tool.normalise(given, workspace)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"The arguments do not fit {tool.name}: {error}. Nothing was run.") from None
    call = Call(id="explain", tool=tool.name, arguments=arguments, origin=Origin.MODEL)
    access = tool.access(arguments, workspace)
    policy = context.agent.policy
    verdict = policy.decide(call, tool, access)
    data: JsonObject = {
        **(as_object(access.command, verdict) if access.command is not None else {}),
        "tool": tool.name,
        "arguments": arguments,
        "behavior": str(verdict.behavior),
        "reason": verdict.reason,
        "kind": verdict.kind,
        "rule": rule_facts(verdict.rule) if verdict.rule is not None else None,
    }
    return CommandResult(policy.explain(call, tool, access), data)


def _known_tool(context: CommandContext, name: str) -> Tool:
    catalog = context.agent.catalog
    tool = catalog.find(name)
    if tool is None:
        nearest = catalog.nearest(name)
        hint = f" Did you mean {', '.join(nearest)}?" if nearest else ""
        if name.islower() and "__" not in name:
            hint += f" A shell command is written Bash({name} ...)."
        raise UsageError(f"There is no tool `{name}`; nothing was run.{hint} /tools lists all of them.")
    return tool


def rule_facts(rule: Rule) -> JsonObject:
    """A rule and where it stands, for scripts and inspectors."""
    return {
        "behavior": str(rule.behavior),
        "rule": rule.text,
        "scope": rule.source.scope,
        "path": str(rule.source.path) if rule.source.path else None,
        "line": rule.line,
    }


PERMISSIONS = Command(
    "permissions",
    "the rules in order of precedence; what decides about a call",
    _permissions,
    "[explain CALL | remove RULE]",
    complete=lambda context: ("explain", "remove"),
    elsewhere=("allowed-tools", "approvals", "rules"),
    detail=(
        f"{_USAGE}\n{REMOVE_USAGE}: takes a rule of this session or of your own files out of force\n"
        "example: /permissions explain Bash(git push origin main)"
    ),
)
