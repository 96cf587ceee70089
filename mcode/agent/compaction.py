"""Making room in the window: what is dropped first, what is summarised, and what stays as it is.

Nothing here changes the journal's past: dropped results stay in files of the session, and the conversation before a
compaction stays in its records, to which a rewind goes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.images.words import described
from mcode.model.usage import count_block, count_message, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject

RECENT = 0.2
"""Share of the window that the last messages may fill to stay as they are."""

WORTH_DROPPING = 400
"""Tokens from which on an old result is worth a file."""

WORTH_THE_STEP = 0.15
"""Share of the window that dropping results must free to be enough by itself."""

_LENGTHS = (
    *((longest, 8_000) for longest in (4_000, 2_000, 1_000)),
    *((longest, 4_000) for longest in (1_000, 500, 250, 120, 60)),
    *((60, own) for own in (2_000, 1_000, 500, 250)),
)
"""Characters of a result or a call, and of one text of the user's, that whoever summarises reads; tried in turn."""

SYSTEM = """\
You write the memory of a coding session that has outgrown its window. Whoever reads it goes on with the work and \
knows nothing else of what came before. Be complete and exact: names, paths, commands, figures and the user's own \
wishes as they were said. Leave out what is settled and no longer matters."""

OPENING = "This session goes on from a summary, because the whole of it no longer fitted. Its record is kept."
"""How a conversation begins that was compacted."""

LATER = "What the user and you said and did from here on stands as a summary, as the user wished. Its record is kept."
"""How a summary begins that stands behind messages which stayed whole."""

EARLIER_PART = "What followed upon it stays whole, so that the summary need not say what is next."
LATER_PART = (
    "What came before it stays whole and need not be said again; begin with what this part was about."
)
"""What whoever summarises only a part is told of the rest."""

LAST_WORDS = 6_000
"""Characters of the user's last message that stand behind a summary, where the message itself does not."""

LONGEST_SUMMARY = 16_000
"""Characters of a summary within the session that whoever summarises again reads; only it knows what it says."""

ASK = """\
Summarise the session above under these headings, each with short points:
Task: what the user wants, in their words, with every constraint they gave.
Facts: what was stated or found out and may be asked for again; those of an earlier summary included.
Decisions: what was decided, and why.
Files: each file read or changed that still matters, and how it stands.
Done: what was finished, and how it was checked.
Open: what is left to do, what failed, what was in progress at the end."""


@dataclass(frozen=True, slots=True)
class Result:
    """One tool result that can be replaced by a note."""

    use_id: str
    text: str
    tokens: int


def old_results(
    messages: Sequence[JsonObject], kept: int, needed: frozenset[str] = frozenset()
) -> tuple[Result, ...]:
    """The results before the last `kept` messages that are worth dropping, oldest first.

    `needed`: use ids of results that must stay, such as those that hold the definitions of loaded tools.
    """
    found: list[Result] = []
    for message in messages[: len(messages) - kept]:
        for block in _blocks(message):
            if block.get("type") != "tool_result" or block.get("tool_use_id") in needed:
                continue
            text = _result_text(block)
            tokens = count_block(block)
            if tokens >= WORTH_DROPPING:
                found.append(Result(str(block["tool_use_id"]), text, tokens))
    return tuple(found)


def note_for(result: Result, path: Path) -> str:
    """What stands in the place of a dropped result."""
    return (
        f"[This result of about {result.tokens} tokens was removed to make room. It is kept in {path}: read it there "
        "if it is needed again.]"
    )


def recent_messages(messages: Sequence[JsonObject], budget: int) -> int:
    """How many of the last messages fit into `budget` tokens and can stand behind a summary.

    A call and its result are never parted: what stays begins with words of the user or with the model.
    """
    spent = 0
    kept = 0
    for number, message in enumerate(reversed(messages), 1):
        spent += count_message(message).total
        if spent > budget:
            break
        if not any(block.get("type") == "tool_result" for block in _blocks(message)):
            kept = number
    return kept


def rendered(messages: Sequence[JsonObject], budget: int) -> str:
    """A conversation as text for whoever summarises it, in about `budget` tokens; long parts lose their middle.

    An earlier summary stays as it is, for what only it knows would be lost for good; of the rest, results lose the
    most and the user's words the least.
    """
    earlier, messages = _earlier_summary(messages)
    earlier = shortened(earlier, budget * 2)
    left = budget - count_tokens(earlier)
    text = ""
    for longest, own in _LENGTHS:
        text = "\n\n".join(_said(message, longest, own) for message in messages)
        if count_tokens(text) <= left:
            break
    else:
        text = shortened(text, max(left, 0) * 2)
    return f"{earlier}\n\n{text}" if earlier else text


