"""Checks of a request's messages: roles, content, calls with their results, thinking, references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcode.model.script.view import blocks_of, list_of, object_of, objects
from tools.messages_server.issued import KNOWN_ASSISTANT_BLOCKS
from tools.messages_server.refusals import RefusalError

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue
    from tools.messages_server.capabilities import Capabilities
    from tools.messages_server.issued import Issued

_USER_BLOCKS = frozenset({"text", "image", "document", "search_result", "tool_result"})
_RESULT_BLOCKS = frozenset({"text", "image", "document", "search_result", "tool_reference"})
_USE_ID = re.compile(r"[A-Za-z0-9_-]+\Z")


class HistoryChecks:
    """Goes once through the messages of one request."""

    def __init__(self, body: JsonObject, capabilities: Capabilities, issued: Issued) -> None:
        self._messages: list[JsonValue] = body["messages"]
        self._declared = {str(tool.get("name")) for tool in objects(body.get("tools"))}
        self._capabilities = capabilities
        self._issued = issued
        self._ids: set[str] = set()

    def check(self) -> None:
        """Raise RefusalError for the first message that the API would not take."""
        open_ids: list[str] = []
        for at, given in enumerate(self._messages):
            message = object_of(given)
            role = message.get("role")
            if role not in ("user", "assistant", "system"):
                raise RefusalError(f"messages.{at}.role: Input should be 'user' or 'assistant'")
            if at == 0 and role != "user":
                raise RefusalError("messages: first message must use the user role")
            self._check_content(message, at)
            if role == "assistant":
                self._check_answered(open_ids, at)
                open_ids = self._check_assistant(message, at)
            elif role == "user":
                self._check_user(message, at, open_ids)
                open_ids = []
            else:
                self._check_system(message, at, open_ids)
        self._check_answered(open_ids, len(self._messages))

    def _check_content(self, message: JsonObject, at: int) -> None:
        content: JsonValue = message.get("content")
        if isinstance(content, str):
            if not content.strip():
                raise RefusalError(f"messages.{at}: text content must not be empty")
            return
        if not isinstance(content, list) or not content:
            raise RefusalError(f"messages.{at}.content: must be a text or a list of blocks that is not empty")
        for number, block in enumerate(list_of(content)):
            if not isinstance(object_of(block).get("type"), str):
                raise RefusalError(f"messages.{at}.content.{number}.type: Field required")
            if object_of(block)["type"] == "text":
                words = object_of(block).get("text")
                if not isinstance(words, str) or not words.strip():
                    raise RefusalError(
                        f"messages.{at}.content.{number}: text content blocks must be non-empty"
                    )

    def _check_answered(self, open_ids: list[str], at: int) -> None:
        if open_ids:
            raise RefusalError(
                f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(open_ids)}"
            )

    def _check_system(self, message: JsonObject, at: int, open_ids: list[str]) -> None:
        self._check_answered(open_ids, at)
        if any(block["type"] != "text" for block in blocks_of(message)):
            raise RefusalError(f"messages.{at}: a system message holds text only")

    def _check_assistant(self, message: JsonObject, at: int) -> list[str]:
        """Check one assistant message; returns the ids of its calls."""
        ids: list[str] = []
        thought: list[str] = []
        for number, block in enumerate(blocks_of(message)):
            where = f"messages.{at}.content.{number}"
            match block["type"]:
                case "thinking" | "redacted_thinking":
                    problem = self._issued.problem_of(block)
                    if problem:
                        raise RefusalError(f"{where}: {problem}")
                    thought.append(str(block.get("signature") or block.get("data")))
                case "tool_use":
                    ids.append(self._check_use(block, where))
                    if self._issued.missing_before(ids[-1], thought) and self._in_current_turn(at):
                        raise RefusalError(
                            f"{where}: the thinking blocks before this `tool_use` were changed"
                        )
                case kind if kind not in KNOWN_ASSISTANT_BLOCKS and not self._issued.sent(block):
                    raise RefusalError(f"{where}: Input tag {kind!r} is not expected here")
                case _:
                    pass
        return ids

    def _check_use(self, block: JsonObject, where: str) -> str:
        identifier: JsonValue = block.get("id")
        if not isinstance(identifier, str) or not _USE_ID.match(identifier):
            raise RefusalError(f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if identifier in self._ids:
            raise RefusalError(f"{where}: `tool_use` ids must be unique; {identifier} stands twice")
        self._ids.add(identifier)
        if not isinstance(block.get("name"), str) or not block["name"]:
            raise RefusalError(f"{where}.name: Field required")
        if not isinstance(block.get("input"), dict):
            raise RefusalError(f"{where}.input: Input should be a valid dictionary")
        return identifier

    def _check_user(self, message: JsonObject, at: int, open_ids: list[str]) -> None:
        answered: list[str] = []
        other = False
        for number, block in enumerate(blocks_of(message)):
            where = f"messages.{at}.content.{number}"
            if block["type"] not in _USER_BLOCKS:
                raise RefusalError(f"{where}: Input tag {block['type']!r} is not expected here")
            if block["type"] != "tool_result":
                other = True
                continue
            identifier = str(block.get("tool_use_id", ""))
            if identifier not in open_ids:
                raise RefusalError(f"{where}: unexpected `tool_use_id` in `tool_result`: {identifier!r}")
            if identifier in answered:
                raise RefusalError(f"{where}: {identifier} has more than one `tool_result`")
            if other:
                raise RefusalError(f"{where}: `tool_result` blocks must stand before other content")
            answered.append(identifier)
            self._check_result(block, where)
        self._check_answered([one for one in open_ids if one not in answered], at)

    def _check_result(self, block: JsonObject, where: str) -> None:
        content: JsonValue = block.get("content", "")
        if not isinstance(content, str | list):
            raise RefusalError(f"{where}.content: Input should be a string or a list of blocks")
        if block.get("is_error") is True and not content:
            raise RefusalError(f"{where}.content: content cannot be empty if `is_error` is true")
        for inner in list_of(content):
            kind = object_of(inner).get("type")
            if kind not in _RESULT_BLOCKS:
                raise RefusalError(f"{where}.content: Input tag {kind!r} is not expected here")
            if kind == "text" and not object_of(inner).get("text"):
                raise RefusalError(f"{where}.content: text content blocks must be non-empty")
            if kind == "tool_reference" and self._capabilities.tool_reference == "expand":
                name = object_of(inner).get("tool_name")
                if name not in self._declared:
                    raise RefusalError(
                        f"{where}.content: Tool reference {name!r} not found in available tools"
                    )

    def _in_current_turn(self, at: int) -> bool:
        """True where only results, and no text of the user, follow the message."""
        later = (object_of(message) for message in self._messages[at + 1 :])
        return not any(
            message.get("role") == "user"
            and any(block.get("type") != "tool_result" for block in blocks_of(message))
            for message in later
        )


def referenced_tools(body: JsonObject) -> set[str]:
    """Names that a `tool_reference` in some tool result has brought into the context."""
    return {
        str(inner.get("tool_name"))
        for message in objects(body.get("messages"))
        for block in blocks_of(message)
        for inner in objects(block.get("content"))
        if inner.get("type") == "tool_reference"
    }
