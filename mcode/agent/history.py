"""What the model is sent of the conversation, folded from the journal's records.

The same fold serves a live session and a resumed one, record by record, so both send the same bytes. A record
only ever appends to the messages, but for `rewind`, `results_dropped`, `images_dropped` and `compaction`, which begin
a new prefix.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from mcode.agent.pictures import without_images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mcode.jsontext import JsonObject

INTERRUPTED = "interrupted: no result was recorded; it may have had effects"
"""What the model reads for a call whose end is not in the journal."""

NO_ANSWER = "(no answer)"
"""Stands where the model said nothing, so that roles alternate and no content is empty."""

Part = Literal["before", "from"]
"""What a summary of a part stands for: all before a turn's message, or all from it on."""


@dataclass(frozen=True, slots=True)
class Past:
    """A conversation at one moment."""

    messages: list[JsonObject]
    turn_starts: dict[int, tuple[int, int]]


@dataclass(slots=True)
class _Compacted:
    """A conversation as it was before it was compacted."""

    number: int
    """How many compactions there were before."""
    turns: frozenset[int]
    """The turns that begin in it."""
    past: Past | None
    """None where it is only in the journal."""


class History:
    """The conversation in the provider-neutral shape of Messages: role and content blocks."""

    def __init__(self) -> None:
        self._messages: list[JsonObject] = []
        self._open_uses: list[str] = []
        self._results: dict[str, JsonObject] = {}
        self._of_failed: dict[str, list[JsonObject]] = {}
        """Images of failed calls, by use: in the result of such a call endpoints take text alone."""
        self._turn_starts: dict[int, tuple[int, int]] = {}
        """Where each turn's message begins: messages before it, and blocks before it in a message it joins."""
        self._regular = True
        """False once the records do not alternate, as where some were lost; then `normalise` has work to do."""
        self._before: list[_Compacted] = []
        """What stood before each compaction, for a rewind across it."""
        self._compactions = 0
        self._read_back: Callable[[int], History] | None = None
        self.answered = 0
        """Messages of the last request that was answered, where its prefix still stands."""
        self.used_ids: set[str] = set()
        """Ids of all calls so far; a new call must not repeat one."""

    def apply(self, type: str, body: JsonObject) -> None:  # noqa: A002 -- the journal's own word
        """Fold one record in; record types that say nothing to the model are passed over."""
        match type:
            case "user":
                self._close_results()
                self._mark_turn(int(body.get("turn", 0)))
                self._append_user(_blocks(body.get("content")))
            case "context":
                self._close_results()
                self._append_user(_blocks(body.get("content")))
            case "assistant":
                self._close_results()
                self.answered = len(self.messages)
                self._append_assistant(body)
            case "prefix":
                self.answered = 0
            case "call_finished":
                self._take_result(body)
            case "rewind":
                self._rewind(int(body.get("turn", 0)))
            case "results_dropped":
                self._close_results()
                notes = cast("dict[str, str]", body.get("notes", {}))
                self._messages = [without_results(message, notes) for message in self._messages]
            case "images_dropped":
                self._close_results()
                notes = cast("dict[str, str]", body.get("notes", {}))
                self._messages = [without_images(message, notes) for message in self._messages]
            case "compaction":
                self._close_results()
                self._compact(_blocks(body.get("content")), body)
            case _:
                pass

    @property
    def messages(self) -> tuple[JsonObject, ...]:
        """The messages as they would be sent now: every use answered, roles alternating, nothing empty."""
        end = (self._result_message(),) if self._open_uses else ()
        messages = (*self._messages, *end)
        return messages if self._regular else normalise(messages)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Ids of calls whose result is still missing."""
        return tuple(use for use in self._open_uses if use not in self._results)

    def fresh_id(self, maker: str) -> str:
        """An id for a call that is not the model's: `user_1`, `user_2` ... for the maker `user`. No other gets it."""
        names = (f"{maker}_{number}" for number in itertools.count(1))
        fresh = next(name for name in names if name not in self.used_ids)
        self.used_ids.add(fresh)
        return fresh

    def keep_in_journal(self, read_back: Callable[[int], History]) -> None:
        """Hold nothing of what stood before compactions from now on.

        `read_back` gives what stood before the compaction of a number, folded again from the journal.
        """
        self._read_back = read_back
        for each in self._before:
            each.past = None

    def as_it_stands(self) -> Past:
        """The conversation as a compaction would find it now."""
        return Past(self._messages, self._turn_starts)

    def compaction_after(self, turn: int) -> int | None:
        """The number of the compaction that a rewind to this turn goes back across; None where it need not."""
        if turn in self._turn_starts:
            return None
        return next((each.number for each in reversed(self._before) if turn in each.turns), None)

    def _mark_turn(self, turn: int) -> None:
        joins = bool(self._messages) and self._messages[-1]["role"] == "user"
        before = len(self._messages) - joins
        blocks = len(self._messages[-1]["content"]) if joins else 0
        self._turn_starts.setdefault(turn, (before, blocks))

    def _append_user(self, blocks: list[JsonObject]) -> None:
        if not blocks:
            return
        if self._messages and self._messages[-1]["role"] == "user":
            last = self._messages[-1]
            self._messages[-1] = {"role": "user", "content": [*last["content"], *blocks]}
        else:
            self._messages.append({"role": "user", "content": blocks})

    def _append_assistant(self, body: JsonObject) -> None:
        message = cast("JsonObject", body["message"])
        blocks = _blocks(message.get("content"))
        if not body.get("complete", True):
            blocks = _kept_of_incomplete(blocks, str(body.get("problem", "")))
        uses = [str(block["id"]) for block in blocks if block.get("type") == "tool_use"]
        if not self._messages or self._messages[-1]["role"] == "assistant":
            self._regular = False
        self._messages.append({"role": "assistant", "content": blocks or [_text(NO_ANSWER)]})
        self._open_uses = uses
        self._forget_results()
        self.used_ids.update(uses)

    def _take_result(self, body: JsonObject) -> None:
        identifier = str(body["id"])
        self.used_ids.add(identifier)
        if identifier not in self._open_uses or identifier in self._results:
            return
        failed, images = body.get("status") != "ok", body.get("images")
        text = str(body.get("text", ""))
        text = text if text.strip() else "(no output)"
        result: JsonObject = {
            "type": "tool_result",
            "tool_use_id": identifier,
            "content": [_text(text), *images] if images and not failed else text,
        }
        if failed:
            result["is_error"] = True
            self._of_failed[identifier] = [*(images or ())]
        self._results[identifier] = result
        if len(self._results) == len(self._open_uses):
            self._close_results()

    def _close_results(self) -> None:
        if self._open_uses:
            self._messages.append(self._result_message())
        self._open_uses = []
        self._forget_results()

    def _forget_results(self) -> None:
        self._results = {}
        self._of_failed = {}

    def _result_message(self) -> JsonObject:
        results = [self._results.get(use) or _missing_result(use) for use in self._open_uses]
        images = [image for use in self._open_uses for image in self._of_failed.get(use, ())]
        return {"role": "user", "content": [*results, *images]}

    def parts_at(self, turn: int) -> tuple[list[JsonObject], list[JsonObject]] | None:
        """What stands before a turn's message, and what begins with it; None where a summary stands for that turn."""
        if turn not in self._turn_starts:
            return None
        end = [self._result_message()] if self._open_uses else []
        return _parted([*self._messages, *end], self._turn_starts[turn])

    def _compact(self, summary: list[JsonObject], body: JsonObject) -> None:
        """A summary stands for a part: in front of the last `kept` messages, or before or from a `turn` on."""
        past = None if self._read_back is not None else self.as_it_stands()
        self._before.append(_Compacted(self._compactions, frozenset(self._turn_starts), past))
        self._compactions += 1
        length = len(self._messages)
        if body.get("part") == "from":
            self._end_with(summary, self._turn_starts.get(int(body.get("turn", 0)), (length, 0)))
        elif body.get("part") == "before":
            self._begin_with(summary, self._turn_starts.get(int(body.get("turn", 0)), (0, 0)))
        else:
            self._begin_with(summary, (length - min(int(body.get("kept", 0)), length), 0))

    def _begin_with(self, summary: list[JsonObject], at: tuple[int, int]) -> None:
        """Begin with a summary; what stays loses the thinking that was bound to the rest."""
        cut, inner = at
        recent = [without_thinking(message) for message in _parted(self._messages, at)[1]]
        joins = bool(recent) and recent[0]["role"] == "user"
        head = [*summary, *recent[0]["content"]] if joins else summary
        shift = 0 if joins else 1
        self._messages = [{"role": "user", "content": head}, *recent[1 if joins else 0 :]]
        self._turn_starts = {
            turn: (before - cut + shift, blocks - inner + len(summary) if joins and before == cut else blocks)
            for turn, (before, blocks) in self._turn_starts.items()
            if (before, blocks) >= at
        }

    def _end_with(self, summary: list[JsonObject], at: tuple[int, int]) -> None:
        """End with a summary; what stands before it stays as it is."""
        self._messages = _parted(self._messages, at)[0]
        self._append_user(summary)
        self._turn_starts = {turn: start for turn, start in self._turn_starts.items() if start < at}

    def _go_back(self, number: int) -> None:
        """To what stood before the compaction of this number."""
        at = next(index for index, each in enumerate(self._before) if each.number == number)
        past = self._before[at].past
        if past is None and self._read_back is not None:
            past = self._read_back(number).as_it_stands()
        if past is not None:
            self._messages, self._turn_starts = list(past.messages), dict(past.turn_starts)
        del self._before[at:]

    def _rewind(self, turn: int) -> None:
        number = self.compaction_after(turn)
        if number is not None:
            self._go_back(number)
        start = self._turn_starts.get(turn)
        if start is None:
            return
        before, blocks = start
        joined: list[JsonObject] = self._messages[before]["content"][:blocks] if blocks else []
        del self._messages[before:]
        if joined:
            self._messages.append({"role": "user", "content": joined})
        self._open_uses = []
        self._forget_results()
        self._turn_starts = {number: at for number, at in self._turn_starts.items() if number < turn}


