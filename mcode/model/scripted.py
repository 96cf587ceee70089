"""A model client that plays a script in this process: no network, no server, no key."""

from __future__ import annotations

import asyncio
import email.utils
import json
import time
from typing import TYPE_CHECKING

from mcode.jsontext import JsonObject, dump
from mcode.model.client import ModelFailure, ModelInfo
from mcode.model.failures import Endpoint, explain_answer
from mcode.model.script import ScriptError, ScriptPlayer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from mcode.model.client import Failure
    from mcode.model.script import ErrorReply, Performance, Script

DEFAULT_MODELS = (ModelInfo("scripted-1", window=200_000, max_tokens=64_000, display_name="Scripted model"),)
"""What the client offers where nothing else is given."""


class ScriptedClient:
    """Plays one script from its beginning; implements `client.ModelClient`."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted model",
        models: Sequence[ModelInfo] = DEFAULT_MODELS,
        pace: float = 0.0,
        record: bool = True,
    ) -> None:
        """`pace`: seconds between deltas where a reply gives none. `record`: keep the bodies for assertions."""
        self.requests: list[JsonObject] = []
        """Copies of the bodies that came, in order; empty where they are not recorded."""
        self.player = ScriptPlayer(script)
        self.closed = False
        self._name = name
        self._models = tuple(models)
        self._pace = pace
        self._record = record

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        """Play the next turn. Raises ModelFailure where the script says so, ScriptError where it is wrong."""
        if self._record:
            self.requests.append(json.loads(dump(body)))
        performance = self.player.play(body)
        if performance.reply.faults:
            raise ScriptError(
                f"{self.player.script.name}: {performance.turn}: the faults {performance.reply.faults} need the "
                "loopback server (tools/messages_server); a client in this process has no connection to break"
            )
        await asyncio.sleep(performance.reply.delay)
        error = performance.reply.error
        if error is not None and error.after_events is None:
            raise ModelFailure(self._failure(error))
        async for event in self._events(performance):
            yield event

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return self._models

    async def close(self) -> None:
        self.closed = True

    async def _events(self, performance: Performance) -> AsyncGenerator[JsonObject]:
        pace = performance.reply.pace or self._pace
        error = performance.reply.error
        begun = False
        for number, event in enumerate(performance.events()):
            if error is not None and number == error.after_events:
                break
            delta = event["type"] == "content_block_delta"
            # Even without a pace the loop gets its turn, so that a cancelled reader stops here.
            await asyncio.sleep(pace if delta and begun else 0)
            begun = begun or delta
            yield event
        if error is not None:
            raise ModelFailure(self._failure(error))

    def _failure(self, error: ErrorReply) -> Failure:
        headers = {name.lower(): value for name, value in error.headers.items()}
        if error.retry_date is not None:
            headers["retry-after"] = email.utils.formatdate(time.time() + error.retry_date, usegmt=True)
        body: JsonObject = {"error": {"type": error.kind, "message": error.message, **error.details}}
        in_stream = error.after_events is not None
        return explain_answer(Endpoint(self._name), 200 if in_stream else error.status, body, headers)
