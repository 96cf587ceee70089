"""One sub-agent put together: the session's road, rules, catalogue and journal, a context and tools of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import Conversation
from mcode.agent.meter import Meter
from mcode.agent.replies import ModelCaller
from mcode.agent.requests import RequestBuilder
from mcode.agent.subagent_record import SubagentEvents, SubagentLog
from mcode.agent.subagents import Child
from mcode.agent.turn import TurnLoop
from mcode.builtins.all import file_tools, memory_tools
from mcode.builtins.file_state import FileState
from mcode.catalog.call_tool import CallTool
from mcode.catalog.catalog import Catalog
from mcode.catalog.placement import RUN_CODE, TOOL_SEARCH
from mcode.catalog.placements import Placements
from mcode.catalog.seen import Seen
from mcode.catalog.shelf import Shelf
from mcode.catalog.tool_search import ToolSearch
from mcode.events import Notice, ToolFinished, ToolStarted
from mcode.permissions.modes import Mode, parse_mode
from mcode.pipeline.admit import Gate
from mcode.pipeline.execute import Executor
from mcode.pipeline.hook_verdicts import PromptVerdict, StopVerdict
from mcode.pipeline.record import Recorder
from mcode.pipeline.standing import standing_permission
from mcode.pipeline.validate import SchemaValidator
from mcode.wiring.agent_servers import AgentServers
from mcode.wiring.budget import spent
from mcode.wiring.model import terms_of
from mcode.wiring.room import make_room
from mcode.wiring.subagent_grant import SubagentGrant
from mcode.wiring.subagent_reading import SubagentReading

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from mcode.call import Call, Outcome
    from mcode.catalog.placement import PlacementRules
    from mcode.config.agent_files import AgentFile
    from mcode.events import Event
    from mcode.pipeline.hook_verdicts import Reaction
    from mcode.pipeline.hooks import HookRunner
    from mcode.pipeline.run import Pipeline
    from mcode.tool import Tool
    from mcode.wiring.agent_servers import Brought
    from mcode.wiring.subagents import SessionParts

SKILL = "Skill"

IN_PLAN = (
    "The session is in permission mode plan: read and explore only; whatever changes something is denied."
)

LOOSE = frozenset({Mode.ACCEPT_EDITS, Mode.BYPASS})
"""Modes that a repository's file cannot have its agents work in."""


@dataclass(frozen=True, slots=True)
class _Hooks:
    """A sub-agent's end is told to SubagentStop hooks, and its task is no message of the user's."""

    hooks: HookRunner
    """Those of what happens inside the sub-agent: they are told which one it is."""
    kind: str
    transcript: Path

    async def prompt_submitted(self, text: str) -> PromptVerdict:
        del text
        return PromptVerdict()

    async def calls_ended(self, outcomes: Sequence[Outcome]) -> Reaction:
        return await self.hooks.calls_ended(outcomes)

    async def stop(self, last_message: str, *, active: bool) -> StopVerdict:
        fields = {
            "stop_hook_active": active,
            "last_assistant_message": last_message,
            "agent_transcript_path": str(self.transcript),
        }
        reaction = await self.hooks.other("SubagentStop", fields, self.kind)
        return StopVerdict(reaction.blocked, reaction.stop, reaction.notes)