def _parted(messages: list[JsonObject], at: tuple[int, int]) -> tuple[list[JsonObject], list[JsonObject]]:
    """The messages before a place, and those from it on: so many messages, and so many blocks of the next one."""
    before, blocks = at
    if not blocks:
        return messages[:before], messages[before:]
    content = _blocks(messages[before].get("content"))
    role = messages[before]["role"]
    rest: list[JsonObject] = [{"role": role, "content": content[blocks:]}] if content[blocks:] else []
    return (
        [*messages[:before], {"role": role, "content": content[:blocks]}],
        [*rest, *messages[before + 1 :]],
    )


def without_results(message: JsonObject, notes: Mapping[str, str]) -> JsonObject:
    """A message in which a note stands for the content of each result whose use id is in `notes`."""
    content = _blocks(message.get("content"))
    if not any(block.get("tool_use_id") in notes for block in content):
        return message
    dropped = [
        {**block, "content": notes[block["tool_use_id"]]} if block.get("tool_use_id") in notes else block
        for block in content
    ]
    return {**message, "content": dropped}


def without_thinking(message: JsonObject) -> JsonObject:
    """A message without thinking: its signature holds only behind the very messages it was given for."""
    content = _blocks(message.get("content"))
    kept = [block for block in content if block.get("type") not in {"thinking", "redacted_thinking"}]
    return message if len(kept) == len(content) else {**message, "content": kept or [_text(NO_ANSWER)]}


