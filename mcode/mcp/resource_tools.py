"""Two tools for what is seldom wanted: which resources servers have, and the text of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.call import FailureKind
from mcode.mcp.connection import UnavailableError
from mcode.text import Kind, clean
from mcode.tool import Effect, Placement, Preview, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject
    from mcode.mcp.extras import Extras
    from mcode.tool import ToolServices, Workspace

SHOWN = 200
"""Resources that one list shows."""


class ListMcpResources(Tool):
    """Which resources there are."""

    name = "ListMcpResourcesTool"
    description = (
        "List the resources (documents, records, files) that MCP servers offer for reading, with their server, URI "
        "and title. Give `server` for those of one server. Read one with ReadMcpResourceTool."
    )
    input_schema = object_schema({"server": {"type": "string", "description": "Name of one MCP server"}})
    input_examples = ({}, {"server": "docs"})
    placement = Placement.DEFERRED
    timeout = 60.0

    def __init__(self, extras: Extras) -> None:
        self._extras = extras

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        server = arguments.get("server")
        found = [each for each in self._extras.resources() if server is None or each.server == server]
        rows: list[JsonObject] = [
            {"server": each.server, "uri": each.uri, "title": each.title, "mimeType": each.mime}
            for each in found
        ]
        lines = [
            " - ".join(part for part in (f"{each.server}  {each.uri}", each.title, each.description) if part)
            for each in found[:SHOWN]
        ]
        if len(found) > SHOWN:
            lines.append(f"… and {len(found) - SHOWN} more; give `server` for fewer")
        text = (
            "\n".join(lines)
            or "No server lists any resource, or none that is known yet; /mcp shows the servers."
        )
        return ToolResult(text, data=rows, summary=f"{len(found)} resources")


class ReadMcpResource(Tool):
    """The text of one."""

    name = "ReadMcpResourceTool"
    description = (
        "Read one resource of an MCP server by its URI, as ListMcpResourcesTool or a resource link names it. "
        "Returns its text; an image is shown; what else is no text is kept in a file whose path is returned."
    )
    input_schema = object_schema(
        {
            "server": {"type": "string", "description": "Name of the MCP server"},
            "uri": {"type": "string", "description": "URI of the resource, such as `memo://insights`"},
        },
        required=["server", "uri"],
    )
    input_examples = ({"server": "docs", "uri": "docs://guide/install"},)
    effects = frozenset({Effect.NETWORK})
    placement = Placement.DEFERRED

    def __init__(self, extras: Extras) -> None:
        self._extras = extras

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        what = f"{arguments['uri']} of the MCP server {arguments['server']}"
        return Preview(clean(what, Kind.LINE)[:200], body=what)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        server, uri = str(arguments["server"]), str(arguments["uri"])
        try:
            text, images = await self._extras.read(server, uri, services.spill_path)
        except TimeoutError:
            why = f"{uri} was not read: the MCP server {server} gave no answer in time."
            return ToolResult(why, failure=FailureKind.TIMEOUT, summary="timed out")
        except UnavailableError as error:
            why = f"{uri} was not read from the MCP server {server}: {error}"
            return ToolResult(why, failure=FailureKind.TOOL_ERROR, summary="failed")
        summary = images[0].facts if images else f"{len(text.splitlines())} lines"
        return ToolResult(text, data={"text": text}, summary=summary, images=images)
