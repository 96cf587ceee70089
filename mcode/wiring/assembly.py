"""One session's objects, put together in the order in which they need one another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcode.agent.agent import Agent
from mcode.agent.meter import Meter
from mcode.agent.parts import Parts
from mcode.agent.prompt import system_prompt
from mcode.agent.replies import ModelCaller
from mcode.agent.requests import RequestBuilder
from mcode.agent.style import Style
from mcode.agent.turn import TurnLoop
from mcode.builtins.file_state import FileState
from mcode.catalog.catalog import Catalog
from mcode.config.settings import RuleText, Source
from mcode.errors import UsageError
from mcode.events import Notice
from mcode.permissions.verdict_log import VerdictLog
from mcode.pipeline.admit import Gate
from mcode.pipeline.execute import Executor
from mcode.pipeline.hooks import HookRunner
from mcode.pipeline.permit import Permission
from mcode.pipeline.record import Recorder
from mcode.pipeline.run import Pipeline
from mcode.pipeline.validate import SchemaValidator
from mcode.process.tree import end_all_children
from mcode.wiring.budget import check_budget, spent
from mcode.wiring.calls_limit import calls_limit
from mcode.wiring.catalogue import SessionCatalogue
from mcode.wiring.core import make_core
from mcode.wiring.endpoint import GUIDE
from mcode.wiring.file_watch import FileWatch
from mcode.wiring.hook_facts import HookFacts
from mcode.wiring.hook_watch import HookWatch
from mcode.wiring.interpreter import Interpreter
from mcode.wiring.jobs import SessionJobs
from mcode.wiring.keep_rules import RuleKeeper
from mcode.wiring.model import choose_model, terms_of
from mcode.wiring.own_tools import own_tools, unknown_names
from mcode.wiring.programs import SessionPrograms
from mcode.wiring.read_files import ReadFiles, recall_files
from mcode.wiring.rewinding import make_rewinding, make_side_files
from mcode.wiring.room import make_room
from mcode.wiring.sandbox import session_sandbox
from mcode.wiring.servers import SessionServers
from mcode.wiring.skills import SessionSkills
from mcode.wiring.structured import Structured, structured_tool
from mcode.wiring.style import begin_style, unheard
from mcode.wiring.subagents import SessionParts, SessionSubagents
from mcode.wiring.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Call
    from mcode.session.store import OpenSession
    from mcode.wiring.prompt_tool import PromptTool
    from mcode.wiring.status_line import StatusCommand
    from mcode.wiring.workbench import Workbench


class Assembly:
    """Builds `agent`, and answers what its parts ask across rooms."""

    def __init__(self, bench: Workbench, session: OpenSession) -> None:
        core, notices = make_core(bench, session)
        self._core, self._bench, self._events, self._policy = core, bench, core.events, core.policy
        self._side_files = make_side_files(core)
        self._jobs = SessionJobs(core)
        self._file_state = FileState(bench.places.state / "pending")
        recall_files(core, self._file_state)
        self._opening: list[Notice] = [*notices, *unheard(bench.options, core.conversation)]
        self._opening += unknown_names(bench.options)
        self._sandbox, notices = session_sandbox(core)
        self._opening += notices
        self._style = Style(lambda: self.agent.builder.begin_again("style"))
        schema = bench.options.json_schema
        self._structured = structured_tool(schema) if schema is not None else None
        self._catalog = self._make_catalog()
        self._catalogue = SessionCatalogue(core, self._catalog)
        self._servers = SessionServers.join(core, self._catalog)
        self._catalogue.join_servers(bench.pool)
        self._hooks = self._make_hooks()
        self._hooks.server_of = self._servers.origin_of
        warnings = (Notice(text, "warning") for text in self._hooks.problems)
        self._opening += (*self._catalogue.notices, *warnings)
        self._watch = HookWatch(
            self._hooks,
            core.events,
            core.workspace,
            lambda: bench.memory.files,
            interactive=bench.interactive,
        )
        self._files = FileWatch(self._hooks, bench.places, core.workspace)
        self._programs = SessionPrograms(core, self._catalogue, self._sandbox)
        self._verdicts = VerdictLog(bench.verdict_log, bench.masker, session=session.id)
        self._pipeline = self._servers.pipeline = self._make_pipeline()
        self._skills = SessionSkills.of(core, self._catalog, self._pipeline, self._hooks)
        self._subagents = self._make_subagents()
        self._opening += self._programs.join(self._pipeline, self._begin_prefix)
        self._read_files = ReadFiles(
            core, self._file_state, self._catalog, self._skills, self._subagents.agents.inner
        )
        self._status = self._make_status()
        self._prompt_tool: PromptTool | None = None
        self.agent = self._make_agent()
        self._problems: list[str] = []
        # Last, since nobody closes them where a step before fails.
        self._watchdog = Watchdog(core.events)
        self._interpreter = Interpreter(core.events)

    async def read(self) -> None:
        """Read the files of skills and agents; from here on the catalogue has all that the first request may carry."""
        self._problems += await self._skills.read()
        self._problems += await self._subagents.read()

    def _make_subagents(self) -> SessionSubagents:
        parts = SessionParts(
            core=self._core,
            workspace=self._core.workspace,
            hooks=self._hooks,
            shelf=self._catalogue.shelf,
            pipeline=self._pipeline,
            side_files=self._side_files,
            verdicts=self._verdicts,
            programs=self._programs,
            skills=self._skills,
            agent=lambda: self.agent,
        )
        return SessionSubagents(parts)

    def _make_catalog(self) -> Catalog:
        tools = own_tools(
            self._core,
            self._file_state,
            self._jobs,
            self._sandbox,
            lambda: self._pipeline,
            self._enter_mode,
        )
        catalog = Catalog(tool for tool in tools if self._bench.options.has_tool(tool.name))
        if self._structured is not None:
            catalog.add(self._structured)
        return catalog

    def _make_hooks(self) -> HookRunner:
        settings = self._bench.settings
        return HookRunner(
            () if settings.disable_all_hooks else settings.hooks,
            HookFacts(self._core, lambda: self._skills.skills.turn_effort),
            self._events,
            matches_rule=self._matches_rule,
            spill=self._side_files.keep_text,
            mask=self._bench.masker.mask,
            wake=lambda text: self.agent.queue(text, typed=False),
        )

    def _make_pipeline(self) -> Pipeline:
        bench, desk, workspace = self._bench, self._core.desk, self._core.workspace
        made = self._servers.rules.made
        keeper = RuleKeeper(self._policy, bench.places, bench.start, self._events, made, self._enter_mode)
        gate = Gate(self._catalogue.shelf, self._policy, workspace, SchemaValidator())
        recorder = Recorder(self._core.conversation, self._verdicts, self._events)
        permission = Permission(
            gate=gate,
            hooks=self._hooks,
            policy=self._policy,
            desk=desk,
            recorder=recorder,
            workspace=workspace,
            programs=self._programs,
            keep_rule=keeper.keep,
            apply_updates=keeper.apply,
        )
        return Pipeline(
            gate=gate,
            hooks=self._hooks,
            permission=permission,
            executor=Executor(workspace, self._events, self._side_files, desk),
            recorder=recorder,
            workspace=workspace,
            programs=self._programs,
            refresh=self._file_state.refresh,
            spill=self._side_files.keep_text,
            keep_image=self._side_files.images.keep,
        )

    def _make_caller(self) -> ModelCaller:
        endpoint, conversation = self._bench.endpoint, self._core.conversation
        builder = RequestBuilder(
            conversation,
            self._catalogue.shelf,
            self._policy,
            self._system,
            terms_of(endpoint, self._side_files.images),
            on_refused_loading=self._catalogue.remember_refusal,
            effort=lambda: self._skills.skills.turn_effort,
        )
        meter = Meter(self._events, self._bench.settings.own.prices, endpoint.window)
        meter.recall(conversation.ratio)
        return ModelCaller(
            conversation,
            endpoint.client,
            builder,
            meter,
            self._events,
            lambda: self._skills.skills.turn_model or self.agent.model,
            endpoint.calls_on_end_turn,
        )

    def _make_agent(self) -> Agent:
        core, bench, conversation, events = self._core, self._bench, self._core.conversation, self._events
        options = bench.options
        caller = self._make_caller()
        self._watch.take_failure = caller.take_failure
        builder, meter = caller.builder, caller.meter
        keep_text, shelf = self._side_files.keep_text, self._catalogue.shelf
        room = make_room(
            bench, caller, self._hooks, keep_text, shelf, bench.remember, beside=self._beside_summary
        )
        loop = TurnLoop(
            conversation,
            caller,
            self._pipeline,
            self._hooks if self._structured is None else Structured(self._hooks, self._structured),
            self._catalog,
            events,
            room,
            self._read_files.after_calls,
            options.max_turns,
            calls_limit(bench.settings.own, core.desk),
            spent=lambda: spent(options.max_budget, meter, caller.model(), bench.settings.own.prices),
        )
        parts = Parts(
            events=events,
            desk=core.desk,
            policy=self._policy,
            settings=bench.settings,
            workspace=core.workspace,
            catalog=self._catalog,
            session=core.session,
            conversation=conversation,
            hooks=self._hooks,
            pipeline=self._pipeline,
            builder=builder,
            caller=caller,
            meter=meter,
            loop=loop,
            room=room,
            skills=self._skills.skills,
            subagents=self._subagents.agents,
            style=self._style,
            jobs=self._jobs.jobs,
            programs=self._programs,
            rewinding=make_rewinding(core, self._file_state, self._jobs.jobs),
            notices=(*bench.notices(core.session.id, self._policy.problems), *self._opening),
            neighbours=lambda: bench.neighbours(core.session.id),
            prepare=self._prepare,
            ready=self._servers.ready,
            choose_model=lambda: choose_model(bench, meter, builder, events, self._catalogue.learn_window),
            shutdown=self._shut_down,
        )
        model = options.model or self._model_of_session() or bench.endpoint.model
        check_budget(options.max_budget, model, bench.settings.own.prices)
        return Agent(parts, model)

    def _beside_summary(self) -> Sequence[str]:
        """What a summary of the conversation could lose, and is followed by."""
        return (
            *self._skills.skills.returning(),
            self._jobs.running_text(),
            self._subagents.agents.running_text(),
        )

    def _make_status(self) -> StatusCommand | None:
        """The user's own status line, where one is set and somebody looks at it."""
        settings = self._bench.settings
        if not settings.status_line or not self._bench.interactive or settings.disable_all_hooks:
            return None
        from mcode.wiring.status_line import StatusCommand

        return StatusCommand(settings.status_line, self._bench, self._events, lambda: self.agent)

    def _model_of_session(self) -> str:
        """The model that the session was with; a model's session is not gone on with by the guide, nor the reverse."""
        model = self._core.conversation.model
        if not model or model == GUIDE:
            return ""
        if self._bench.endpoint.guide and not self._bench.options.demo:
            raise UsageError(
                f"This session was with the model {model}, and no key or endpoint is set now. Nothing was changed. "
                "Set ANTHROPIC_API_KEY, or the endpoint with --base-url, and resume it again."
            )
        return "" if self._bench.endpoint.guide else model

    def _system(self) -> str:
        options, style = self._bench.options, self._style
        replaced = style.replaces if options.system_prompt is None else options.system_prompt
        appended = "\n\n".join(text for text in (style.follows, options.append_system_prompt) if text)
        return system_prompt(self._bench.memory.files, replaced=replaced, appended=appended)

    def _enter_mode(self, mode: str) -> None:
        self.agent.set_mode(mode)

    def _begin_prefix(self, reason: str) -> None:
        self.agent.builder.begin_anew(reason)

    def _matches_rule(self, rule: str, call: Call) -> bool:
        """Whether a call fits the permission rule of a hook's `if`; what cannot be told fits."""
        tool = self._catalog.find(call.tool)
        if tool is None:
            return True
        source = Source("session", None, self._bench.start, trusted=True)
        access = tool.access(call.arguments, self._core.workspace)
        return self._policy.matches(RuleText(rule, "ask", source), call, tool, access)

    async def _prepare(self) -> None:
        """Compile the rules' path patterns, and remove temporaries that a killed run has left."""
        for text in self._problems:
            self._events.emit(Notice(text))
        self._bench.server_trust.begin(self._core.desk, self._events)
        self._begin_prompt_tool()
        self._servers.start(lambda text: self.agent.queue(text, typed=False))
        await asyncio.to_thread(self._policy.prepare)
        await self._file_state.remove_leftovers()
        await begin_style(self._bench, self._style, self._events)
        await self._catalogue.check_examples(self._events)
        self._catalogue.start(self._servers.departure)
        await self._files.start()

    def _begin_prompt_tool(self) -> None:
        """Let a tool answer in the user's place, where the command line names one."""
        name = self._bench.options.prompt_tool
        if name is None:
            return
        from mcode.wiring.prompt_tool import PromptTool

        self._prompt_tool = PromptTool(
            name,
            self._pipeline,
            self._core.desk,
            self._pipeline.permission.apply_updates,
            self.agent.interrupt,
            lambda: self._core.conversation.history.fresh_id("command"),
        )
        self._prompt_tool.begin(self._events)

    async def _shut_down(self) -> None:
        if self._prompt_tool is not None:
            await self._prompt_tool.close()
        self._watch.close()
        if self._status is not None:
            await self._status.close()
        self._files.close()
        await self._bench.server_trust.end()
        await self._subagents.close()
        await self._servers.close()
        await self._catalogue.close()
        await self._jobs.close()
        await self._programs.close()
        await end_all_children()
        self._watchdog.close()
        self._interpreter.close()
        self._verdicts.close()
        self._core.session.journal.close()
