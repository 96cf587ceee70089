"""The programs of a session: run_code in its catalogue, on its road, with an audit in its directory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.events import Notice, TurnStarted
from mcode.run_code.audit_files import AuditFiles
from mcode.run_code.library import find_library, why_missing
from mcode.run_code.limits import limits_from
from mcode.run_code.tool import RunCode, Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcode.call import Call, CallSite
    from mcode.catalog.catalog import Catalog
    from mcode.events import Event, EventBus
    from mcode.permissions.decide import Policy
    from mcode.pipeline.ask import Desk
    from mcode.pipeline.run import Pipeline
    from mcode.session.store import OpenSession
    from mcode.tool import Access, Tool
    from mcode.wiring.workbench import Workbench

WARM_AFTER = 0.5
"""Seconds into a turn after which a worker is started ahead of its program, where somebody sits and waits."""


class SessionPrograms:
    """What the road asks of running programs, and their beginning and end with the session."""

    def __init__(self, bench: Workbench, session: OpenSession, events: EventBus, desk: Desk) -> None:
        self._bench = bench
        self._events = events
        self._desk = desk
        self._audits = AuditFiles(session.directory)
        self._warming: asyncio.TimerHandle | None = None
        self.run_code: RunCode | None = None
        """None where there is no engine."""

    def join(self, catalog: Catalog, policy: Policy, pipeline: Pipeline) -> Sequence[Notice]:
        """Put run_code into the catalogue; returns what the user should be told."""
        if find_library() is None:
            return (Notice(why_missing(), "warning"),)
        limits, problems = limits_from(self._bench.settings.own.run_code)

        def visible() -> Iterator[Tool]:
            return (tool for tool in catalog if policy.hides(tool.name) is None)

        self.run_code = RunCode(
            Surroundings(
                invoke=pipeline.run,
                tools=visible,
                limits=limits,
                write_audit=self._audits.write,
                mask=self._bench.masker.mask,
                together=True,
            )
        )
        catalog.add(self.run_code)
        self._events.subscribe(self._receive)
        return tuple(Notice(problem, "warning") for problem in problems)

    def site_of(self, call: Call) -> CallSite | None:
        return self.run_code.site_of(call) if self.run_code is not None else None

    async def before_preview(self, call: Call, access: Access) -> None:
        if call.parent is not None and self.run_code is not None:
            await self.run_code.before_preview(call, access)

    async def before_body(self, call: Call) -> None:
        if call.parent is not None and self.run_code is not None:
            await self.run_code.before_body(call)

    def stop(self, program: str, reason: str) -> bool:
        return self.run_code is not None and self.run_code.stop(program, reason)

    async def close(self) -> None:
        """End the workers; to be awaited before all other child processes are ended."""
        if self._warming is not None:
            self._warming.cancel()
        if self.run_code is not None:
            await self.run_code.close()
        self._audits.close()

    def _receive(self, event: Event) -> None:
        if isinstance(event, TurnStarted) and self._warming is None and self._desk.attached:
            self._warming = asyncio.get_running_loop().call_later(WARM_AFTER, self._warm)

    def _warm(self) -> None:
        if self.run_code is not None:
            self.run_code.warm()
