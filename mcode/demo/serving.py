"""A small MCP server on standard input and output, in plain Python: a list of tools and a function that calls them."""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

JsonObject = dict[str, Any]


class CallError(Exception):
    """A call that fails with a message for the model."""


@dataclass(frozen=True, slots=True)
class Service:
    """What a server offers."""

    name: str
    instructions: str
    tools: Sequence[JsonObject]
    """Definitions as `tools/list` gives them."""
    call: Callable[[str, JsonObject], Any]
    """Runs a call; returns any JSON value. Raises CallError."""
    latency: float = 0.0
    """Seconds that each call takes."""
    fail_every: int = 0
    """Each call of this number fails; 0 for none."""


def serve(service: Service) -> None:
    """Answer until standard input ends. Calls that take time run side by side."""
    lock, count = threading.Lock(), 0

    def say(message: JsonObject) -> None:
        with lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def answer(message: JsonObject, number: int) -> None:
        say({"id": message["id"], **_answer(service, message, number)})

    for line in sys.stdin:
        message: JsonObject = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] == "tools/call":
            count += 1
        if message["method"] == "tools/call" and service.latency:
            threading.Thread(target=answer, args=(message, count), daemon=True).start()
        else:
            answer(message, count)


def tool(name: str, description: str, required: Sequence[str] = (), **properties: Any) -> JsonObject:
    """A definition; tools whose name says that they only look are marked so."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    looks = name.startswith(("list_", "get_", "search_", "count_", "find_"))
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "annotations": {"readOnlyHint": looks, "openWorldHint": False},
    }


def _answer(service: Service, message: JsonObject, number: int) -> JsonObject:
    params: JsonObject = message.get("params", {})
    match message["method"]:
        case "initialize":
            return {
                "result": {
                    "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": service.name, "version": "1"},
                    "instructions": service.instructions,
                }
            }
        case "ping":
            return {"result": {}}
        case "tools/list":
            return {"result": {"tools": list(service.tools)}}
        case "tools/call":
            return {"result": _call(service, params, number)}
        case _:
            return {"error": {"code": -32601, "message": f"there is no method {message['method']}"}}


def _call(service: Service, params: JsonObject, number: int) -> JsonObject:
    time.sleep(service.latency)
    if service.fail_every and number % service.fail_every == 0:
        return _text(f"the service did not answer (call {number}; failures are switched on)", failed=True)
    try:
        value = service.call(str(params.get("name")), params.get("arguments") or {})
    except CallError as error:
        return _text(str(error), failed=True)
    return _text(json.dumps(value), failed=False)


def _text(text: str, *, failed: bool) -> JsonObject:
    return {"content": [{"type": "text", "text": text}], "isError": failed}
