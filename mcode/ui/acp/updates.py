"""Events of the core as the updates that an editor is sent. Nothing here talks to anybody."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcode.call import Status
from mcode.events import (
    AssistantMessage,
    ModeChanged,
    Notice,
    RequestStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnStarted,
)
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from mcode.call import Call, Outcome
    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.tool import Preview

KINDS = {
    "Read": "read", "Glob": "search", "Grep": "search", "Edit": "edit", "Write": "edit", "NotebookEdit": "edit",
    "Bash": "execute", "run_code": "execute", "WebFetch": "fetch", "tool_search": "search", "TodoWrite": "think",
}  # fmt: skip
"""What an editor calls the calls of some tools; any other is `other`."""

OUTPUT_LIMIT = 20_000
"""Characters of a result that the editor shows."""

_HUNK = re.compile(r"^@@ -(\d+)", re.MULTILINE)


class Updates:
    """Turns events into updates, each in the protocol's own spelling."""

    def __init__(self) -> None:
        self._streamed = False

    def of(self, event: Event, *, replayed: bool = False) -> list[JsonObject]:
        """What an event adds; `replayed`: it is shown again after a resume."""
        match event:
            case TurnStarted(text=text) if replayed:
                return [_chunk("user_message_chunk", text)]
            case RequestStarted():
                self._streamed = False
            case TextDelta(text=text):
                self._streamed = True
                return [_chunk("agent_message_chunk", text)]
            case ThinkingDelta(text=text):
                return [_chunk("agent_thought_chunk", text)]
            case AssistantMessage(message=message, parent=None) if not self._streamed:
                texts = [
                    str(block["text"]) for block in message.get("content", ()) if block.get("type") == "text"
                ]
                return [_chunk("agent_message_chunk", text) for text in texts if text]
            case ToolStarted(call=call, preview=preview):
                return [{"sessionUpdate": "tool_call", "status": "pending", **described(call, preview)}]
            case ToolProgress(call_id=call_id, line=line):
                content = [_text_content(clean(line, Kind.LINE))]
                return [_update(call_id, {"status": "in_progress", "content": content})]
            case ToolFinished(outcome=outcome):
                return [_finished(outcome)]
            case TodosChanged(todos=todos):
                return [{"sessionUpdate": "plan", "entries": [_entry(item) for item in todos]}]
            case ModeChanged(mode=mode):
                return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]
            case Notice(text=text, severity=severity):
                return [_chunk("agent_message_chunk", f"\n\n> {severity}: {clean(text, Kind.BLOCK)}\n\n")]
            case _:
                pass
        return []


def described(call: Call, preview: Preview) -> JsonObject:
    """A call as an editor shows it before it runs."""
    title = clean(f"{call.tool} {preview.title}".strip(), Kind.LINE)
    content = [_text_content(clean(preview.body, Kind.BLOCK))] if preview.body and not preview.diff else []
    told: JsonObject = {
        "toolCallId": call.id,
        "title": title,
        "kind": KINDS.get(call.tool, "other"),
        "rawInput": call.arguments,
        "content": content + _difference(preview.diff, call.arguments),
        "locations": _locations(call.arguments, preview.diff),
    }
    return {**told, "_meta": {"mcode": {"parent": call.parent}}} if call.parent else told


def _finished(outcome: Outcome) -> JsonObject:
    shown = _difference(outcome.diff, outcome.call.arguments) or [
        _text_content(clean(outcome.text[:OUTPUT_LIMIT], Kind.BLOCK))
    ]
    status = "completed" if outcome.status is Status.OK else "failed"
    return _update(outcome.call.id, {"status": status, "content": shown, "rawOutput": outcome.data})


def _difference(diff: str | None, arguments: JsonObject) -> list[JsonObject]:
    """A unified diff as the texts before and after that the protocol wants, hunk by hunk."""
    path = arguments.get("file_path")
    if not diff or not isinstance(path, str):
        return []
    old: list[str] = []
    new: list[str] = []
    for line in diff.split("\n"):
        if line.startswith(("---", "+++", "@@", "\\")) or not line:
            continue
        if line[0] in " -":
            old.append(line[1:])
        if line[0] in " +":
            new.append(line[1:])
    created = "--- /dev/null" in diff
    texts = {"oldText": None if created else "\n".join(old), "newText": "\n".join(new)}
    return [{"type": "diff", "path": path, **texts}]


def _locations(arguments: JsonObject, diff: str | None) -> list[JsonObject]:
    path = arguments.get("file_path") or arguments.get("path")
    if not isinstance(path, str):
        return []
    line = _HUNK.search(diff or "")
    return [{"path": path, "line": int(line[1])} if line else {"path": path}]


def _entry(item: JsonObject) -> JsonObject:
    status = str(item.get("status", "pending"))
    known = status if status in {"pending", "in_progress", "completed"} else "pending"
    return {"content": str(item.get("content", "")), "priority": "medium", "status": known}


def _chunk(kind: str, text: str) -> JsonObject:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def _text_content(text: str) -> JsonObject:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _update(call_id: str, more: dict[str, Any]) -> JsonObject:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **more}
