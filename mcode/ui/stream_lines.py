"""The lines of stream-json that events become."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcode.call import Call, Outcome
    from mcode.catalog.servers import ServerStatus
    from mcode.events import Compacted, HookRan, RetryScheduled
    from mcode.jsontext import JsonObject


SERVER_STATES = {
    "off": "disabled",
    "cached": "pending",
    "connecting": "pending",
    "needs sign-in": "needs-auth",
    "needs approval": "pending-approval",
}
"""How a server's state is called in `init`; the others by their own names."""


def server_states(statuses: Iterable[ServerStatus]) -> list[JsonObject]:
    """The servers as `init` lists them."""
    return [{"name": each.name, "status": SERVER_STATES.get(each.state, each.state)} for each in statuses]


def inner_use(call: Call) -> JsonObject:
    block = {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
    message = {"role": "assistant", "content": [block]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": call.parent}


def tool_result(outcome: Outcome) -> JsonObject:
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": outcome.call.id,
        "content": outcome.text,
        "is_error": outcome.is_error,
    }
    return {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "parent_tool_use_id": outcome.call.parent,
        "tool_use_result": outcome.data,
    }


def permission_denied(outcome: Outcome) -> JsonObject:
    return {
        "type": "system",
        "subtype": "permission_denied",
        "tool_name": outcome.call.tool,
        "tool_use_id": outcome.call.id,
        "parent_tool_use_id": outcome.call.parent,
        "message": outcome.text,
    }


def compact_boundary(event: Compacted) -> JsonObject:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "compact_metadata": {
            "trigger": "manual" if event.trigger == "manual" else "auto",
            "pre_tokens": event.before,
            "post_tokens": event.after,
        },
    }


def retry(event: RetryScheduled) -> JsonObject:
    return {
        "type": "system",
        "subtype": "api_retry",
        "attempt": event.attempt,
        "max_retries": event.limit,
        "retry_delay_ms": round(event.delay * 1000),
        "error_status": event.status,
        "error": event.kind,
    }


def hook_response(event: HookRan) -> JsonObject:
    return {
        "type": "system",
        "subtype": "hook_response",
        "hook_id": event.hook_id,
        "hook_name": event.name,
        "hook_event": event.event,
        "outcome": event.outcome,
        "exit_code": event.exit_code,
        "stdout": event.stdout,
        "stderr": event.stderr,
    }