class SubagentMaker:
    """Makes one. Nothing of it outlives its call."""

    def __init__(
        self,
        parts: SessionParts,
        kind: AgentFile,
        call: Call,
        inner: dict[str, tuple[str, str]],
        progress: Callable[[str], None],
        brought: Brought,
    ) -> None:
        """`inner` takes in the calls that are made inside of it; `brought`: what of its file counts."""
        bench = parts.core.bench
        self._brought = brought
        self._grant = SubagentGrant(kind, frozenset(entry.name for entry in brought.servers))
        self._hooks = parts.hooks.within((call.id, kind.name), brought.hooks, kind.effort)
        self._progress = progress
        self._parts = parts
        self._kind = kind
        self._call = call
        self._inner = inner
        self._conversation = Conversation(
            SubagentLog(parts.core.session.journal, parts.core.conversation, call.id)
        )
        # What it does belongs to the turn that started it: a rewind to before that takes it back.
        self._conversation.turn = max(call.turn - 1, 0)
        # One set of ids for all: nobody repeats what another has used.
        self._conversation.history.used_ids = parts.core.conversation.history.used_ids
        self._events = SubagentEvents(parts.agent().events, call.id, progress)
        self._workspace = replace(parts.workspace)
        self._policy = parts.core.policy.beside(self._workspace, self._mode())
        if parts.programs.sandbox is not None:
            self._policy.sandbox = parts.programs.sandbox.within(self._workspace).described
        self._conversation.mode_told = str(self._policy.mode)
        self._files = FileState(bench.places.state / "pending")
        self._reading = SubagentReading(bench.memory, self._conversation, self._tell_of_skills)
        self._told_skills: set[str] = set()
        self._catalog = Catalog(self._tools())
        self._servers: AgentServers | None = None
        if brought.servers:
            core = replace(
                parts.core,
                events=self._events,
                conversation=self._conversation,
                workspace=self._workspace,
                policy=self._policy,
            )
            self._servers = AgentServers.of(
                core, brought.servers, self._catalog, parts.shelf.servers, self._grant.brings
            )
        self._shelf = self._make_shelf()
        self._events.subscribe(self._note)
        if kind.unused:
            fields = ", ".join(kind.unused)
            self._events.emit(Notice(f"The agent {kind.name}: {fields} of its file has no effect in mcode."))

    async def child(self, model: str) -> Child:
        """The sub-agent, ready to run, with its servers as far as they could be started."""
        parts, bench = self._parts, self._parts.core.bench
        pipeline = self._make_pipeline()
        run_code = (
            parts.programs.for_subagent(self._shelf, self._policy, pipeline)
            if self._grant.names(RUN_CODE)
            else None
        )
        meter = Meter(
            self._events, bench.settings.own.prices, parts.agent().meter.window, parts.agent().meter
        )
        caller = ModelCaller(
            self._conversation,
            bench.endpoint.client,
            self._make_builder(),
            meter,
            self._events,
            lambda: model,
            bench.endpoint.calls_on_end_turn,
        )
        loop = TurnLoop(
            self._conversation,
            caller,
            pipeline,
            _Hooks(self._hooks, self._kind.name, parts.core.session.journal.path),
            self._catalog,
            self._events,
            make_room(
                bench, caller, self._hooks, parts.side_files.keep_text, self._shelf, self._reading.remember
            ),
            self._reading.after_calls,
            self._kind.max_turns or bench.options.max_turns,
            parent=self._call.id,
            spent=lambda: spent(
                bench.options.max_budget, parts.agent().meter, model, bench.settings.own.prices
            ),
        )
        forget = parts.shelf.catalog.listen(self._follow)

        async def close() -> None:
            forget()
            if self._servers is not None:
                await self._servers.close()
            if run_code is not None:
                await parts.programs.done_with(run_code)

        opening = (f"Working directory: {self._workspace.start}", *await self._start_servers(pipeline, close))
        return Child(loop, meter, self._events, opening, self._hooks, close)

    async def _start_servers(
        self, pipeline: Pipeline, close: Callable[[], Awaitable[None]]
    ) -> tuple[str, ...]:
        if self._servers is None:
            return ()
        self._progress(f"starting its servers: {', '.join(entry.name for entry in self._brought.servers)}")
        try:
            return await self._servers.start(pipeline)
        except asyncio.CancelledError:
            await close()
            raise

    def _mode(self) -> Mode | None:
        """The mode that the kind wants; a repository's file can only want a stricter one than asking."""
        if not self._kind.mode:
            return None
        try:
            mode, _ = parse_mode(self._kind.mode)
        except ValueError:
            return None
        theirs = self._kind.scope == "project" and not self._parts.core.bench.options.trust
        bypass = mode is Mode.BYPASS and not self._parts.core.policy.can_bypass
        if bypass or (theirs and mode in LOOSE):
            text = f"The agent {self._kind.name} wants mode {mode}, which it cannot have; it works in the session's."
            self._events.emit(Notice(text, "warning"))
            return None
        return mode

    def _tools(self) -> list[Tool]:
        """The session's tools that it may have; those on files remember only what it has read itself."""
        policy, bench = self._policy, self._parts.core.bench
        own = {
            tool.name: tool
            for tool in (
                *file_tools(self._files, lambda path: not policy.shows(path)),
                *memory_tools(self._files, bench.places.state),
            )
        }
        return [own.get(tool.name, tool) for tool in self._parts.shelf.catalog if self._grant.shares(tool)]

    def _follow(self, server: str) -> None:
        """The tools of a server of the session's have changed."""
        if server in self._grant.own_servers:
            return
        tools = [
            tool for tool in self._parts.shelf.catalog if tool.source == server and self._grant.shares(tool)
        ]
        self._catalog.replace_server(server, tools)

    def _make_shelf(self) -> Shelf:
        above, policy = self._parts.shelf, self._policy
        shelf = Shelf(
            catalog=self._catalog,
            placements=Placements(self._catalog, self._rules, above.definitions.tokens),
            seen=Seen(self._conversation),
            finder=above.finder,
            definitions=above.definitions,
            servers=self._servers or above.servers,
            permission=lambda tool: standing_permission(policy, tool),
            way=above.way,
        )
        if self._grant.names(TOOL_SEARCH) or not self._kind.tools:
            self._catalog.add(ToolSearch(shelf))
            self._catalog.add(CallTool())
        return shelf

    def _rules(self) -> PlacementRules:
        """The session's; where the kind names its tools, all of them are there from the start."""
        rules = self._parts.shelf.placements.rules
        if not self._kind.tools:
            return rules
        pins = {tool.name: "resident" for tool in self._catalog}
        return replace(rules, pins={**rules.pins, **pins}, expects_servers=False)

    def _make_builder(self) -> RequestBuilder:
        return RequestBuilder(
            self._conversation,
            self._shelf,
            self._policy,
            self._system,
            terms_of(self._parts.core.bench.endpoint, self._parts.side_files.images),
            on_refused_loading=lambda: None,
            effort=lambda: self._kind.effort or self._parts.agent().skills.turn_effort,
        )

    def _system(self) -> str:
        skills = (self._parts.agent().skills.preloaded(name) for name in self._kind.skills)
        parts = [self._kind.prompt, *filter(None, skills)]
        parts += self._reading.instructions
        if self._policy.mode is Mode.PLAN:
            parts.append(IN_PLAN)
        return "\n\n".join(parts)

    def _make_pipeline(self) -> Pipeline:
        parts = self._parts
        gate = Gate(self._shelf, self._policy, self._workspace, SchemaValidator())
        recorder = Recorder(self._conversation, parts.verdicts, self._events)
        permission = replace(
            parts.pipeline.permission,
            gate=gate,
            policy=self._policy,
            recorder=recorder,
            workspace=self._workspace,
            hooks=self._hooks,
        )
        return replace(
            parts.pipeline,
            gate=gate,
            hooks=self._hooks,
            permission=permission,
            recorder=recorder,
            executor=Executor(self._workspace, self._events, parts.side_files, parts.agent().desk),
            workspace=self._workspace,
            refresh=self._files.refresh,
        )

    def _note(self, event: Event) -> None:
        """Know the calls that are made in it, and what they read."""
        if isinstance(event, ToolStarted):
            self._inner[event.call.id] = (self._call.id, self._kind.name)
        elif isinstance(event, ToolFinished):
            self._reading.note(event.outcome, self._catalog, self._workspace)

    def _tell_of_skills(self, paths: Sequence[Path]) -> None:
        """Tell it of skills for what it has read, where it can come by the tool for them."""
        if not self._grant.names(SKILL):
            return
        if self._catalog.find(SKILL) is None and self._catalog.find(TOOL_SEARCH) is None:
            return
        word = self._parts.skills.word_for_sub_agent(paths, self._told_skills)
        if word is None:
            return
        if self._catalog.find(SKILL) is None:
            self._catalog.add(self._parts.skills.tool_for_sub_agent())
        self._conversation.append("context", word)
