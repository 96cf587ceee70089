"""What may run in a session: the settings' rules, those of the command line, and the mode it starts in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcode.config.settings import RuleText, Source
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.permissions.decide import Policy
from mcode.permissions.modes import Mode, bypass_refusal, in_sandbox, parse_mode, resumed_mode
from mcode.permissions.rules import split_rule_list

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.config.settings import Settings
    from mcode.session.store import OpenSession
    from mcode.tool import Workspace
    from mcode.wiring.options import Options
    from mcode.wiring.workbench import Workbench


_BYPASS = (
    "Mode bypassPermissions: commands and edits run without a question, on everything that you may change yourself. "
    "Asked about all the same: what an ask rule names, critical and protected paths. /mode default ends it."
)


def session_policy(
    bench: Workbench, workspace: Workspace, session: OpenSession, before: str
) -> tuple[Policy, tuple[Notice, ...]]:
    """The policy of a session, and what the user should know of it; `before`: the mode that it was left in."""
    options, settings = bench.options, bench.settings
    named = options.mode or ("bypassPermissions" if options.skip_permissions else None)
    mode, notice = parse_mode(named or before or settings.default_mode or "default")
    if before and not named:
        mode = resumed_mode(mode)
    policy = Policy(
        settings,
        workspace,
        mode,
        cli_rules=_rules_of(options, bench.start),
        can_bypass=wants_bypass(options),
        own=(bench.places.state, bench.places.claude),
        readable=(session.directory,),
    )
    told = (Notice(notice),) if notice else ()
    return policy, (*told, Notice(_BYPASS, "warning")) if policy.mode is Mode.BYPASS else told


def _rules_of(options: Options, start: Path) -> tuple[RuleText, ...]:
    """The rules of `--disallowedTools` and `--allowedTools`."""
    source = Source("cli", None, start, trusted=True)
    return tuple(
        RuleText(rule, behavior, source)
        for behavior, lists in (("deny", options.disallowed), ("allow", options.allowed))
        for given in lists
        for rule in split_rule_list(given)
    )


def check_mode(options: Options, settings: Settings, environment: Mapping[str, str]) -> None:
    """Raise UsageError for a mode that does not exist or may not be entered, before anything is made."""
    for named in (options.mode, settings.default_mode):
        try:
            parse_mode(named or "default")
        except ValueError as error:
            raise UsageError(f"{error} Nothing was started.") from None
    if wants_bypass(options):
        refusal = bypass_refusal(
            disabled=settings.disable_bypass, user_id=os.geteuid(), sandboxed=in_sandbox(environment)
        )
        if refusal is not None:
            raise UsageError(refusal)


def wants_bypass(options: Options) -> bool:
    """True where the command line enables bypassPermissions."""
    return options.skip_permissions or options.mode == "bypassPermissions"
