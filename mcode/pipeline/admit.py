"""Step 1: find the tool, see whether this caller may use it, restore and validate the arguments."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import FailureKind, Origin
from mcode.catalog.call_tool import target_of
from mcode.catalog.placement import CALL_TOOL, TOOL_SEARCH
from mcode.catalog.signatures import signature
from mcode.pipeline.restore import restore_types
from mcode.tool import Placement, Tool

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.catalog.shelf import Shelf
    from mcode.permissions.decide import Policy
    from mcode.pipeline.validate import SchemaValidator
    from mcode.tool import Access, Workspace


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that names a tool and fits its schema."""

    call: Call
    """With the canonical tool name and the arguments as hooks and rules see them."""
    tool: Tool
    access: Access
    restorations: tuple[str, ...] = ()
    """One note for each argument whose type was restored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that goes no further, and what its caller is told."""

    call: Call
    failure: FailureKind
    text: str


class Gate:
    """Admits calls to the road."""

    def __init__(
        self, shelf: Shelf, policy: Policy, workspace: Workspace, validator: SchemaValidator
    ) -> None:
        self._shelf = shelf
        self._catalog = shelf.catalog
        self._policy = policy
        self._workspace = workspace
        self._validator = validator

    async def admit(self, call: Call) -> Admitted | Refused:
        """Pass a call on with its tool, or refuse it with a text that says how to do it right."""
        if call.tool == CALL_TOOL and call.origin is not Origin.PROGRAM and call.fault is None:
            meant = await self._unwrap(call)
            if isinstance(meant, Refused):
                return meant
            call = meant
        tool = self._visible(call.tool)
        if tool is None:
            return await self._unknown(call)
        call = replace(call, tool=tool.name)
        if call.origin is Origin.MODEL:
            self._shelf.load_by_call(tool, call)
        refusal = self._refuse_place(call, tool)
        if refusal is not None:
            return refusal
        if call.fault is not None:
            return _invalid(call, tool, (call.fault,))
        return await self._validate(call, tool)

    def output_limit(self, tool_name: str) -> int:
        """Characters of a tool's text that the model gets at most."""
        tool = self._catalog.find(tool_name)
        return tool.output_limit if tool is not None else Tool.output_limit

    async def _unwrap(self, call: Call) -> Call | Refused:
        """The call that a use of call_tool means: from here on nothing knows of the detour."""
        door = self._visible(CALL_TOOL)
        if door is None:
            return await self._unknown(call)
        arguments, _ = restore_types(call.arguments, door.input_schema)
        await self._validator.prepare()
        problems = self._validator.problems(door, arguments)
        if problems:
            return _invalid(call, door, problems)
        target = target_of(call, arguments)
        if target.tool == CALL_TOOL:
            return _invalid(call, door, ("name: call_tool cannot call itself",))
        return target

    def _visible(self, name: str) -> Tool | None:
        """The tool of this name, unless a rule or a setting hides it."""
        tool = self._catalog.find(name)
        if tool is None or self._policy.hides(tool.name) is not None or self._shelf.placed(tool).hidden:
            return None
        return tool

    def _refuse_place(self, call: Call, tool: Tool) -> Refused | None:
        """Refuse a call by somebody who may not call this tool, or not yet."""
        placed = self._shelf.placed(tool)
        if call.origin is Origin.PROGRAM:
            if tool.placement is Placement.TOP_LEVEL_ONLY:
                text = f"{tool.name} cannot be called from a program; call it directly. Nothing was done."
                return Refused(call, FailureKind.TOP_LEVEL_ONLY, text)
            if self._shelf.is_unloaded(tool):
                text = (
                    f"{tool.name} is not loaded, and nothing was done. Load it with {TOOL_SEARCH}, outside of "
                    f"programs (`select:{tool.name}`); the next program can call it."
                )
                return Refused(call, FailureKind.NOT_LOADED, text)
        elif call.origin is Origin.MODEL and not placed.direct:
            program = self._shelf.program_for(tool, call.arguments)
            text = (
                f"{tool.name} is called by programs only, and nothing was done. Use run_code with this program, or "
                f"put the call into a larger one:\n{program}"
            )
            return Refused(call, FailureKind.PROGRAM_ONLY, text)
        return None

    async def _validate(self, call: Call, tool: Tool) -> Admitted | Refused:
        """Restore types, check against the tool's own schema, and make paths absolute."""
        arguments, notes = restore_types(call.arguments, tool.input_schema)
        await self._validator.prepare()
        problems = self._validator.problems(tool, arguments)
        if problems:
            return _invalid(call, tool, problems)
        try:
            arguments = tool.normalise(arguments, self._workspace)
        except ValueError as error:
            return _invalid(call, tool, (str(error),))
        access = tool.access(arguments, self._workspace)
        return Admitted(replace(call, arguments=arguments), tool, access, notes)

    async def _unknown(self, call: Call) -> Refused:
        name = call.tool
        # Comparing with thousands of names takes a while.
        nearest = await asyncio.to_thread(self._catalog.nearest, name, 8)
        near = [each for each in nearest if self._visible(each) is not None][:3]
        known = [
            tool.name for tool in self._shelf.placements.resident() if self._visible(tool.name) is not None
        ]
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Tools here: {', '.join(known)}."
        if TOOL_SEARCH in known:
            hint += f" {TOOL_SEARCH} finds others."
        text = f"There is no tool called {name!r}. Nothing was done. {self._why_missing(name)}{hint}"
        return Refused(call, FailureKind.UNKNOWN_TOOL, text)

    def _why_missing(self, name: str) -> str:
        """What is wrong with the server that the name speaks of, if it does."""
        for status in self._shelf.servers.statuses():
            if name.startswith(f"mcp__{status.name}__") and status.state != "connected":
                said = f", {status.error}" if status.error else ""
                return f"Its server {status.name} is there, but {status.state}{said}. "
        return ""


def _invalid(call: Call, tool: Tool, problems: tuple[str, ...]) -> Refused:
    listed = "\n".join(f"- {problem}" for problem in problems)
    text = f"The arguments of {tool.name} are not valid; nothing was done.\n{listed}{_shape(call, tool)}"
    return Refused(call, FailureKind.INVALID_ARGUMENTS, text)


def _shape(call: Call, tool: Tool) -> str:
    """What the arguments should have been, in the form in which the caller was shown the tool."""
    if call.origin is Origin.PROGRAM:
        return f"\nIts signature: {signature(tool.name, tool.description, tool.input_schema)}"
    schema = jsontext.dump(tool.input_schema)
    return f"\nIts input schema: {schema}" if len(schema) <= 2_000 else ""
