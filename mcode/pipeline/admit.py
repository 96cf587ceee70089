"""Step 1: find the tool, see whether this caller may use it, restore and validate the arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.call import FailureKind, Origin
from mcode.pipeline.restore import restore_types
from mcode.tool import Placement, Tool

if TYPE_CHECKING:
    from mcode.call import Call
    from mcode.catalog.catalog import Catalog
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
        self, catalog: Catalog, policy: Policy, workspace: Workspace, validator: SchemaValidator
    ) -> None:
        self._catalog = catalog
        self._policy = policy
        self._workspace = workspace
        self._validator = validator

    async def admit(self, call: Call) -> Admitted | Refused:
        """Pass a call on with its tool, or refuse it with a text that says how to do it right."""
        tool = self._catalog.find(call.tool)
        if tool is None or self._policy.hides(tool.name) is not None:
            return self._unknown(call)
        call = replace(call, tool=tool.name)
        if call.origin is Origin.PROGRAM and tool.placement is Placement.TOP_LEVEL_ONLY:
            text = f"{tool.name} cannot be called from a program; call it directly. Nothing was done."
            return Refused(call, FailureKind.TOP_LEVEL_ONLY, text)
        if call.fault is not None:
            return _invalid(call, tool, (call.fault,))
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

    def output_limit(self, tool_name: str) -> int:
        """Characters of a tool's text that the model gets at most."""
        tool = self._catalog.find(tool_name)
        return tool.output_limit if tool is not None else Tool.output_limit

    def _unknown(self, call: Call) -> Refused:
        near = [name for name in self._catalog.nearest(call.tool) if self._policy.hides(name) is None]
        known = [tool.name for tool in self._catalog if self._policy.hides(tool.name) is None]
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Tools here: {', '.join(known)}."
        text = f"There is no tool called {call.tool!r}. Nothing was done. {hint}"
        return Refused(call, FailureKind.UNKNOWN_TOOL, text)


def _invalid(call: Call, tool: Tool, problems: tuple[str, ...]) -> Refused:
    listed = "\n".join(f"- {problem}" for problem in problems)
    schema = jsontext.dump(tool.input_schema)
    shown = f"\nIts input schema: {schema}" if len(schema) <= 2_000 else ""
    text = f"The arguments of {tool.name} are not valid; nothing was done.\n{listed}{shown}"
    return Refused(call, FailureKind.INVALID_ARGUMENTS, text)
