"""mcode's own tools of one session, before servers, skills and agents bring theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.builtins.all import file_tools, memory_tools, plan_tools, session_tools
from mcode.builtins.bash import Bash
from mcode.builtins.exit_plan_mode import PlanControl
from mcode.events import Notice
from mcode.permissions.modes import Mode
from mcode.permissions.names import canonical_name, is_known, nearest_known
from mcode.process.environment import child_environment
from mcode.wiring.web import session_web_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.builtins.file_state import FileState
    from mcode.pipeline.run import Pipeline
    from mcode.tool import Tool
    from mcode.wiring.core import SessionCore
    from mcode.wiring.jobs import SessionJobs
    from mcode.wiring.options import Options
    from mcode.wiring.sandbox import SessionSandbox


def unknown_names(options: Options) -> tuple[Notice, ...]:
    """What `--tools` names and mcode has not; servers' names and patterns may come to mean something later."""
    told: list[Notice] = []
    for name in sorted(options.tools or ()):
        if is_known(canonical_name(name)) or name.startswith("mcp__") or not name.isidentifier():
            continue
        near = nearest_known(name)
        hint = f"; is {near} meant?" if near else "; `mcode tools list` shows all."
        told.append(Notice(f"--tools: mcode has no tool called {name}{hint}", "warning"))
    return tuple(told)


def own_tools(
    core: SessionCore,
    file_state: FileState,
    jobs: SessionJobs,
    sandbox: SessionSandbox | None,
    pipeline: Callable[[], Pipeline],
    enter_mode: Callable[[str], None],
) -> Sequence[Tool]:
    """All of them, whether or not the options want each; `pipeline` is there by the time that one runs."""
    bench, policy = core.bench, core.policy
    settings, environment = bench.settings, bench.environment
    passed = {name: environment[name] for name in settings.own.pass_environment if name in environment}
    keys = bench.endpoint.secrets
    asked = child_environment(environment, {**settings.env, **passed}, keys=keys)
    unasked = child_environment(environment, settings.env, keys=keys)
    return (
        *file_tools(file_state, lambda path: not policy.shows(path)),
        *session_tools(),
        *plan_tools(
            PlanControl(lambda: str(policy.mode), enter_mode, lambda: policy.can_bypass),
            begins_in_plan=policy.mode is Mode.PLAN and core.conversation.prefix is None,
        ),
        *jobs.tools,
        *session_web_tools(policy, pipeline),
        *memory_tools(file_state, bench.places.state),
        Bash(
            lambda call: asked if call.id in pipeline().approved else unasked,
            output_limit=settings.bash_output_max_chars,
            jobs=jobs.jobs,
            secrets=bench.masker.known,
            mask=bench.masker.mask,
            sandbox=sandbox,
        ),
    )
