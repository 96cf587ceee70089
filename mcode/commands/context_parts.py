"""What the parts of the last request are made of: each split until a user sees what costs.

The shares are estimates over what the session's records fold to, scaled so that they add up to the figures of the
ledger exactly. One walk over the records, and one count of what the window holds: off the event loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from mcode.agent.conversation import Folded
from mcode.agent.ledger import server_of, shared
from mcode.agent.prompt import memory_text
from mcode.agent.rendering import Rendering, declared
from mcode.catalog.call_tool import meant_block
from mcode.events import Ledger
from mcode.model.reading import is_list, objects_in, text_field
from mcode.model.usage import (
    MESSAGE_TOKENS,
    RequestSize,
    count_block,
    count_definition,
    count_message,
    count_prefix,
    count_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcode.commands.host import Conversation, SentPrefix
    from mcode.config.memory import MemoryFile
    from mcode.jsontext import JsonObject, JsonValue
    from mcode.session.records import Record

PROMPT = "prompt and style"
"""What of the system prompt stands in no file of the user's."""

YOURS, BROUGHT, RULES, SUMMARY = "your words", "brought in", "folders' rules", "summaries"
SAID, THOUGHT, CALLED = "model's words", "its thinking", "its calls"

NOTES = {
    BROUGHT: "date, @files, hooks, notes",
    RULES: "where the model has read",
    SUMMARY: "of what was taken out",
}
"""What a name stands for, in few words, where that does not go without saying."""

_OF_BLOCKS = {"text": SAID, "thinking": THOUGHT, "redacted_thinking": THOUGHT, "tool_use": CALLED}

_ORIGIN = "mcode_origin"
"""Key of a block that says where it came from, while the records are walked; no part of any request."""

Shares = dict[str, int]


async def expected(agent: Conversation, prefix: SentPrefix) -> Ledger:
    """What the next request would hold of what is there already, as an estimate."""
    messages = agent.room.conversation.history.messages
    loaded = frozenset(str(tool["name"]) for tool in prefix.tools)

    def count() -> RequestSize:
        return sum(map(count_message, messages), count_prefix(prefix.system, prefix.tools, referred=loaded))

    size = await asyncio.to_thread(count)
    size = size.scaled_to(agent.room.meter.corrected(size.total))
    return Ledger(size.definitions, size.system, size.messages, size.results, agent.meter.window)


def parts_of(
    records: Sequence[Record],
    ledger: Ledger,
    prefix: SentPrefix,
    memory: Sequence[MemoryFile],
    *,
    sent: bool,
) -> dict[str, Shares]:
    """Tokens of `definitions`, `system`, `messages` and `results` by what they are, each with the largest first.

    Definitions and results go by tool. `prefix` is that of a conversation without any request so far. `sent`: the
    ledger is of a request that was sent, and not of one to come.
    """
    end = _end(records, ledger) if sent else len(records)
    state = Folded()
    for record in records[:end]:
        state.fold(record.type, _marked(record))
    way = state.prefix.way if state.prefix is not None else "call"
    prefix = state.prefix or prefix
    messages = Rendering().messages(state.history.messages, state.loads, way)
    said, results = _conversation(messages)
    added = declared(state.loads, messages, way)
    definitions = {str(tool["name"]): count_definition(tool) for tool in (*prefix.tools, *added)}
    return {
        "definitions": shared(definitions, ledger.definitions),
        "system": shared(_system(prefix.system, memory), ledger.system),
        "messages": shared(said, ledger.messages),
        "results": shared(results, ledger.results),
    }


def by_group(definitions: Mapping[str, int], loaded: frozenset[str]) -> dict[str, Shares]:
    """Definitions by where they come from: mcode, servers, or a search that loaded them."""
    groups: dict[str, Shares] = {}
    for tool, tokens in definitions.items():
        group = "of mcode" if server_of(tool) == "core" else "of servers"
        groups.setdefault("loaded by search" if tool in loaded else group, {})[tool] = tokens
    return groups