def normalise(messages: Iterable[JsonObject]) -> tuple[JsonObject, ...]:
    """Make a conversation that every Messages endpoint accepts, without touching the stored one.

    Each use gets exactly one result, in order, in the next message; results without a use are dropped; no
    content is empty; roles alternate and the user speaks first. A valid message comes back as the same object.
    """
    valid: list[JsonObject] = []
    for message in messages:
        misplaced = "tool_use" if message["role"] == "user" else "tool_result"
        content = [block for block in _blocks(message.get("content")) if block.get("type") != misplaced]
        if message["role"] == "user":
            content = _answered(content, _uses_of(valid))
        elif valid and valid[-1]["role"] == "assistant":
            valid.append({"role": "user", "content": _answered([], _uses_of(valid)) or [_text("(go on)")]})
        if not content:
            if message["role"] == "user":
                continue
            content = [_text(NO_ANSWER)]
        if valid and valid[-1]["role"] == message["role"]:
            valid[-1] = {"role": message["role"], "content": [*valid[-1]["content"], *content]}
        elif content == message["content"]:
            valid.append(message)
        else:
            valid.append({"role": message["role"], "content": content})
    unanswered = _uses_of(valid)
    if unanswered:
        valid.append({"role": "user", "content": _answered([], unanswered)})
    if valid and valid[0]["role"] != "user":
        valid.insert(0, {"role": "user", "content": [_text("(the conversation begins here)")]})
    return tuple(valid)


def _answered(content: list[JsonObject], uses: list[str]) -> list[JsonObject]:
    """User content with one result for each use in front, in the order of the uses."""
    results: dict[str, JsonObject] = {}
    for block in content:
        if block.get("type") == "tool_result":
            results.setdefault(str(block.get("tool_use_id")), block)
    others = [block for block in content if block.get("type") != "tool_result"]
    return [*(results.get(use) or _missing_result(use) for use in uses), *others]


def _uses_of(messages: list[JsonObject]) -> list[str]:
    if not messages or messages[-1]["role"] != "assistant":
        return []
    return [str(block["id"]) for block in messages[-1]["content"] if block.get("type") == "tool_use"]


def _missing_result(use: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": use, "content": INTERRUPTED, "is_error": True}


def _kept_of_incomplete(blocks: list[JsonObject], problem: str) -> list[JsonObject]:
    """Text that was shown stays, marked; unfinished calls and unsigned thinking cannot be sent back."""
    kept = [block for block in blocks if block.get("type") == "text"]
    return [*kept, _text(f"[this answer is incomplete: {problem or 'it was cut off'}]")]


def _blocks(content: object) -> list[JsonObject]:
    if isinstance(content, str):
        return [_text(content)] if content.strip() else []
    if not isinstance(content, list):
        return []
    blocks = cast("list[JsonObject]", content)
    # Endpoints refuse text of blanks alone, which models do write now and then.
    return [block for block in blocks if block.get("type") != "text" or str(block.get("text", "")).strip()]


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
