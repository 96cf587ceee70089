"""What the tests of this room share: a clean environment, a clock that does not wait, and a way to ask."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.anthropic import AnthropicClient
from mcode.model.messages import MessageAssembler
from mcode.model.profiles import Profile, choose_profile
from mcode.model.request import RequestState, build_request
from mcode.model.retry import Surroundings
from mcode.model.script import render_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from mcode.jsontext import JsonObject
    from mcode.model.client import ModelClient
    from mcode.model.messages import AssembledMessage

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")

BODY = build_request(
    RequestState(
        model="scripted-1",
        system="You are terse.",
        tools=(
            {"name": "Bash", "description": "Runs a line.", "input_schema": {"type": "object"}},
            {"name": "Read", "description": "Reads a file.", "input_schema": {"type": "object"}},
        ),
        messages=({"role": "user", "content": "Look around."},),
        max_tokens=1000,
    )
)
"""A request that a strict endpoint takes."""


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction] -- autouse
    for name in tuple(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower() in PROXIES:
            monkeypatch.delenv(name)


@dataclass
class FakeTime:
    """A clock that jumps over every wait, and remembers it."""

    now: float = 0.0
    chance: float = 0.0
    waits: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(clock=lambda: self.now, sleep=self.sleep, chance=lambda: self.chance)


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
async def clients() -> AsyncIterator[list[AnthropicClient]]:
    """Clients put in here are closed at the end."""
    opened: list[AnthropicClient] = []
    yield opened
    for client in opened:
        await client.close()


def client_for(
    opened: list[AnthropicClient], url: str, credential: str | None = "key-of-the-test", **limits: Any
) -> AnthropicClient:
    """A client for a loopback server; `limits` replace fields of its profile."""
    profile: Profile = replace(choose_profile(url), **limits)
    client = AnthropicClient(profile, credential, source="the test")
    opened.append(client)
    return client


async def events_of(client: ModelClient, body: JsonObject = BODY) -> list[JsonObject]:
    """All events of one request."""
    return [event async for event in client.stream(body)]


def message_of(*blocks: JsonObject, stop_reason: str | None = None, **more: Any) -> JsonObject:
    """A whole message as an endpoint would have meant it."""
    called = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted-1",
        "content": list(blocks),
        "stop_reason": stop_reason or ("tool_use" if called else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 30},
        **more,
    }


def call(name: str = "Bash", identifier: str = "toolu_1", **arguments: Any) -> JsonObject:
    """A tool_use block."""
    return {"type": "tool_use", "id": identifier, "name": name, "input": arguments}


def raw_call(raw: str, name: str = "Bash", identifier: str = "toolu_1") -> JsonObject:
    """A tool_use block whose input is sent as this text."""
    return {"type": "tool_use", "id": identifier, "name": name, "raw_input": raw}


def words(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def stream_of(*blocks: JsonObject, **more: Any) -> list[JsonObject]:
    """The events of such a message."""
    return list(render_events(message_of(*blocks, **more)))


def assemble(events: Iterable[JsonObject], **options: Any) -> AssembledMessage:
    """Feed events to a fresh assembler and finish it."""
    assembler = MessageAssembler(**options)
    for event in events:
        assembler.feed(event)
    return assembler.finish()