def _earlier_summary(messages: Sequence[JsonObject]) -> tuple[str, Sequence[JsonObject]]:
    """The summary that the conversation began with, and the conversation without it; empty where there is none."""
    if not messages:
        return "", ()
    first, *others = _blocks(messages[0]) or [{}]
    text = str(first.get("text", ""))
    if not text.startswith(OPENING):
        return "", messages
    return text.removeprefix(OPENING).strip(), ({**messages[0], "content": others}, *messages[1:])


def summary_request(messages: Sequence[JsonObject], hint: str, budget: int, rest: str = "") -> str:
    """The message that asks for a summary of these messages; `rest`: a sentence about what stays whole."""
    rest = f"\nThis is a part of the session. {rest}" if rest else ""
    wish = f"\nThe user asks that it pays attention to this: {hint}" if hint else ""
    return f"<session>\n{rendered(messages, budget)}\n</session>\n\n{ASK}{rest}{wish}"


def opening(summary: str, last_message: str, more: Sequence[str], heading: str = OPENING) -> list[JsonObject]:
    """The blocks that a compacted conversation begins with, or with LATER as `heading` ends with."""
    parts = [f"{heading}\n<summary>\n{summary.strip()}\n</summary>"]
    if last_message:
        parts.append(f"The user's last message: {last_message}")
    return [{"type": "text", "text": part} for part in (*parts, *more) if part]


def last_words_of_user(messages: Sequence[JsonObject], before: int) -> str:
    """The user's last text in the first `before` messages; empty where it stands among those that stay."""
    if any(_user_text(message) for message in messages[before:]):
        return ""
    return next((text for message in reversed(messages[:before]) if (text := _user_text(message))), "")


def _user_text(message: JsonObject) -> str:
    if message["role"] != "user":
        return ""
    texts = [str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text"]
    said = [text for text in texts if not text.startswith(LATER)]
    return said[-1] if said else ""


def _said(message: JsonObject, longest: int, own: int) -> str:
    """One message in words; `longest` and `own`: as in _LENGTHS."""
    lines: list[str] = []
    for block in _blocks(message):
        match block.get("type"):
            case "text":
                who = "User" if message["role"] == "user" else "Assistant"
                room = own if message["role"] == "user" else 2 * longest
                text = str(block.get("text", ""))
                room = LONGEST_SUMMARY if who == "User" and text.startswith(LATER) else room
                lines.append(f"{who}: {shortened(text, room)}")
            case "tool_use":
                arguments = jsontext.dump(block.get("input"))
                lines.append(f"Call {block.get('name')}: {shortened(arguments, longest)}")
            case "tool_result":
                failed = " (failed)" if block.get("is_error") else ""
                lines.append(f"Result{failed}: {shortened(_result_text(block), longest)}")
            case "image":
                lines.append(f"User: [{described(block)}]")
            case _:
                pass
    return "\n".join(lines)


def _result_text(block: JsonObject) -> str:
    """What a result says; of an image, what it was."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[JsonObject]", content) if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", "")) if part.get("type") == "text" else f"[{described(part)}]" for part in parts
    )


def shortened(text: str, longest: int) -> str:
    """The text without its middle, in about `longest` characters; the gap says how much is left out."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    return cast("list[JsonObject]", content) if isinstance(content, list) else []


@dataclass(frozen=True, slots=True)
class Outlook:
    """What making room would free now, in tokens, the cheapest step first."""

    used: int
    """Tokens of the next request."""
    limit: int
    """From here on room is made."""
    results: int
    """Old results that would go to files first."""
    by_results: int
    by_summary: int
    """What a summary of all that is old would free, the summary itself taken off."""
    largest: tuple[Held, ...] = ()
    """The largest results that the window holds, the largest first."""


@dataclass(frozen=True, slots=True)
class Held:
    """A tool result in the window."""

    use_id: str
    tokens: int
    old: bool
    """It would go to a file first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How room is made, decided before anything is done."""

    drop: tuple[Result, ...]
    """Results that notes will stand for."""
    kept: int
    """Messages that stay whole behind a summary."""
    summarise: bool
    """False where dropping the results is enough."""


def plan_room(
    messages: Sequence[JsonObject],
    window: int,
    measured: Callable[[int], int],
    *,
    by_hand: bool,
    needed: frozenset[str] = frozenset(),
) -> Plan:
    """What to do with a conversation that fills too much of the window.

    `measured` turns estimated tokens into those that the endpoint would count. `by_hand`: the user asks for a
    summary, whatever could be dropped. `needed`: as of `old_results`.
    """
    kept = recent_messages(messages, round(window * RECENT))
    drop = old_results(messages, kept, needed)
    freed = measured(sum(result.tokens for result in drop))
    return Plan(drop, kept, by_hand or freed < window * WORTH_THE_STEP)
