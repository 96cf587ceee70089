"""Works out the answer to one request: routes, checks, the script's turn, capabilities, faults."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.jsontext import JsonError, JsonObject, parse_object
from mcode.model.script import ErrorReply, PromptCache, ScriptError, ScriptPlayer, render_events, text
from mcode.model.script.view import object_of, objects
from tools.messages_server.checks import check_request
from tools.messages_server.draft import Draft
from tools.messages_server.faults import Stage, apply_faults, parse_faults
from tools.messages_server.history import referenced_tools
from tools.messages_server.issued import Issued
from tools.messages_server.refusals import RefusalError, error_body, error_response
from tools.messages_server.response import Response, json_response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcode.model.script import Performance, Reply, Script
    from tools.messages_server.capabilities import Capabilities
    from tools.messages_server.recorded import Recorded

DEFAULT_MODELS: tuple[JsonObject, ...] = (
    {
        "id": "scripted-1",
        "type": "model",
        "display_name": "Scripted model",
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
    },
)
"""What GET /v1/models lists where nothing else is given."""


class Answerer:
    """Holds what lives as long as the server: the script's run, the cache model, the blocks sent."""

    def __init__(
        self, script: Script, capabilities: Capabilities, models: Sequence[JsonObject] | None
    ) -> None:
        self._capabilities = capabilities
        self._only_listed = models is not None
        self._models = tuple(DEFAULT_MODELS if models is None else models)
        self._issued = Issued()
        self._cache = PromptCache(
            needs_marks=capabilities.cache == "marks",
            honours_deferral=capabilities.defer_loading == "honour",
        )
        prefix = "toolu_" if capabilities.use_ids == "toolu" else ""
        self.player = ScriptPlayer(script, self._cache, use_prefix=prefix)

    def answer(self, kept: Recorded) -> Response:
        """The response to a request. Raises ScriptError where the script is wrong."""
        request_id = f"req_{secrets.token_hex(12)}" if self._capabilities.request_ids == "yes" else ""
        try:
            response = self._route(kept, request_id)
        except RefusalError as refusal:
            response = error_response(refusal.fault, request_id)
        if not request_id:
            return response
        return replace(response, headers={**response.headers, "request-id": request_id})

    def _route(self, kept: Recorded, request_id: str) -> Response:
        self._check_credential(kept)
        if kept.path.endswith("/v1/models"):
            self._expect(kept, "GET", self._capabilities.models == "ok")
            return self._list_models()
        if kept.path.endswith("/v1/messages/count_tokens"):
            self._expect(kept, "POST", self._capabilities.count_tokens == "ok")
            body = self._checked_body(kept, counting=True)
            return json_response({"input_tokens": self._cache.count(body)})
        self._expect(kept, "POST", kept.path.endswith("/v1/messages"))
        return self._reply(kept, self._checked_body(kept, counting=False), request_id)

    def _expect(self, kept: Recorded, method: str, present: bool) -> None:
        if not present:
            raise RefusalError(f"Not Found: {kept.path}", 404)
        if kept.method != method:
            raise RefusalError(f"Method Not Allowed: {kept.method} {kept.path}", 405, "invalid_request_error")

    def _check_credential(self, kept: Recorded) -> None:
        wanted = self._capabilities.auth
        if wanted == "none":
            return
        if kept.credential == "none" or (wanted != "either" and kept.credential not in (wanted, "both")):
            header = {"bearer": "authorization: Bearer", "x-api-key": "x-api-key"}.get(wanted, "x-api-key")
            raise RefusalError(f"{header} header is required", 401)
        if kept.key_matches is False:
            raise RefusalError("invalid credential", 401)

    def _checked_body(self, kept: Recorded, *, counting: bool) -> JsonObject:
        body = kept.parsed
        if body is None:
            raise RefusalError(f"The request body is not valid JSON: {kept.fault}")
        check_request(body, kept.headers, self._capabilities, self._issued, counting=counting)
        if self._only_listed and body.get("model") not in {model.get("id") for model in self._models}:
            raise RefusalError(f"model: {body.get('model')}", 404)
        window = self._capabilities.window
        if window is not None and not counting:
            size = self._cache.count(body)
            if size + body.get("max_tokens", 0) > window:
                raise RefusalError(f"prompt is too long: {size} tokens > {window} maximum")
        return body

    def _list_models(self) -> Response:
        ids = [model.get("id") for model in self._models]
        return json_response(
            {
                "data": list(self._models),
                "has_more": False,
                "first_id": ids[0] if ids else None,
                "last_id": ids[-1] if ids else None,
            }
        )

    def _reply(self, kept: Recorded, body: JsonObject, request_id: str) -> Response:
        performance = self.player.play(body)
        kept.turn = performance.turn
        reply = performance.reply
        try:
            if reply.error is not None and (
                reply.error.after_events is None or body.get("stream") is not True
            ):
                return _http_error(reply, reply.error, request_id)
            message = self._message(performance, body)
            self._check_reply(message, body)
            if body.get("stream") is not True:
                return self._whole(performance, message)
            return self._stream(performance, message, request_id)
        except ScriptError as error:
            name = f"{self.player.script.name}: {performance.turn}"
            raise ScriptError(f"{name}, request {performance.view.number}: {error}") from None

    def _message(self, performance: Performance, body: JsonObject) -> JsonObject:
        """The message as this endpoint would send it."""
        message = dict(performance.message)
        forced = object_of(body.get("tool_choice")).get("type") in ("any", "tool")
        if forced and self._capabilities.forced_call == "text-first":
            message["content"] = [text("I will call the tool."), *message["content"]]
        if self._capabilities.cache == "unreported":
            message["usage"] = _without_cache_fields(message["usage"])
        return message

    def _check_reply(self, message: JsonObject, body: JsonObject) -> None:
        """Raise ScriptError for a reply that no model would give to this request."""
        called = [str(block["name"]) for block in message["content"] if block["type"] == "tool_use"]
        choice = object_of(body.get("tool_choice"))
        if choice.get("type") in ("any", "tool") and not called:
            raise ScriptError(f"the request forces a call ({choice}), the reply has none")
        if choice.get("type") == "none" and called:
            raise ScriptError(f"the request forbids calls, the reply calls {', '.join(called)}")
        if self._capabilities.defer_loading != "honour":
            return
        deferred = {
            str(tool.get("name")) for tool in objects(body.get("tools")) if tool.get("defer_loading") is True
        }
        unseen = deferred - referenced_tools(body)
        for name in called:
            if name in unseen:
                raise ScriptError(
                    f"the reply calls the deferred tool {name}, which no tool_reference has loaded"
                )

    def _whole(self, performance: Performance, message: JsonObject) -> Response:
        faults = parse_faults(performance.reply.faults)
        early = [fault.name for fault, _ in faults if fault.stage is not Stage.ANSWER]
        if early:
            raise ScriptError(f"the fault {early[0]} needs a stream, the request asks for a whole message")
        message = {**message, "content": [_parsed_input(block) for block in message["content"]]}
        self._issued.remember(message)
        draft = Draft([], message, response=json_response(message))
        for fault, argument in faults:
            fault.apply(draft, argument)
        return draft.finish(performance.reply.delay)

    def _stream(self, performance: Performance, message: JsonObject, request_id: str) -> Response:
        reply = performance.reply
        events = list(render_events(message, reply.chunk))
        if self._capabilities.pings == "no":
            events = [event for event in events if event["type"] != "ping"]
        if reply.error is not None:
            events = [*events[: reply.error.after_events], error_body(reply.error, request_id)]
        draft = Draft(
            events,
            message,
            pace=reply.pace,
            error=lambda kind: error_body(ErrorReply(type=kind, message="scripted fault"), request_id),
        )
        apply_faults(draft, parse_faults(reply.faults))
        self._issued.remember(message)
        return draft.finish(reply.delay)


def _http_error(reply: Reply, error: ErrorReply, request_id: str) -> Response:
    if reply.faults:
        raise ScriptError("an HTTP error and a fault exclude each other")
    return replace(error_response(error, request_id), delay=reply.delay)


def _without_cache_fields(usage: Mapping[str, int]) -> JsonObject:
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    kept: JsonObject = {name: value for name, value in usage.items() if name not in cached}
    if "input_tokens" in kept:
        kept["input_tokens"] += sum(usage.get(name, 0) for name in cached)
    return kept


def _parsed_input(block: JsonObject) -> JsonObject:
    """A call with `raw_input` as a whole message has to have it: parsed."""
    if "raw_input" not in block:
        return block
    try:
        given = parse_object(block["raw_input"])
    except JsonError as error:
        raise ScriptError(
            f"`raw_input` of {block['name']} cannot stand in a whole message: {error}"
        ) from None
    return {**{key: value for key, value in block.items() if key != "raw_input"}, "input": given}
