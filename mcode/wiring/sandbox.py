"""The session's sandbox: whether there is one, what it lets through, and which calls it confines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.call import Origin
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.process.sandbox import Sandbox, sandbox_availability

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.call import Call
    from mcode.process.run import ProcessSpec
    from mcode.tool import Workspace
    from mcode.wiring.core import SessionCore


@dataclass(frozen=True, slots=True)
class SessionSandbox:
    """Confines the commands of the model and of its programs; what the user typed runs as in any shell."""

    sandbox: Sandbox
    temporary: Path
    """For temporary files of the commands; they see no other directory of that kind that they could write."""

    def within(self, workspace: Workspace) -> Sandbox:
        """The sandbox of calls there: a sub-agent in a git worktree writes only in that."""
        return self.sandbox if workspace.tree is None else replace(self.sandbox, writable=workspace.roots)

    def confine(self, spec: ProcessSpec, call: Call, workspace: Workspace) -> ProcessSpec:
        if call.origin is Origin.USER:
            return spec
        self.temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
        argv = self.within(workspace).wrap(spec.argv, spec.cwd, self.temporary)
        return replace(spec, argv=argv, env={**spec.env, "TMPDIR": str(self.temporary)})

    def confine_worker(self, argv: tuple[str, ...], directory: Path) -> tuple[str, ...]:
        """The arguments that start an engine for programs inside: no network, and no file but its own directory's."""
        return replace(self.sandbox, writable=(), network=False).wrap(argv, directory, directory)

    def note(self, call: Call, workspace: Workspace) -> str:
        if call.origin is Origin.USER:
            return ""
        described = self.within(workspace).described
        return (
            f"This command ran in a sandbox ({described}; temporary files in $TMPDIR). If it failed for "
            "that, say so: the user can run it with `!`, which is not confined."
        )


def session_sandbox(core: SessionCore) -> tuple[SessionSandbox | None, tuple[Notice, ...]]:
    """The sandbox that the command line or the settings ask for, and what the user is told.

    Tells the policy of it. Raises UsageError where the command line asks for one and there is none.
    """
    bench, roots = core.bench, core.workspace.roots
    own = bench.settings.own
    if not (own.sandbox or bench.options.sandbox):
        return None, ()
    found = sandbox_availability(bench.environment.get("PATH", ""), roots)
    if not found.available:
        if bench.options.sandbox:
            raise UsageError(
                f"--sandbox: there is no sandbox on this system: {found.why_not}. Nothing was started. Install "
                "bubblewrap, or start without --sandbox."
            )
        text = f"The setting mcode.sandbox has no effect: {found.why_not}. Commands run unconfined, and are asked about"
        return None, (Notice(f"{text} as always.", "warning"),)
    sandbox = Sandbox(found, roots, own.sandbox_network)
    core.policy.sandbox = sandbox.described
    core.policy.sandbox_allows = own.sandbox_auto_allow
    told = f"Commands of the model run in a sandbox: {sandbox.described}."
    limits = "".join(f" {limit[:1].upper()}{limit[1:]}." for limit in found.limits)
    allowed = " Plain ones run unasked (mcode.sandboxAutoAllow)." if own.sandbox_auto_allow else ""
    return SessionSandbox(sandbox, core.session.directory / "tmp"), (Notice(told + limits + allowed),)
