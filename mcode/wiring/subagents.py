"""The sub-agents of a session: their kinds are read when it starts, the code to run one loads with the first."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.agent.subagents import Subagents
from mcode.config.model_names import model_named
from mcode.events import Notice
from mcode.wiring.long_calls import LongCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.agent.agent import Agent
    from mcode.agent.subagents import Child
    from mcode.call import Call
    from mcode.catalog.shelf import Shelf
    from mcode.config.agent_files import AgentFile
    from mcode.permissions.verdict_log import VerdictLog
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.run import Pipeline
    from mcode.pipeline.side_files import SideFiles
    from mcode.tool import Workspace
    from mcode.wiring.core import SessionCore
    from mcode.wiring.programs import SessionPrograms
    from mcode.wiring.skills import SessionSkills
    from mcode.wiring.worktree import AgentTree


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What of a session its sub-agents are made from."""

    core: SessionCore
    workspace: Workspace
    """Where the sub-agent begins: the session's, or a worktree of its own."""
    hooks: HookRunner
    shelf: Shelf
    pipeline: Pipeline
    side_files: SideFiles
    verdicts: VerdictLog
    programs: SessionPrograms
    skills: SessionSkills
    agent: Callable[[], Agent]


class SessionSubagents:
    """Reads the kinds, puts the tool into the catalogue, and has each sub-agent made."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        bench = parts.core.bench
        self._in_background = LongCalls(parts.core.events, moves=bench.interactive)
        self.agents = Subagents(self._make, bench.endpoint.window, self._in_background.begun)
        parts.hooks.agent_of = self.agents.inner.get

    async def close(self) -> None:
        """End those that work in the background."""
        await self._in_background.close()

    async def read(self) -> Sequence[str]:
        """Read the files, in a thread; what is wrong with them.

        The tool is in the first request only where they define something.
        """
        from mcode.builtins.agent_tool import AgentTool
        from mcode.config.agent_files import any_agents, load_agents

        bench, background = self._parts.core.bench, self._in_background
        background.wake = lambda text: self._parts.agent().queue(text, typed=False)
        background.conclude = self._parts.pipeline.conclude_later
        problems: Sequence[str] = ()
        if not bench.options.has_tool("Agent"):
            return problems
        given = bench.options.agents
        if given or await asyncio.to_thread(any_agents, bench.places, bench.start):
            found, problems = await asyncio.to_thread(
                load_agents, bench.places, bench.start, bench.options.setting_sources, given
            )
            self.agents.put(found)
        self._parts.shelf.catalog.add(AgentTool(self.agents, seldom=len(self.agents.kinds) == 1))
        return problems

    async def _make(self, kind: AgentFile, model: str, call: Call, progress: Callable[[str], None]) -> Child:
        from mcode.wiring.agent_servers import Brought, brought_along
        from mcode.wiring.subagent import SubagentMaker

        parts, brought = self._parts, Brought()
        chosen = self._model(model or kind.model)
        if kind.hooks or kind.own_servers:
            agent = parts.agent()
            brought = await brought_along(kind, parts.core.bench, agent.desk, agent.events, call)
        if not kind.isolated:
            return await SubagentMaker(parts, kind, call, self.agents.inner, progress, brought).child(chosen)
        from mcode.wiring.worktree import make_tree

        progress("making its git worktree")
        bench = parts.core.bench
        tree, workspace = await make_tree(kind.name, parts.workspace, bench.places.state, bench.environment)
        parts = replace(parts, workspace=workspace)
        async with AsyncExitStack() as where_it_fails:
            where_it_fails.push_async_callback(tree.end)
            child = await SubagentMaker(parts, kind, call, self.agents.inner, progress, brought).child(chosen)
            where_it_fails.pop_all()
        return self._in_tree(child, tree)

    def _in_tree(self, child: Child, tree: AgentTree) -> Child:
        """The same one, which knows where it is, and whose end is that of its worktree as well."""

        async def close() -> None:
            await child.close()
            left = await tree.end()
            if left:
                self._parts.agent().events.emit(Notice(left))

        return replace(child, opening=(*child.opening, tree.told), close=close, leave=tree.end)

    def _model(self, wanted: str) -> str:
        """The model's name here: another agent's short name means our own."""
        return model_named(wanted) or self._parts.agent().model
