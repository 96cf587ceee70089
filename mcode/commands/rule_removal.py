"""/permissions remove: take a rule out of force, and out of the file that keeps it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.commands.registry import CommandResult
from mcode.config.write import remove_rule
from mcode.errors import McodeError, UsageError

if TYPE_CHECKING:
    from mcode.commands.host import CommandContext
    from mcode.permissions.rules import Rule

USAGE = "/permissions remove allow|ask|deny RULE"

_BEHAVIORS = ("allow", "ask", "deny")

_KEPT_BY_USER = frozenset({"user", "local"})
"""Scopes of files that are the user's own; other files belong to others as well."""


async def remove(context: CommandContext, rest: str) -> CommandResult:
    """Remove a rule by what it says and its text; raises UsageError where there is none that can be removed."""
    behavior, _, text = rest.partition(" ")
    if behavior not in _BEHAVIORS or not text.strip():
        given = [rule for rule in context.agent.policy.rules if rest and rule.text == rest]
        if given:
            meant = " or ".join(f"/permissions remove {rule.behavior} {rest}" for rule in given)
            raise UsageError(f"Say which kind of rule; nothing was changed. Did you mean {meant}?")
        raise UsageError(f"Which rule? Nothing was changed; /permissions lists them. Usage: {USAGE}")
    policy = context.agent.policy
    meant = [rule for rule in policy.rules if (str(rule.behavior), rule.text) == (behavior, text.strip())]
    if not meant:
        raise UsageError(
            f"There is no {behavior} rule `{text.strip()}`; nothing was changed. /permissions lists them."
        )
    removed: list[str] = []
    left: list[str] = []
    for rule in meant:
        try:
            await asyncio.to_thread(_forget, context, rule)
        except McodeError as error:
            left.append(str(error))
        else:
            policy.drop_rule(rule)
            removed.append(rule.place)
    said = [f"Removed: {behavior} {text.strip()} ({place})." for place in removed]
    data = {"removed": removed, "left": left}
    return CommandResult("\n".join([*said, *left]), data, failed=not removed)


def _forget(context: CommandContext, rule: Rule) -> None:
    """Take a rule out of its file; a rule of the session stands in none."""
    path, scope = rule.source.path, rule.source.scope
    if scope == "session":
        return
    if path is None or scope not in _KEPT_BY_USER:
        raise UsageError(
            f"`{rule.text}` stands in {rule.place}, which is not yours alone to change from here; it is still in "
            "force. Take it out where it stands, then begin a session anew."
        )
    if not remove_rule(path, str(rule.behavior), rule.text, places=context.around.places):
        raise UsageError(f"`{rule.text}` does not stand in {path} any more; a new session begins without it.")
