"""A session with the guide, without an agent: requests are built by hand, results are put in by the test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcode.model.guide import guide_client

if TYPE_CHECKING:
    from mcode.model.scripted import ScriptedClient

TOOLS = ("Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write")

DENIED = (
    "Denied: The user denied this call. The call did not run and nothing was changed. Do not repeat it as it is; "
    "go another way, or say what you would need."
)

LISTING = "src.py\nREADME.md\nnotes.txt"
"""What Glob says of the directory."""


@dataclass
class GuideSession:
    """Says things to the guide and hands it results, as an agent would."""

    tools: tuple[str, ...] = TOOLS
    client: ScriptedClient = field(default_factory=lambda: guide_client(pace=0))
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def say(self, words: str) -> str:
        """Type something; returns what the guide says."""
        content = [{"type": "text", "text": words}]
        if not self.messages:
            content.insert(
                0, {"type": "text", "text": "<environment>\nWorking directory: /home/me\n</environment>"}
            )
        self.messages.append({"role": "user", "content": content})
        return await self._answer()

    async def give(self, words: str, *, is_error: bool = False) -> str:
        """Answer the call that waits; returns what the guide says."""
        self.messages.append({"role": "user", "content": [self._result(words, is_error)]})
        return await self._answer()

    async def give_and_say(self, words: str, typed: str, *, is_error: bool = False) -> str:
        """Answer the call that waits and type something in the same message, as after a stopped turn."""
        typed_block = {"type": "text", "text": typed}
        self.messages.append({"role": "user", "content": [self._result(words, is_error), typed_block]})
        return await self._answer()

    @property
    def call(self) -> tuple[str, dict[str, Any]] | None:
        """Name and arguments of the call that waits, or None."""
        uses = [block for block in self.messages[-1]["content"] if block["type"] == "tool_use"]
        assert len(uses) <= 1
        return (uses[0]["name"], uses[0]["input"]) if uses else None

    def _result(self, words: str, is_error: bool) -> dict[str, Any]:
        use = next(block for block in self.messages[-1]["content"] if block["type"] == "tool_use")
        content = [{"type": "text", "text": words}]
        return {"type": "tool_result", "tool_use_id": use["id"], "content": content, "is_error": is_error}

    async def _answer(self) -> str:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in self.tools]
        body = {"model": "guide", "max_tokens": 1000, "messages": self.messages, "tools": tools}
        content: list[dict[str, Any]] = []
        inputs: list[str] = []
        async for event in self.client.stream(body):
            if event["type"] == "content_block_start":
                content.append(dict(event["content_block"]))
                inputs.append("")
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                if delta["type"] == "text_delta":
                    content[event["index"]]["text"] += delta["text"]
                else:
                    inputs[event["index"]] += delta["partial_json"]
        for block, given in zip(content, inputs, strict=True):
            if block["type"] == "tool_use":
                block["input"] = json.loads(given)
        self.messages.append({"role": "assistant", "content": content})
        return "\n".join(block["text"] for block in content if block["type"] == "text")


async def at_step(number: int) -> GuideSession:
    """A session that is about to take one of the six steps."""
    session = GuideSession()
    await session.say("hello")
    await session.give(LISTING)
    results = {
        2: ("1\t# Parser",),
        3: ("total 12\nREADME.md",),
        4: ("No file matches.", "Created.", "Changed."),
        5: ("Kept.",),
    }
    for step in range(2, number):
        await session.say("next")
        for result in results[step]:
            await session.give(result)
        assert session.call is None
    return session
