"""The programs of a session: run_code in its catalogue, on its road, with an audit in its directory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.call import Call, Origin
from mcode.catalog.placement_settings import PROGRAMS
from mcode.errors import UsageError
from mcode.events import Notice, TurnFinished, TurnStarted
from mcode.run_code.audit_files import AuditFiles
from mcode.run_code.library import find_library, why_missing
from mcode.run_code.limits import limits_from
from mcode.run_code.tool import RunCode, Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcode.call import CallSite, Outcome
    from mcode.catalog.shelf import Shelf
    from mcode.events import Event
    from mcode.permissions.decide import Policy
    from mcode.pipeline.run import Pipeline
    from mcode.run_code.bridge import Bridge
    from mcode.tool import Access, Tool
    from mcode.wiring.catalogue import SessionCatalogue
    from mcode.wiring.core import SessionCore
    from mcode.wiring.sandbox import SessionSandbox

WARM_AFTER = 0.5
"""Seconds into a turn after which a worker is started ahead of its program, where somebody sits and waits."""

RECORD = "programs"
"""The journal's word for a switch of the programs mode."""


class SessionPrograms:
    """What the road asks of running programs, and their beginning and end with the session."""

    def __init__(
        self, core: SessionCore, catalogue: SessionCatalogue, sandbox: SessionSandbox | None
    ) -> None:
        """`sandbox`: what commands run in; so do the engines."""
        self._core = core
        self._bench = core.bench
        self._conversation = core.conversation
        self.sandbox = sandbox
        self._catalogue = catalogue
        self._audits = AuditFiles(core.session.directory)
        self._warming: asyncio.TimerHandle | None = None
        self._turn_runs = False
        self._pipeline: Pipeline | None = None
        self._begin_anew: Callable[[str], None] = _nothing_begins
        self._own: asyncio.Task[Outcome] | None = None
        """The program of the user's own that runs."""
        self._of_subagents: list[RunCode] = []
        self.run_code: RunCode | None = None
        """None where there is no engine."""

    def join(self, pipeline: Pipeline, begin_anew: Callable[[str], None]) -> Sequence[Notice]:
        """Put run_code into the catalogue; returns what the user should be told.

        `begin_anew` lets the next request begin a new prefix, for the reason that it gets.
        """
        if not self._bench.options.has_tool("run_code"):
            return ()
        if find_library() is None:
            return (Notice(why_missing(), "warning"),)
        shelf = self._catalogue.shelf
        _, problems = limits_from(self._bench.settings.own.run_code)
        self.run_code = self._make(shelf, self._core.policy, pipeline)
        self._pipeline, self._begin_anew = pipeline, begin_anew
        shelf.catalog.add(self.run_code)
        for record in reversed(self._core.session.journal.records):
            if record.type == RECORD:
                self._catalogue.use_programs(str(record.body.get("mode", "")))
                break
        self._core.events.subscribe(self._receive)
        return tuple(Notice(problem, "warning") for problem in problems)

    def for_subagent(self, shelf: Shelf, policy: Policy, pipeline: Pipeline) -> RunCode | None:
        """A run_code for a sub-agent, taken into its catalogue; None where there is no engine."""
        if self.run_code is None:
            return None
        made = self._make(shelf, policy, pipeline)
        self._of_subagents.append(made)
        shelf.catalog.add(made)
        return made

    async def done_with(self, run_code: RunCode) -> None:
        """The sub-agent has ended."""
        self._of_subagents.remove(run_code)
        await run_code.close()

    def _make(self, shelf: Shelf, policy: Policy, pipeline: Pipeline) -> RunCode:
        def visible() -> Iterator[Tool]:
            return (
                tool
                for tool in shelf.catalog
                if policy.hides(tool.name) is None and not shelf.placed(tool).hidden
            )

        def listed() -> Iterator[Tool]:
            places = shelf.placements
            undeferred = sorted((*places.resident(), *places.program_only()), key=lambda tool: tool.name)
            return (tool for tool in undeferred if policy.hides(tool.name) is None)

        return RunCode(
            Surroundings(
                invoke=pipeline.run,
                tools=visible,
                listed=listed,
                limits=limits_from(self._bench.settings.own.run_code)[0],
                write_audit=self._audits.write,
                mask=self._bench.masker.mask,
                is_loaded=lambda tool: shelf.seen.is_loaded(tool.name),
                placement=lambda tool: tool.placement if tool.seldom else shelf.placed(tool).placement,
                together=True,
                confine=self.sandbox.confine_worker if self.sandbox is not None else None,
            )
        )

    @property
    def _engines(self) -> tuple[RunCode, ...]:
        """The session's, and those of the sub-agents that run."""
        return (*((self.run_code,) if self.run_code else ()), *self._of_subagents)

    @property
    def available(self) -> bool:
        return self.run_code is not None

    @property
    def mode(self) -> str:
        return self._catalogue.programs if self.available else "off"

    def set_mode(self, mode: str) -> None:
        if mode not in PROGRAMS:
            raise UsageError(
                f"The programs mode is one of {', '.join(PROGRAMS)}, not {mode!r}. It stays {self.mode}."
            )
        if not self.available:
            raise UsageError(f"{why_missing()} The programs mode stays off.")
        if self._turn_runs:
            raise UsageError(
                f"A turn runs, and its requests must begin alike. The programs mode stays {self.mode}; switch it "
                "when the turn has ended, or after Esc."
            )
        if mode == self.mode:
            return
        self._conversation.append(RECORD, {"mode": mode})
        self._catalogue.use_programs(mode)
        self._begin_anew("programs")

    async def run_kept(self, name: str, code: str, needs: Sequence[str]) -> Outcome:
        if self._pipeline is None or self.mode == "off":
            why = f"the programs mode is {self.mode}" if self.available else why_missing()
            raise UsageError(f"{name} was not run: {why}")
        if self._turn_runs or self._own is not None:
            raise UsageError(f"{name} was not run: something else runs. Start it when that has ended.")
        self._load(name, needs)
        turn = self._conversation.turn + 1
        call = Call(
            self._conversation.history.fresh_id("own"), "run_code", {"code": code}, Origin.USER, turn=turn
        )
        self._own = asyncio.ensure_future(self._pipeline.run(call))
        try:
            outcome = await self._own
        finally:
            self._own.cancel()
            self._own = None
        said = f"I ran my program {name} myself:\n{outcome.text}"
        if not self._turn_runs:
            self._conversation.append("context", {"content": said})
        return outcome

    def interrupt(self) -> bool:
        return self._own is not None and self._own.cancel()

    def stop(self, program: str, reason: str) -> bool:
        return any(each.stop(program, reason) for each in self._engines)

    def cancel(self, call: str) -> bool:
        return any(each.cancel_call(call) for each in self._engines)

    def site_of(self, call: Call) -> CallSite | None:
        sites = (each.site_of(call) for each in self._engines)
        return next((site for site in sites if site is not None), None)

    async def before_preview(self, call: Call, access: Access) -> None:
        bridge = self._bridge_of(call)
        if bridge is not None:
            await bridge.before_preview(call.id, access)

    async def before_asking(self, call: Call) -> None:
        bridge = self._bridge_of(call)
        if bridge is not None:
            await bridge.before_asking(call.id)

    def why_cancelled(self, call: Call) -> str:
        return next(filter(None, (each.why_cancelled(call) for each in self._engines)), "")

    async def before_body(self, call: Call) -> bool:
        bridge = self._bridge_of(call)
        return bridge is not None and await bridge.before_body(call.id)

    def _bridge_of(self, call: Call) -> Bridge | None:
        if call.parent is None:
            return None
        for each in self._engines:
            bridge = each.bridge_of(call)
            if bridge is not None:
                return bridge
        return None

    async def close(self) -> None:
        """End the workers; to be awaited before all other child processes are ended."""
        if self._warming is not None:
            self._warming.cancel()
        if self._own is not None:
            self._own.cancel()
            await asyncio.wait({self._own})
        if self.run_code is not None:
            await self.run_code.close()
        self._audits.close()

    def _load(self, name: str, needs: Sequence[str]) -> None:
        """See that the tools are there that a program needs, and load those that are deferred."""
        shelf = self._catalogue.shelf
        missing = [tool for tool in needs if shelf.visible(tool) is None]
        if missing:
            raise UsageError(
                f"{name} was not run: it needs {', '.join(missing)}, which this session does not have. Add the "
                "server that offers it, or change the program's first lines."
            )
        tools = [tool for each in needs if (tool := shelf.visible(each)) is not None]
        unloaded = [shelf.definitions.loaded(tool) for tool in tools if shelf.is_unloaded(tool)]
        shelf.seen.load(unloaded, "user", turn=self._conversation.turn)

    def _receive(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._turn_runs = True
                if self._warming is None and self._core.desk.attached:
                    self._warming = asyncio.get_running_loop().call_later(WARM_AFTER, self._warm)
            case TurnFinished():
                self._turn_runs = False
            case _:
                pass

    def _warm(self) -> None:
        if self.run_code is not None and self.mode != "off":
            self.run_code.warm()


def _nothing_begins(reason: str) -> None:
    del reason
