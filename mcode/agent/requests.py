"""The next request of a conversation: its frozen prefix and the messages so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.agent.conversation import Prefix
from mcode.agent.repairs import repaired
from mcode.model.request import RequestState, build_request
from mcode.tool import Placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.agent.conversation import Conversation
    from mcode.catalog.catalog import Catalog
    from mcode.jsontext import JsonObject
    from mcode.model.client import Failure
    from mcode.permissions.decide import Policy
    from mcode.tool import Tool


class RequestBuilder:
    """Freezes the prefix at the first request and builds every request on it."""

    def __init__(
        self,
        conversation: Conversation,
        catalog: Catalog,
        policy: Policy,
        system: Callable[[], str],
        *,
        max_tokens: int,
        most_tokens: int,
        extra: JsonObject,
    ) -> None:
        self._conversation = conversation
        self._catalog = catalog
        self._policy = policy
        self._system = system
        self._extra = extra
        self._sent = 0
        self._repairs = list(conversation.repairs)
        self.most_tokens = most_tokens
        """Tokens that an answer may have at the very most, where one had to be cut."""
        self.max_tokens = max_tokens
        """Tokens that an answer may have."""
        self.prefix: Prefix = Prefix("", "", ())
        """The prefix of the last request."""
        self.messages: tuple[JsonObject, ...] = ()
        """The messages of the last request."""

    def next(self, model: str, max_tokens: int | None = None) -> JsonObject:
        """The body of the next request; begins a prefix where none stands or the model has changed."""
        prefix = self._conversation.prefix
        if prefix is None:
            prefix = self._begin(model, self._system(), self.definitions(), "start")
        elif prefix.model != model:
            prefix = self._begin(model, prefix.system, prefix.tools, "model")
        messages = self._conversation.history.messages
        self.prefix, self.messages = prefix, messages
        state = RequestState(
            model=prefix.model,
            system=prefix.system,
            tools=prefix.tools,
            messages=messages,
            max_tokens=max_tokens or self.max_tokens,
            extra=self._extra,
            stable=min(self._sent, len(messages)),
        )
        self._sent = len(messages)
        body = build_request(state)
        for subject in self._repairs:
            body = repaired(body, subject) or body
        return body

    def repair(self, failure: Failure, body: JsonObject) -> JsonObject | None:
        """The body without what the endpoint refuses, where that can be; later requests leave it out as well."""
        changed = repaired(body, failure.subject)
        if changed is None or failure.subject in self._repairs:
            return None
        self._repairs.append(failure.subject)
        self._conversation.append("fallback", {"subject": failure.subject, "reason": failure.message})
        return changed

    def preview(self, model: str) -> Prefix:
        """The prefix as the next request would have it; nothing is frozen by looking."""
        return self._conversation.prefix or Prefix(model, self._system(), self.definitions())

    def definitions(self) -> tuple[JsonObject, ...]:
        """Definitions of the tools that the model may see, sorted by name; deferred ones come by a search."""
        return tuple(
            definition(tool)
            for tool in self._catalog
            if tool.placement is not Placement.DEFERRED and self._policy.hides(tool.name) is None
        )

    def _begin(self, model: str, system: str, tools: tuple[JsonObject, ...], reason: str) -> Prefix:
        self._sent = 0
        body: JsonObject = {"model": model, "system": system, "tools": list(tools), "reason": reason}
        self._conversation.append("prefix", body)
        return self._conversation.prefix or Prefix(model, system, tools, reason)


def definition(tool: Tool) -> JsonObject:
    """A tool as it stands in a request."""
    return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
