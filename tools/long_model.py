"""The model of a long session: it works, it remembers what it can read, and it looks at every request it gets."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import TYPE_CHECKING, Any, cast

from mcode.model.client import Failure, FailureClass, ModelFailure, ModelInfo

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from mcode.jsontext import JsonObject

BYTES_A_TOKEN = 3.2
"""How this model counts: bytes of JSON. mcode counts in another way, and has to learn the difference."""

PER_TURN = 30
"""Calls of one turn."""

FACTS = {
    "name of the release": "heron", "port of the staging server": "4711", "colour of the banner": "ochre",
    "first reviewer": "the parser team", "day of the freeze": "Thursday", "limit of the queue": "93 entries",
    "branch to work on": "long-haul", "word that must not be used": "blazing", "size of the page": "7 rows",
    "folder for the results": "out/final", "version to support": "3.11", "last step": "tag and push",
}  # fmt: skip
"""What the user says at the beginning, and asks at the end."""

_FACT = re.compile(r"Remember: the ([a-z ]+) is ([^.\n]+|\d\.\d+)\.(?=\s|$|\\n|\")")
_QUESTION = re.compile(r"What is the ([a-z ]+)\?")
_FILLER = "The parser reads a line, and what it finds goes to the list of open points with its reason. "


def planted() -> str:
    """The user's first message."""
    facts = " ".join(f"Remember: the {name} is {value}." for name, value in FACTS.items())
    return f"We tidy up this project over many hours. {_FILLER * 3}{facts} {_FILLER * 3}Now begin."


class LongModel:
    """Implements `client.ModelClient`. What is wrong with a request becomes a problem, in words."""

    name = "long session"

    def __init__(self, window: int, say: Callable[[str], None]) -> None:
        """`say` is told each problem."""
        self._window = window
        self._say = say
        self._made = 0
        self._last: JsonObject | None = None
        self.requests = 0
        self.summaries = 0
        self.prefixes = 0
        """Requests that did not begin with the one before."""
        self.largest = 0
        """Tokens of the largest request, the room for the answer included."""

    async def stream(self, body: JsonObject) -> AsyncGenerator[JsonObject]:
        # A model works elsewhere: nothing of its work is the loop's, and its words come one by one.
        for event in await asyncio.to_thread(lambda: list(self._answer(body))):
            await asyncio.sleep(0)
            yield event

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("long-1", window=self._window, max_tokens=8_000, display_name="Long"),)

    async def close(self) -> None:
        """There is nothing to close."""

    def _answer(self, body: JsonObject) -> Iterator[JsonObject]:
        counted = self._count(body)
        for problem in problems_of(body):
            self._say(f"request {self.requests}: {problem}")
        return message_events(self._work(body) if body.get("tools") else self._summary(body), counted)

    def _count(self, body: JsonObject) -> int:
        """Tokens of the input. Raises ModelFailure for what the window does not hold."""
        self.requests += 1
        counted = round(len(json.dumps(body, ensure_ascii=False).encode()) / BYTES_A_TOKEN)
        whole = counted + int(body["max_tokens"])
        self.largest = max(self.largest, whole)
        if whole <= self._window:
            return counted
        self._say(f"request {self.requests}: {whole} tokens were sent, the window holds {self._window}")
        text = f"prompt is too long: {whole} tokens > {self._window} maximum"
        raise ModelFailure(Failure(FailureClass.COMPACT, text, 400, "invalid_request_error"))

    def _summary(self, body: JsonObject) -> list[JsonObject]:
        """What a model makes of a session when it is asked to: long, and the facts stand in the middle."""
        self.summaries += 1
        known = facts_in(body)
        self._look_for_facts(known)
        kept = "\n".join(f"Remember: the {name} is {value}." for name, value in known.items())
        return [{"type": "text", "text": f"Task: tidy up. {_FILLER * 60}\n{kept}\n{_FILLER * 60}"}]

    def _work(self, body: JsonObject) -> list[JsonObject]:
        if self._last is not None and not extends(self._last, body):
            self.prefixes += 1
        self._last = body
        known = facts_in(body)
        self._look_for_facts(known)
        last: list[JsonObject] = body["messages"][-1]["content"]
        said = str(last[-1].get("text", ""))
        question = _QUESTION.search(said)
        if question is not None:
            return [{"type": "text", "text": f"It is {known.get(question[1], 'not known to me')}."}]
        if self._made % PER_TURN == 0 and "text" not in last[-1]:
            return [{"type": "text", "text": f"{self._made} steps are done."}]
        words = {"type": "text", "text": f"Step {self._made}. {_FILLER * (6 + self._made % 8)}"}
        return [words, *(self._use() for _ in range(3))]

    def _look_for_facts(self, known: dict[str, str]) -> None:
        lost = [name for name, value in FACTS.items() if known.get(name) != value]
        if lost:
            self._say(f"request {self.requests} no longer holds: {', '.join(lost)}")

    def _use(self) -> JsonObject:
        self._made += 1
        at = self._made
        choices: list[tuple[str, JsonObject]] = [
            ("Read", {"file_path": f"file-{at % 7}.txt"}),
            ("Grep", {"pattern": f"line {at % 10}", "output_mode": "content"}),
            ("Write", {"file_path": f"new-{at % 20}.txt", "content": f"{at}\n" * 40}),
            ("Read", {"file_path": f"file-{at % 5}.txt", "limit": 12}),
            ("Glob", {"pattern": "*.txt"}),
        ]
        name, arguments = choices[at % len(choices)]
        if at % 60 == 59:
            step = {"content": f"step {at}", "status": "in_progress", "activeForm": f"At step {at}"}
            name, arguments = "TodoWrite", {"todos": [step]}
        elif at % 60 == 29:  # long enough to be killed in the middle
            name, arguments = "Bash", {"command": f"sleep 0.2; echo step {at}"}
        return {"type": "tool_use", "id": f"toolu_{os.getpid()}_{at}", "name": name, "input": arguments}


