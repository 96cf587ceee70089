"""Plays a script: chooses the turn for each request and completes its reply to a whole message."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcode.jsontext import JsonObject, JsonValue, canonical, dump
from mcode.model.script.prompt_cache import PromptCache
from mcode.model.script.render import render_events
from mcode.model.script.values import Reply, ScriptError
from mcode.model.script.view import RequestView, list_of, object_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcode.model.script.values import Replier, ResultMatch, Script, Turn, When

Groups = dict[str, str]


@dataclass(frozen=True, slots=True)
class Performance:
    """What the script answers to one request, complete."""

    reply: Reply
    """The chosen reply, its templates filled."""
    message: JsonObject
    """The whole message: ids, stop reason and usage filled in; `raw_input` stands where it was given."""
    view: RequestView
    turn: str
    """Name of the turn, or `turn N` from 1, or `fallback`."""

    def events(self) -> Iterator[JsonObject]:
        """The message as raw stream events."""
        return render_events(self.message, self.reply.chunk)


class ScriptPlayer:
    """One run through a script; holds the counters and the cache model."""

    def __init__(
        self, script: Script, cache: PromptCache | None = None, *, use_prefix: str = "toolu_"
    ) -> None:
        self.script = script
        self.cache = cache or PromptCache()
        self.requests = 0
        self._use_prefix = use_prefix
        self._given = [0] * len(script.turns)

    def play(self, body: JsonObject) -> Performance:
        """Choose the turn for this request and complete its reply.

        Raises ScriptError where no turn fits, and whatever a reply function raises.
        """
        self.requests += 1
        view = RequestView(body, self.requests)
        name, chosen, groups = self._choose(view)
        reply = self._reply(chosen, view, groups)
        return Performance(reply, self._message(reply, view), view, name)

    def unused(self) -> tuple[str, ...]:
        """Names of the turns without a predicate that were never given."""
        return tuple(
            _name(turn, at)
            for at, turn in enumerate(self.script.turns)
            if turn.when is None and not self._given[at]
        )

    def _choose(self, view: RequestView) -> tuple[str, Reply | Replier, Groups]:
        left = [(at, turn) for at, turn in enumerate(self.script.turns) if self._given[at] < turn.uses]
        for at, turn in left:
            groups = None if turn.when is None else holds(turn.when, view)
            if groups is not None:
                return self._take(at, turn, groups)
        for at, turn in left:
            if turn.when is None:
                return self._take(at, turn, {})
        if self.script.fallback is not None:
            return "fallback", self.script.fallback, {}
        raise ScriptError(self._nothing_fits(view))

    def _take(self, at: int, turn: Turn, groups: Groups) -> tuple[str, Reply | Replier, Groups]:
        self._given[at] += 1
        return _name(turn, at), turn.reply, groups

    def _nothing_fits(self, view: RequestView) -> str:
        newest = dump(view.messages[-1])[:200] if view.messages else "nothing"
        return (
            f"{self.script.name}: no turn fits request {view.number} and there is no fallback. "
            f"Given so far, by turn: {self._given}. The newest message is {newest}"
        )

    def _reply(self, chosen: Reply | Replier, view: RequestView, groups: Groups) -> Reply:
        if isinstance(chosen, Reply):
            blocks = tuple(fill(block, groups) for block in chosen.blocks) if groups else chosen.blocks
            return replace(chosen, blocks=blocks)
        return chosen(view)

    def _message(self, reply: Reply, view: RequestView) -> JsonObject:
        seed = _seed(view)
        content = [
            _complete(block, f"{self._use_prefix}{_digest(seed, at)}")
            for at, block in enumerate(reply.blocks)
        ]
        calls = any(block["type"] == "tool_use" for block in content)
        message: JsonObject = {
            "id": f"msg_{_digest(seed, -1)}",
            "type": "message",
            "role": "assistant",
            "model": view.body.get("model", ""),
            "content": content,
            "stop_reason": reply.stop_reason or ("tool_use" if calls else "end_turn"),
            "stop_sequence": reply.stop_sequence,
            "usage": self._usage(reply, content, view),
        }
        if reply.stop_details is not None:
            message["stop_details"] = reply.stop_details
        return message

    def _usage(self, reply: Reply, content: list[JsonObject], view: RequestView) -> JsonObject:
        prompt = self.cache.measure(view.body)
        output = sum(self.cache.count_text(_written(block)) for block in content)
        usage: JsonObject = {
            "input_tokens": prompt.plain,
            "cache_creation_input_tokens": prompt.written,
            "cache_read_input_tokens": prompt.read,
            "output_tokens": max(1, output),
            **reply.usage,
        }
        return {key: value for key, value in usage.items() if value is not None}


def holds(when: When, view: RequestView) -> Groups | None:
    """The named groups of a predicate that holds for a request, or None where it does not hold."""
    least = when.least_requests if when.least_requests is not None else 0
    most = when.most_requests if when.most_requests is not None else view.number
    if not least <= view.number <= most:
        return None
    declared = set(view.tool_names)
    if not declared.issuperset(when.declares) or not declared.isdisjoint(when.lacks):
        return None
    groups: Groups = {}
    if when.user is not None:
        found = when.user.search(view.user_text)
        if found is None or not (view.user_spoke or when.result is not None):
            return None
        groups.update(_named(found))
    if when.result is not None:
        said = next(
            (
                said
                for one in view.results
                if (said := _fits(when.result, one.tool, one.text, one.is_error)) is not None
            ),
            None,
        )
        if said is None:
            return None
        groups.update(said)
    return groups if when.check is None or when.check(view) else None


def _fits(match: ResultMatch, tool: str, text: str, is_error: bool) -> Groups | None:
    if match.tool not in (None, tool) or match.is_error not in (None, is_error):
        return None
    if match.contains is not None and match.contains not in text:
        return None
    if match.matches is None:
        return {}
    found = match.matches.search(text)
    return None if found is None else _named(found)


def fill(value: JsonValue, groups: Mapping[str, str]) -> JsonValue:
    """Replace `{name}` in all texts of a value where `name` is a group; other braces stay as they are."""
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda found: groups.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [fill(entry, groups) for entry in list_of(value)]
    if isinstance(value, dict):
        return {key: fill(entry, groups) for key, entry in object_of(value).items()}
    return value


def signature_of(words: str) -> str:
    """The signature that belongs to a thinking text, so that a server can tell a changed one."""
    return hashlib.sha256(b"scripted thinking:" + words.encode("utf-8", "surrogatepass")).hexdigest()


_TEMPLATE = re.compile(r"\{([A-Za-z_]\w*)\}")


def _named(found: re.Match[str]) -> Groups:
    return {name: value or "" for name, value in found.groupdict().items()}


def _name(turn: Turn, at: int) -> str:
    return turn.name or f"turn {at + 1}"


def _complete(block: JsonObject, identifier: str) -> JsonObject:
    match block.get("type"):
        case "tool_use":
            return {
                "type": "tool_use",
                "id": identifier,
                **({} if "raw_input" in block else {"input": {}}),
                **block,
            }
        case "thinking":
            return {"signature": signature_of(str(block.get("thinking", ""))), **block}
        case _:
            return block


def _written(block: JsonObject) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return str(block["thinking"])
        case _:
            return canonical(block)


def _seed(view: RequestView) -> str:
    """Differs between all requests of a conversation, also after it was resumed with a fresh counter."""
    newest = canonical(view.messages[-1]) if view.messages else ""
    return f"{view.number}:{len(view.messages)}:{newest}"


def _digest(seed: str, at: int) -> str:
    return hashlib.sha256(f"{at}:{seed}".encode()).hexdigest()[:24]
