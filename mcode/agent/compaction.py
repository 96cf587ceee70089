"""Making room in the window: what is dropped first, what is summarised, and what stays as it is.

Nothing here changes the journal's past: dropped results stay in files of the session, and the conversation before a
compaction stays in its records, to which a rewind goes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mcode import jsontext
from mcode.model.usage import count_message, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject

FILL = 0.85
"""Share of the window that a request may fill before room is made."""

RECENT = 0.2
"""Share of the window that the last messages may fill to stay as they are."""

WORTH_DROPPING = 400
"""Tokens from which on an old result is worth a file."""

WORTH_THE_STEP = 0.15
"""Share of the window that dropping results must free to be enough by itself."""

SYSTEM = """\
You write the memory of a coding session that has outgrown its window. Whoever reads it goes on with the work and \
knows nothing else of what came before. Be complete and exact: names, paths, commands, figures and the user's own \
wishes as they were said. Leave out what is settled and no longer matters."""

ASK = """\
Summarise the session above under these headings, each with short points:
Task: what the user wants, in their words, with every constraint they gave.
Facts: what was stated or found out and may be asked for again.
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
            text = block.get("content")
            if block.get("type") != "tool_result" or not isinstance(text, str):
                continue
            if block.get("tool_use_id") in needed:
                continue
            tokens = count_tokens(text)
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
    """A conversation as text for whoever summarises it, in about `budget` tokens; long parts lose their middle."""
    longest = 4_000
    while True:
        text = "\n\n".join(_said(message, longest) for message in messages)
        if longest <= 60 or count_tokens(text) <= budget:
            break
        longest //= 2
    if count_tokens(text) <= budget:
        return text
    return _shortened(text, budget * 2)


def summary_request(messages: Sequence[JsonObject], hint: str, budget: int) -> str:
    """The message that asks for a summary of these messages."""
    wish = f"\nThe user asks that it pays attention to this: {hint}" if hint else ""
    return f"<session>\n{rendered(messages, budget)}\n</session>\n\n{ASK}{wish}"


def opening(summary: str, last_message: str, more: Sequence[str]) -> list[JsonObject]:
    """The blocks that a compacted conversation begins with."""
    told = (
        "This session goes on from a summary, because the whole of it no longer fitted. Its record is kept."
    )
    parts = [f"{told}\n<summary>\n{summary.strip()}\n</summary>"]
    if last_message:
        parts.append(f"The user's last message, as it was: {_shortened(last_message, 6_000)}")
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
    return texts[-1] if texts else ""


def _said(message: JsonObject, longest: int) -> str:
    lines: list[str] = []
    for block in _blocks(message):
        match block.get("type"):
            case "text":
                who = "User" if message["role"] == "user" else "Assistant"
                lines.append(f"{who}: {_shortened(str(block.get('text', '')), 2 * longest)}")
            case "tool_use":
                arguments = jsontext.dump(block.get("input"))
                lines.append(f"Call {block.get('name')}: {_shortened(arguments, longest)}")
            case "tool_result":
                content = block.get("content")
                text = content if isinstance(content, str) else jsontext.dump(content)
                failed = " (failed)" if block.get("is_error") else ""
                lines.append(f"Result{failed}: {_shortened(text, longest)}")
            case _:
                pass
    return "\n".join(lines)


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    return cast("list[JsonObject]", content) if isinstance(content, list) else []


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