def facts_in(body: JsonObject) -> dict[str, str]:
    """The facts that can be read in a request's messages."""
    texts = (str(block.get("text", "")) for message in body["messages"] for block in message["content"])
    return {name: value for text in texts for name, value in _FACT.findall(text)}


def problems_of(body: JsonObject) -> Iterator[str]:
    """What an endpoint would refuse in the messages of a request."""
    messages: list[Any] = body["messages"]
    open_uses: list[str] = []
    used: set[str] = set()
    for at, message in enumerate(messages):
        if message["role"] != ("user" if at % 2 == 0 else "assistant"):
            yield f"message {at} is the {message['role']}'s"
        content = cast("list[JsonObject]", message["content"])
        if not content or any(each["type"] == "text" and not each["text"] for each in content):
            yield f"message {at} has something empty"
        results = [str(each["tool_use_id"]) for each in content if each["type"] == "tool_result"]
        if results != open_uses or any(each["type"] != "tool_result" for each in content[: len(results)]):
            yield f"message {at} answers {results} where {open_uses} were called"
        open_uses = [str(each["id"]) for each in content if each["type"] == "tool_use"]
        if used.intersection(open_uses) or len(set(open_uses)) < len(open_uses):
            yield f"message {at} repeats an id of a call"
        used.update(open_uses)
    if open_uses:
        yield "the last message is a call without its result"


def extends(before: JsonObject, after: JsonObject) -> bool:
    """Whether a request begins with all that the one before had."""
    count = len(before["messages"])
    one, other = (
        [_plain(body["system"]), _plain(body["tools"]), *map(_plain, body["messages"][:count])]
        for body in (before, after)
    )
    return one[:-1] == other[:-1] and other[-1].startswith(one[-1].rstrip("]}"))


def _plain(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r', "cache_control": \{[^{}]*\}', "", text)


def message_events(blocks: list[JsonObject], counted: int) -> Iterator[JsonObject]:
    """The stream of one message, each block in one piece; `counted` tokens of input."""
    usage = {"input_tokens": counted, "output_tokens": 1}
    message: JsonObject = {
        "id": f"msg_{os.urandom(6).hex()}",
        "role": "assistant",
        "content": [],
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    calls = any(block["type"] == "tool_use" for block in blocks)
    reason = "tool_use" if calls else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 200}}
    yield {"type": "message_stop"}
