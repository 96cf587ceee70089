"""What the rules say of a tool before it is called, for the search and for `/tools`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.catalog.placement import CALL_TOOL
from mcode.permissions.modes import Mode
from mcode.tool import HARMLESS

if TYPE_CHECKING:
    from mcode.permissions.decide import Policy
    from mcode.tool import Tool


def standing_permission(policy: Policy, tool: Tool) -> str:
    """What bare rules say of a tool, else what its effects mean; and how many finer rules there are."""
    hiding = policy.hides(tool.name)
    if hiding is not None:
        return f"deny ({hiding.source.scope})"
    about = [rule for rule in policy.rules if rule.is_about(tool.name, tool.source) and not rule.program]
    bare = [rule for rule in about if rule.specifier is None]
    # call_tool asks nothing itself: the tool that it names is judged in its place.
    harmless = tool.effects <= HARMLESS or tool.name == CALL_TOOL
    standing = str(bare[0].behavior) if bare else ("allow" if harmless else "ask")
    if policy.mode is Mode.PLAN and tool.source != "core" and not any(rule.in_plan for rule in bare):
        standing = "ask"
    finer = len(about) - len(bare)
    if not finer:
        return standing
    return f"{standing}, {finer} rule" if finer == 1 else f"{standing}, {finer} rules"
