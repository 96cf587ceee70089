"""`--permission-prompt-tool`: a server's tool answers what a user would be asked, in a run where none is there."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.call import Call, Origin
from mcode.config.json_parts import as_list, as_object
from mcode.errors import UsageError
from mcode.events import ApprovalRequested, ApprovalResolved, QuestionAsked
from mcode.jsontext import JsonError, parse_object
from mcode.pipeline.choices import DENY, ONCE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.events import Event, EventBus
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.pipeline.ask import Desk
    from mcode.pipeline.run import Pipeline
    from mcode.wiring.workbench import Workbench

logger = logging.getLogger(__name__)

PREFIX = "mcp__"


@dataclass(frozen=True, slots=True)
class Said:
    """What the tool answered."""

    allows: bool
    message: str = ""
    """Why not, for the model."""
    arguments: JsonObject | None = None
    """The whole input that it wants in place of the call's."""
    updates: tuple[JsonObject, ...] = ()
    """Changes of the rules that it wants with its answer."""
    interrupt: bool = False
    """The turn ends as well."""


@dataclass(slots=True)
class PromptTool:
    """Sits at the desk. The tool is called along the road, under a rule that the command line has made for it."""

    name: str
    pipeline: Pipeline
    desk: Desk
    apply_updates: Callable[[list[JsonObject]], Awaitable[None]]
    interrupt: Callable[[], object]
    fresh_id: Callable[[], str]
    _asking: dict[str, asyncio.Task[None]] = field(
        default_factory=dict[str, "asyncio.Task[None]"], init=False
    )

    def begin(self, events: EventBus) -> None:
        """Answer from now on."""
        self.desk.attach()
        events.subscribe(self._receive)

    async def close(self) -> None:
        """Answer nothing any more."""
        for task in (asking := tuple(self._asking.values())):
            task.cancel()
        if asking:
            await asyncio.wait(asking)

    def _receive(self, event: Event) -> None:
        match event:
            case ApprovalRequested(approval_id=identifier):
                task = asyncio.ensure_future(self._answer(event))
                task.add_done_callback(lambda ended: self._deny_if_failed(identifier, ended))
                self._asking[identifier] = task
            case ApprovalResolved(approval_id=identifier):
                task = self._asking.pop(identifier, None)
                if task is not None and task is not asyncio.current_task():
                    task.cancel()
            case QuestionAsked(question_id=identifier):  # that is for people
                asyncio.get_running_loop().call_soon(self.desk.answer, identifier, None)
            case _:
                pass

    def _deny_if_failed(self, identifier: str, ended: asyncio.Task[None]) -> None:
        """Nobody else answers, so a question must not be left where mcode itself has failed over the answer."""
        error = None if ended.cancelled() else ended.exception()
        if error is not None:
            logger.error("the answer of %s could not be used", self.name, exc_info=error)
            self.desk.decide(identifier, DENY, f"mcode failed over its answer: {error}", by=self.name)

    async def _answer(self, event: ApprovalRequested) -> None:
        said = await self._ask(event.call)
        if not said.allows:
            self.desk.decide(event.approval_id, DENY, said.message, by=self.name)
            if said.interrupt:
                self.interrupt()
            return
        await self.apply_updates(list(said.updates))
        changed = said.arguments if said.arguments != event.call.arguments else None
        self.desk.decide(event.approval_id, ONCE, arguments=changed, by=self.name)

    async def _ask(self, asked: Call) -> Said:
        arguments: JsonObject = {
            "tool_name": asked.tool,
            "input": asked.arguments,
            "tool_use_id": asked.id,
        }
        call = Call(self.fresh_id(), self.name, arguments, Origin.COMMAND, parent=asked.id, turn=asked.turn)
        outcome = await self.pipeline.run(call)
        if outcome.is_error:
            return Said(False, f"it failed: {outcome.text}")
        return read_answer(outcome.full_text, outcome.data)


def read_answer(text: str, data: JsonValue = None) -> Said:
    """The tool's answer: a JSON object with `behavior`, `data` as it came or in `text`. Else a denial that says so."""
    answer = as_object(data)
    if answer is None or "behavior" not in answer:
        try:
            answer = parse_object(text)
        except JsonError as error:
            return Said(False, f"its answer is no JSON object: {error}")
    updates = (as_object(each) for each in as_list(answer.get("updatedPermissions")) or ())
    match answer.get("behavior"):
        case "allow":
            return Said(
                True,
                arguments=as_object(answer.get("updatedInput")),
                updates=tuple(each for each in updates if each is not None),
            )
        case "deny":
            return Said(False, str(answer.get("message") or ""), interrupt=answer.get("interrupt") is True)
        case other:
            return Said(False, f'its answer has no "behavior" allow or deny: {other}')


def check_prompt_tool(bench: Workbench) -> None:
    """Raises UsageError where the tool can never be there."""
    name = bench.options.prompt_tool
    if name is None:
        return
    server, _, tool = name.removeprefix(PREFIX).partition("__")
    if not name.startswith(PREFIX) or not tool:
        raise UsageError(
            f"--permission-prompt-tool takes the name of a server's tool, such as mcp__guard__approve, not {name!r}. "
            "Nothing was started."
        )
    known = [entry.name for entry in bench.servers.entries if not entry.disabled and not entry.needs_approval]
    if server not in known:
        raise UsageError(
            f"--permission-prompt-tool: there is no server {server!r} that may run here. Nothing was started. Those "
            f"that may: {', '.join(known) or 'none'}; --mcp-config adds one, --trust lets the project's run."
        )
