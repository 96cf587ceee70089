"""/tools permission NAME: what holds for calls of one tool, and the rules that speak of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.commands.permissions import rule_facts
from mcode.commands.registry import CommandResult
from mcode.commands.tables import table

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.tool import Tool


def tool_permission(context: CommandContext, tool: Tool) -> CommandResult:
    """The standing permission of a tool, and its rules in the order in which they count."""
    policy = context.agent.policy
    standing = context.agent.builder.shelf.permission(tool)
    rules = [rule for rule in policy.rules if rule.is_about(tool.name, tool.source)]
    mode = str(context.agent.mode)
    facts = [("permission", standing), ("mode", mode)]
    lines = [tool.name, table(facts)]
    if rules:
        lines += [
            "Rules that speak of it, the strongest first:",
            table((str(rule.behavior), rule.text, rule.place) for rule in rules),
            "/permissions remove BEHAVIOUR RULE takes one out of force.",
        ]
    else:
        lines.append("No rule speaks of it; what its effects mean in this mode decides.")
    lines.append(
        f"What decides about one call: /permissions explain {tool.name}(...). A rule is made by the answer "
        "“always” to a question, or written under permissions in your settings."
    )
    data = {
        "name": tool.name,
        "permission": standing,
        "mode": mode,
        "rules": [rule_facts(rule) for rule in rules],
    }
    return CommandResult("\n".join(lines), data)
