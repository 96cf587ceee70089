"""A server's tool as a tool of mcode: its text is untrusted, and its hints never loosen a verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from mcode.text import Kind, clean
from mcode.tool import Effect, Placement, Preview, Tool, ToolResult

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.mcp.definitions import Definition
    from mcode.tool import ToolServices, Workspace

RESULT_LIMIT = 500_000
"""Characters of text that a tool may ask to be given uncut."""


class Caller(Protocol):
    """Who carries calls to servers."""

    def objection(self, server: str, definition: Definition) -> str | None:
        """Why a call cannot succeed as things stand."""
        ...

    def doubt(self, server: str, definition: Definition) -> str:
        """Why a permission given earlier does not cover this definition; with the difference. Mostly empty."""
        ...

    async def call(
        self, server: str, definition: Definition, arguments: JsonObject, services: ToolServices
    ) -> ToolResult:
        """Call the tool; a failure is a result."""
        ...


class ForeignTool(Tool):
    """One tool of one server, for one session."""

    effects = frozenset({Effect.NETWORK})
    placement = Placement.RESIDENT

    def __init__(
        self, server: str, definition: Definition, caller: Caller, *, always_load: bool, output_limit: int
    ) -> None:
        self.name = definition.name
        self.title = definition.title
        self.source = server
        self.definition = definition
        self.meta: JsonObject = definition.meta
        wanted = self.meta.get("anthropic/alwaysLoad")
        self.always_load: bool = wanted if isinstance(wanted, bool) else always_load
        most = self.meta.get("anthropic/maxResultSizeChars")
        asked = most if isinstance(most, int) and not isinstance(most, bool) else 0
        self.output_limit = max(output_limit, min(asked, RESULT_LIMIT))
        if self.meta.get("anthropic/requiresUserInteraction") is True:
            self.always_asks = (
                f"the MCP server {server} wants the user's own answer for each call of this tool"
            )
        self._caller = caller

    @property
    @override
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] -- unpacked at first use
        """What the model is shown."""
        return self.definition.shown_description

    @property
    def full_description(self) -> str:
        """What the search reads: the description before it is cut."""
        return self.definition.whole_description

    @property
    @override
    def input_schema(self) -> JsonObject:  # pyright: ignore[reportIncompatibleVariableOverride] -- as above
        return self.definition.body["input_schema"]

    @property
    @override
    def output_schema(self) -> JsonObject | None:  # pyright: ignore[reportIncompatibleVariableOverride] -- as above
        return self.definition.body["output_schema"]

    @property
    def tokens(self) -> int:
        """Estimated size of the definition in a request, known without unpacking it."""
        return self.definition.tokens

    @property
    @override
    def must_ask(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] -- changes with the server
        """Why a call is asked about though a permission was given earlier; empty where nothing changed since."""
        return self._caller.doubt(self.source, self.definition)

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        title = ", ".join(f"{key}={_short(value)}" for key, value in arguments.items())
        shown = json.dumps(arguments, ensure_ascii=False, indent=2)
        body = f"{self.definition.own_name} of the MCP server {self.source}\n{shown}"
        doubt = self.must_ask
        return Preview(title=clean(title, Kind.LINE)[:200], body=f"{body}\n\n{doubt}" if doubt else body)

    @override
    async def objection(self, arguments: JsonObject, workspace: Workspace) -> str | None:
        del arguments, workspace
        return self._caller.objection(self.source, self.definition)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        return await self._caller.call(self.source, self.definition, arguments, services)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"