def _end(records: Sequence[Record], ledger: Ledger) -> int:
    """How many records the last request of the conversation itself was made from: those before its answer.

    All, where it has none: the figures are not the provider's then, and something to answer came since the last one.
    """
    for back, record in enumerate(reversed(records), 1):
        if record.type == "assistant":
            return len(records) - back
        if record.type in {"user", "call_finished"} and not ledger.input_tokens:
            break
    return len(records)


def _marked(record: Record) -> JsonObject:
    """The body of a record, in which blocks of text say where they came from."""
    body = record.body
    content = body.get("content")
    if record.type not in {"user", "context", "compaction"}:
        return body
    blocks = objects_in(content) if is_list(content) else [{"type": "text", "text": str(content or "")}]
    origins = [BROUGHT] * len(blocks)
    if record.type == "compaction":
        origins = [SUMMARY] * len(blocks)
    elif record.type == "context" and body.get("read"):
        origins = [RULES] * len(blocks)
    elif record.type == "user" and blocks:
        origins[_own_words(blocks, str(body.get("text", "")))] = YOURS
    return {
        **body,
        "content": [{**block, _ORIGIN: origin} for block, origin in zip(blocks, origins, strict=True)],
    }


def _own_words(blocks: Sequence[JsonObject], shown: str) -> int:
    """Which block of a message is what the user sent: what was shown of it, else its last one."""
    last = len(blocks) - 1
    return next((at for at in range(last, -1, -1) if text_field(blocks[at], "text") == shown), last)


def _system(system: JsonValue, memory: Sequence[MemoryFile]) -> Shares:
    """The system prompt by instruction file, as far as these stand in it as they are now."""
    found: Counter[str] = Counter()
    whole = "\n\n".join(text_field(block, "text") for block in objects_in(system)) or str(system or "")
    for file in memory:
        text = memory_text(file)
        if text in whole:
            found[str(file.path)] += count_tokens(text)
    tokens = count_prefix(system, ()).system
    return {**found, PROMPT: max(0, tokens - sum(found.values()))}


def _conversation(messages: Sequence[JsonObject]) -> tuple[Counter[str], Counter[str]]:
    """The messages by who said it, and the results by tool."""
    said: Counter[str] = Counter()
    results: Counter[str] = Counter()
    tools: dict[str, str] = {}
    for message in messages:
        own: Counter[str] = Counter()
        for block in objects_in(message.get("content")):
            kind = text_field(block, "type")
            tokens = count_block(_bare(block))
            if kind == "tool_result":
                results[tools.get(text_field(block, "tool_use_id"), "(unknown)")] += tokens
                continue
            if kind == "tool_use":
                tools[text_field(block, "id")] = text_field(meant_block(block), "name")
            if message.get("role") == "assistant":
                own[_OF_BLOCKS.get(kind, SAID)] += tokens
            else:
                own[text_field(block, _ORIGIN) or BROUGHT] += tokens
        # What frames a message counts with most of it, that of results with the calls that they answer.
        own[own.most_common(1)[0][0] if own else CALLED] += MESSAGE_TOKENS
        said += own
    return said, results


def _bare(block: JsonObject) -> JsonObject:
    return {key: value for key, value in block.items() if key != _ORIGIN} if _ORIGIN in block else block


def short_path(path: str, home: Path, start: Path) -> str:
    """A path as a person writes it: from the folder of the session, or from home."""
    for before, sign in ((f"{start}/", ""), (f"{home}/", "~/")):
        if path.startswith(before):
            return sign + path.removeprefix(before)
    return path


def largest(parts: Mapping[str, int], count: int) -> tuple[list[tuple[str, int]], list[int]]:
    """The largest parts, so many, and the figures of the others."""
    ordered = sorted(parts.items(), key=lambda pair: -pair[1])
    named = count if len(ordered) > count + 1 else len(ordered)
    return ordered[:named], [tokens for _, tokens in ordered[named:]]
