"""Checks of a request's top level: fields, tools, cache marks. Each refusal is a 400, as the API would send."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.model.script.view import blocks_of, list_of, object_of, objects
from tools.messages_server.history import HistoryChecks
from tools.messages_server.refusals import RefusalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.jsontext import JsonObject, JsonValue
    from tools.messages_server.capabilities import Capabilities
    from tools.messages_server.issued import Issued

STRICT_VERSION = "2026-10-21"
"""From this API version on the sampling parameters are refused."""

CACHE_MARKS = 4
"""Cache marks that one request may have."""

_SAMPLING = ("temperature", "top_p", "top_k")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")


def check_request(
    body: JsonObject,
    headers: Mapping[str, str],
    capabilities: Capabilities,
    issued: Issued,
    *,
    counting: bool,
) -> None:
    """Raise RefusalError for a request that the API would not take. `counting`: for count_tokens."""
    if capabilities.history == "lenient":
        if not isinstance(body.get("messages"), list):
            raise RefusalError("messages: Field required")
        _check_switches(body, capabilities)
        return
    version = headers.get("anthropic-version", "")
    if not version:
        raise RefusalError("anthropic-version: header is required")
    _check_fields(body, counting=counting)
    if version >= STRICT_VERSION:
        for name in _SAMPLING:
            if name in body:
                raise RefusalError(f"{name}: not supported with anthropic-version {version}")
    _check_tools(body, capabilities)
    _check_choice(body)
    _check_marks(body)
    _check_switches(body, capabilities)
    HistoryChecks(body, capabilities, issued).check()


def _check_fields(body: JsonObject, *, counting: bool) -> None:
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise RefusalError("model: Field required")
    limit: JsonValue = body.get("max_tokens")
    if not counting and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        raise RefusalError("max_tokens: Field required, a whole number of 0 or more")
    if not isinstance(body.get("messages"), list):
        raise RefusalError("messages: Field required")
    if not body["messages"]:
        raise RefusalError("messages: at least one message is required")
    if not isinstance(body.get("stream", False), bool):
        raise RefusalError("stream: Input should be a valid boolean")
    system: JsonValue = body.get("system", "")
    if not isinstance(system, str | list):
        raise RefusalError("system: Input should be a string or a list of text blocks")
    for at, block in enumerate(list_of(system)):
        words = object_of(block).get("text")
        if object_of(block).get("type") != "text" or not isinstance(words, str) or not words:
            raise RefusalError(f"system.{at}: only text blocks that are not empty may stand here")


def _check_tools(body: JsonObject, capabilities: Capabilities) -> None:
    tools = list_of(body.get("tools"))
    if "tools" in body and not isinstance(body["tools"], list):
        raise RefusalError("tools: Input should be a valid list")
    names: set[str] = set()
    for at, given in enumerate(tools):
        tool = object_of(given)
        name: JsonValue = tool.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.match(name):
            raise RefusalError(f"tools.{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if name in names:
            raise RefusalError(f"tools: Tool names must be unique; {name!r} stands twice")
        names.add(name)
        if tool.get("type", "custom") == "custom":
            _check_schema(tool, at)
        if tool.get("defer_loading") is True and "cache_control" in tool:
            raise RefusalError(f"tools.{at}: a tool with defer_loading cannot have cache_control")
    deferred = [object_of(tool).get("defer_loading") is True for tool in tools]
    if capabilities.defer_loading == "honour" and deferred and all(deferred):
        raise RefusalError("All tools have defer_loading set; at least one tool must be loaded")


def _check_schema(tool: JsonObject, at: int) -> None:
    schema: JsonValue = tool.get("input_schema")
    if not isinstance(schema, dict):
        raise RefusalError(f"tools.{at}.input_schema: Field required")
    if object_of(schema).get("type") != "object":
        raise RefusalError(f"tools.{at}.input_schema.type: Input should be 'object'")
    if not isinstance(tool.get("description", ""), str):
        raise RefusalError(f"tools.{at}.description: Input should be a valid string")


def _check_choice(body: JsonObject) -> None:
    choice = object_of(body.get("tool_choice"))
    if not choice:
        return
    kind = choice.get("type")
    names = {str(tool.get("name")) for tool in objects(body.get("tools"))}
    if kind not in ("auto", "any", "tool", "none"):
        raise RefusalError("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'")
    if not names:
        raise RefusalError("tool_choice: may only be specified while providing tools")
    if kind == "tool" and choice.get("name") not in names:
        raise RefusalError(f"tool_choice.name: {choice.get('name')!r} is not among the tools")
    thinks = object_of(body.get("thinking")).get("type", "disabled") != "disabled"
    if kind in ("any", "tool") and thinks:
        raise RefusalError("Thinking may not be enabled when tool_choice forces tool use")


def _check_marks(body: JsonObject) -> None:
    marked = [*objects(body.get("tools")), *objects(body.get("system"))]
    for message in objects(body.get("messages")):
        for block in blocks_of(message):
            marked += [block, *objects(block.get("content"))]
    count = sum("cache_control" in block for block in marked) + ("cache_control" in body)
    if count > CACHE_MARKS:
        raise RefusalError(
            f"A maximum of {CACHE_MARKS} blocks with cache_control may be provided. Found {count}"
        )
    for block in marked:
        mark = object_of(block.get("cache_control"))
        if "cache_control" in block and (
            mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h")
        ):
            raise RefusalError("cache_control: type must be 'ephemeral' and ttl '5m' or '1h'")


def _check_switches(body: JsonObject, capabilities: Capabilities) -> None:
    """What third parties refuse, as the capabilities say."""
    if capabilities.defer_loading == "400":
        for at, tool in enumerate(objects(body.get("tools"))):
            if "defer_loading" in tool:
                raise RefusalError(f"tools.{at}.defer_loading: Extra inputs are not permitted")
    messages = objects(body.get("messages"))
    if capabilities.system_role == "400" and any(message.get("role") == "system" for message in messages):
        raise RefusalError("messages: Input should be 'user' or 'assistant', not 'system'")
    if capabilities.tool_reference == "400":
        for at, message in enumerate(messages):
            for block in blocks_of(message):
                if any(inner.get("type") == "tool_reference" for inner in objects(block.get("content"))):
                    raise RefusalError(
                        f"messages.{at}.content: Input tag 'tool_reference' is not expected here"
                    )
