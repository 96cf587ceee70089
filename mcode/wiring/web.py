"""The session's tools on the web, and what its rules say of private hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.builtins.all import web_tools
from mcode.permissions.decide import Behavior
from mcode.permissions.specifiers import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.call import Call
    from mcode.permissions.decide import Policy
    from mcode.pipeline.run import Pipeline
    from mcode.tool import Tool


def session_web_tools(policy: Policy, pipeline: Callable[[], Pipeline]) -> Sequence[Tool]:
    """WebFetch. `pipeline` is asked when a call runs, since it is made from the tools."""

    def names_host(host: str, call: Call) -> bool:
        """A rule that allows this very host, not one of a kind: only such a rule speaks of a private one."""
        return any(
            rule.behavior is Behavior.ALLOW
            and isinstance(rule.match, Domain)
            and rule.match.pattern.strip().casefold() == host
            and rule.is_for(call.parent, call.turn)
            for rule in policy.rules
        )

    return web_tools(lambda call: call.id in pipeline().approved, names_host)
