"""run_code, the tool: what the model sees of it. What runs programs is loaded with the first one (`runner.py`)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.run_code.limits import Limits
from mcode.tool import Placement, Preview, Tool, object_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcode.call import Call, CallSite
    from mcode.jsontext import JsonObject
    from mcode.run_code.audit import WriteAudit
    from mcode.run_code.bridge import Bridge
    from mcode.run_code.engine import Confine
    from mcode.run_code.runner import Runner
    from mcode.run_code.session import Invoke
    from mcode.tool import ToolResult, ToolServices, Workspace


def _write_nothing(program: str, kind: str, record: JsonObject) -> None:
    del program, kind, record


def _every_tool(tool: Tool) -> bool:
    del tool
    return True


def _own_placement(tool: Tool) -> Placement:
    return tool.placement


def _unmasked(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What run_code needs of the session."""

    invoke: Invoke
    """The road: `Pipeline.run`."""
    tools: Callable[[], Iterable[Tool]]
    """Every tool that the session shows, at any moment."""
    limits: Limits = Limits()  # noqa: RUF009 -- a frozen value
    write_audit: WriteAudit = _write_nothing
    mask: Callable[[str], str] = _unmasked
    """Takes secrets out of what the audit keeps."""
    is_loaded: Callable[[Tool], bool] = _every_tool
    """Of a deferred tool: whether the model has seen it, so that programs may call it."""
    placement: Callable[[Tool], Placement] = _own_placement
    """Where a tool sits in this session."""
    listed: Callable[[], Iterable[Tool]] | None = None
    """The tools of `tools` that are not deferred, where they can be had without looking at all."""
    confine: Confine | None = None
    """Puts the engines' processes into a sandbox."""
    together: bool = False
    """True where the road awaits `before_preview` and `before_body`: calls with effects are then decided on
    side by side."""


class RunCode(Tool):
    """Runs one program at a time. `close` must be awaited at the end of the session."""

    name = "run_code"
    placement = Placement.TOP_LEVEL_ONLY
    output_limit = 200_000

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._runner: Runner | None = None
        self._described: tuple[list[Tool], str] = ([], "")
        limits = surroundings.limits
        self.input_schema = object_schema(
            {
                "code": {"type": "string", "minLength": 1},
                "max_output_chars": {
                    "type": "integer",
                    "minimum": limits.result_least,
                    "maximum": limits.result_most,
                    "description": f"default {limits.result_shown}",
                },
            },
            required=["code"],
        )

    @property
    @override
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] -- made at first use: signatures load slowly
        """Fixed text, and a line for each tool that programs can call as things stand; the prefix keeps it."""
        around = self._surroundings
        tools = (
            list(around.listed())
            if around.listed is not None
            else [tool for tool in around.tools() if around.placement(tool) is not Placement.DEFERRED]
        )
        if not self._described[1] or tools != self._described[0]:
            from mcode.run_code.description import describe
            from mcode.run_code.names import program_tools

            self._described = tools, describe(program_tools((tool, True) for tool in tools))
        return self._described[1]

    @property
    def runner(self) -> Runner:
        """What runs programs; made when it is first needed."""
        if self._runner is None:
            from mcode.run_code.runner import Runner

            self._runner = Runner(self._surroundings)
        return self._runner

    def warm(self) -> None:
        """Start a worker in the background, so that the first program need not wait for one."""
        self.runner.engine.warm()

    async def close(self) -> None:
        """End the spare worker, and wait until none is left."""
        if self._runner is not None:
            await self._runner.engine.close()

    def stop(self, program: str, reason: str) -> bool:
        """End a running program for the user; False where it does not run. `program`: id of its `run_code` call."""
        return self._runner is not None and self._runner.stop(program, reason)

    def cancel_call(self, call: str) -> bool:
        """Cancel one call of a running program, which goes on; False where it does not run."""
        return self._runner is not None and self._runner.cancel_call(call)

    @property
    @override
    def read_only(self) -> bool:
        """Its calls may have effects, so it runs alone and in order; what they need is asked of each of them."""
        return False

    def bridge_of(self, call: Call) -> Bridge | None:
        """What carries this call of a running program, and knows its place in the program's order."""
        return self._runner.bridge_of(call) if self._runner is not None else None

    def why_cancelled(self, call: Call) -> str:
        """What ended a running program's call, where that was no interrupt; else empty."""
        return self._runner.why_cancelled(call) if self._runner is not None else ""

    def site_of(self, call: Call) -> CallSite | None:
        """Where a running program makes this call; None where none does."""
        return self._runner.site_of(call) if self._runner is not None else None

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        from mcode.run_code.program_text import ProgramText

        del workspace
        return Preview(ProgramText(arguments["code"]).title, arguments["code"])

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        if self._runner is None:  # loading it takes longer than the event loop may stand still
            await asyncio.to_thread(import_module, "mcode.run_code.runner")
        return await self.runner.run(arguments["code"], arguments.get("max_output_chars"), services)
