"""Keeps requests within the context window: results move to files first, then a summary replaces old messages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcode.agent.conversation import MUCH_TEXT
from mcode.agent.replies import TooLongError
from mcode.errors import EndpointError, UsageError
from mcode.events import Compacted, Notice
from mcode.model.usage import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcode.agent.compaction import Held, Outlook, Plan, Result
    from mcode.agent.conversation import Conversation
    from mcode.agent.history import Part
    from mcode.agent.meter import Meter
    from mcode.agent.replies import ModelCaller
    from mcode.agent.requests import RequestBuilder
    from mcode.events import EventBus
    from mcode.jsontext import JsonObject
    from mcode.pipeline.hooks import HookRunner

SUMMARY_TOKENS = 4_096
"""Output tokens of a summary; in a small window an eighth of it."""

FILL = 0.85
"""Share of the window that a request may fill before room is made."""

SUMMARY_TRIES = 3
"""Times that a summary is asked for where the endpoint finds even that request too long; each holds half as much."""

OVERFLOWS = 3
"""Times in one turn that a request which the endpoint refused as too long is tried again with less in it."""

LARGEST = 5
"""Results of the window that are named."""

LEAST_WINDOW = 8_000
"""Tokens that a window is taken to hold at least, whatever was refused."""

WENT_ON = "The conversation went on while the summary was written; nothing was changed. Ask for it again."

ADVICE = (
    "Nothing was lost: the whole conversation is in the session's file. /compact tries again, /rewind goes back, and "
    "/clear begins a new session."
)


@dataclass(slots=True)
class RoomMaker:
    """Makes room in one session's window."""

    conversation: Conversation
    caller: ModelCaller
    builder: RequestBuilder
    meter: Meter
    events: EventBus
    hooks: HookRunner
    keep_text: Callable[[str], Path]
    """Writes a text to a private file of the session."""
    reread: Callable[[], None]
    """Reads the instruction files again."""
    more: Callable[[], Sequence[str]]
    """What else must be known after a summary: the todo list, loaded tools, background jobs."""
    made: list[Compacted] = field(default_factory=list["Compacted"], init=False)
    """What was done in this run, without the summaries' texts."""
    _refused: bool = field(default=False, init=False)
    """True once making room came to nothing in this turn; it is not tried at every request."""
    by_user: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while the user has the conversation changed outside of any turn: shortened, or taken back."""
    _overflows: int = field(default=0, init=False)
    """Requests of this turn that the endpoint refused as too long."""

    @property
    def limit(self) -> int:
        """Tokens that a request may have before room is made: what the answer needs must fit behind it."""
        window = self.meter.window
        return min(round(FILL * window), window - min(self.builder.max_tokens, window // 4))

    @property
    def _summary_tokens(self) -> int:
        return min(SUMMARY_TOKENS, self.meter.window // 8)

    @property
    def _counted_for_one(self) -> float:
        """Tokens that the endpoint counts for one that is estimated."""
        return max(self.meter.corrected(1_000) / 1_000, 0.01)

    def begin_turn(self) -> None:
        """A new turn tries again what the last one could not do."""
        self._refused = False
        self._overflows = 0

    async def settled(self) -> None:
        """Wait for a change that the user has asked for: a turn that began meanwhile would be lost in it."""
        async with self.by_user:
            pass

    def size(self) -> int:
        """Tokens of the next request as they are now known, as the endpoint would count them."""
        model = self.caller.model()
        return self.meter.expect(self.builder.preview(model), self.conversation.history.messages)

    async def cannot_hold(self, content: Sequence[JsonObject]) -> str:
        """Why a message that is to be sent could never stand in this window whole; empty where it can."""
        message: JsonObject = {"role": "user", "content": list(content)}
        if sum(len(str(block.get("text", ""))) for block in content) <= MUCH_TEXT:
            size = count_message(message)
        else:
            size = await asyncio.to_thread(count_message, message)
        tokens = self.meter.corrected(size.total)
        if tokens <= self.limit // 4:  # the usual case; what is looked at next takes longer
            return ""
        room = max(0, self.limit - self.meter.expect(self.builder.preview(self.caller.model()), ()))
        if tokens <= room:
            return ""
        return (
            f"The message has about {tokens} tokens, and the window of {self.meter.window} has room for about {room}. "
            "Nothing was sent, and the message is not part of the conversation. Put the text into a file and ask about "
            "that, or send less."
        )

    def outlook(self) -> Outlook:
        """The steps that there are, and what each would free."""
        from mcode.agent import compaction

        messages = self.conversation.history.messages
        kept = compaction.recent_messages(messages, round(compaction.RECENT * self.meter.window))
        needed = self._needed()
        results = compaction.old_results(messages, kept, needed)
        young = compaction.old_results(messages[len(messages) - kept :], 0, needed)
        old = sum(count_message(message).total for message in messages[: len(messages) - self._fitting()])
        return compaction.Outlook(
            used=self.size(),
            limit=self.limit,
            results=len(results),
            by_results=self.meter.corrected(sum(result.tokens for result in results)),
            by_summary=max(0, self.meter.corrected(old) - self._summary_tokens),
            largest=self._largest(results, young),
        )

    def _largest(self, results: Sequence[Result], young: Sequence[Result]) -> tuple[Held, ...]:
        from mcode.agent import compaction

        held = [
            compaction.Held(each.use_id, self.meter.corrected(each.tokens), old)
            for found, old in ((results, True), (young, False))
            for each in found
        ]
        return tuple(sorted(held, key=lambda each: -each.tokens)[:LARGEST])

    def _needed(self) -> frozenset[str]:
        """Calls whose results hold definitions of loaded tools."""
        return frozenset(load.call for load in self.conversation.loads.values())

    async def before_request(self) -> str | None:
        """Make room where the next request would be too large; why it cannot be sent, where that fails.

        Raises StorageError.
        """
        if self.size() <= self.limit:
            return None
        if not self._refused:
            try:
                await self._make("auto", "", by_hand=False)
            except EndpointError as error:
                self._refused = True
                self.events.emit(Notice(str(error), "warning"))
        size = self.size()
        if size <= self.meter.window - 1_000:
            return None
        return (
            f"The next request would have about {size} tokens, and the window holds {self.meter.window}. It was not "
            f"sent. {self.breakdown(size)} {ADVICE}"
        )

    def breakdown(self, size: int) -> str:
        """What a request of `size` tokens that does not fit is made of, and what a summary would free."""
        prefix = self.builder.preview(self.caller.model())
        parts = self.meter.measure(prefix, self.conversation.history.messages).scaled_to(size)
        return (
            f"It has definitions {parts.definitions}, messages {parts.system + parts.messages}, results "
            f"{parts.results}; a summary would free about {self.outlook().by_summary}."
        )

    async def after_overflow(self) -> bool:
        """The endpoint says that a request was too long: make room whatever was counted; False where it failed.

        Raises StorageError.
        """
        self._overflows += 1
        if self._overflows > OVERFLOWS:
            return False
        # It holds less than was thought: what was counted just now did not fit.
        self.meter.window = min(self.meter.window, max(self.size(), LEAST_WINDOW))
        try:
            return await self._make("overflow", "", by_hand=True) is not None
        except EndpointError as error:
            self.events.emit(Notice(str(error), "warning"))
            return False

    async def compact(self, hint: str) -> Compacted | None:
        """Summarise now, as the user wishes; None where a hook or an empty conversation stands against it.

        Raises EndpointError where the model gives no summary, UsageError where the conversation changed meanwhile, and
        StorageError; then nothing has changed.
        """
        async with self.by_user:
            return await self._make("manual", hint, by_hand=True)

    async def summarise_part(self, turn: int, part: Part, hint: str = "") -> Compacted | None:
        """Summarise what stands before a turn's message, or from it on; the rest stays as it is.

        None where a hook stands against it. Raises UsageError where there is nothing to summarise, EndpointError
        where the model gives no summary, and StorageError; then nothing has changed.
        """
        async with self.by_user:
            return await self._summarise_part(turn, part, hint)

    async def _summarise_part(self, turn: int, part: Part, hint: str) -> Compacted | None:
        from mcode.agent import compaction

        history = self.conversation.history
        parts = history.parts_at(turn)
        if parts is None:
            raise UsageError(
                f"A summary stands for message {turn} already; nothing was changed. `/rewind {turn} conversation` goes "
                "back across it."
            )
        front, back = parts
        old = front if part == "before" else back
        if not old:
            raise UsageError(f"Nothing was said before message {turn}; nothing was changed.")
        if await self._is_hindered("manual", hint):
            return None
        before = self.size()
        rest = compaction.EARLIER_PART if part == "before" else compaction.LATER_PART if front else ""
        summary = await self._ask_for_summary(old, hint, rest)
        said = compaction.last_words_of_user(back, len(back)) if part == "from" else ""
        last = await self._last_words(said)
        context = await self.hooks.session_started("compact", self.caller.model(), self.conversation.name)
        if history.parts_at(turn) != parts:
            raise UsageError(WENT_ON)
        self.reread()
        heading = compaction.LATER if part == "from" and front else compaction.OPENING
        content = compaction.opening(summary, last, (*self.more(), *context.notes), heading)
        self.conversation.append("compaction", {"content": content, "part": part, "turn": turn})
        where = (
            f"what came before message {turn}" if part == "before" else f"message {turn} and what followed"
        )
        return await self._made("manual", before, summary, f"the model's summary stands for {where}")

    async def _is_hindered(self, trigger: str, hint: str) -> bool:
        """Whether a hook stands against it; the user is told."""
        about = {"trigger": trigger, "custom_instructions": hint}
        reaction = await self.hooks.other("PreCompact", about, trigger)
        if reaction.blocked is not None:
            self.events.emit(Notice(f"A hook does not want room to be made: {reaction.blocked}", "warning"))
        return reaction.blocked is not None

    async def _made(self, trigger: str, before: int, summary: str, how: str, dropped: int = 0) -> Compacted:
        """Begin a new prefix, and tell what was done."""
        self.builder.begin_again("compaction")
        made = Compacted(trigger, before, self.size(), dropped, summary)
        self.made.append(replace(made, summary="yes" if summary else ""))
        self.events.emit(made)
        self.events.emit(Notice(_told(made, how)))
        await self.hooks.other("PostCompact", {"trigger": trigger, "compact_summary": summary}, trigger)
        return made

    async def _make(self, trigger: str, hint: str, *, by_hand: bool) -> Compacted | None:
        from mcode.agent import compaction

        if await self._is_hindered(trigger, hint):
            return None
        messages = self.conversation.history.messages
        if not messages:
            return None
        before = self.size()
        plan = compaction.plan_room(
            messages, self.meter.window, self.meter.corrected, by_hand=by_hand, needed=self._needed()
        )
        summary = ""
        if plan.drop and not plan.summarise:
            await self._drop(plan)
        if plan.summarise or self.size() > self.limit:
            summary = await self._summarise(hint)
        if summary:
            return await self._made(trigger, before, summary, "the model's summary stands for what is old")
        dropped = len(plan.drop)
        return await self._made(trigger, before, "", f"{dropped} old results went to files", dropped)

    async def _drop(self, plan: Plan) -> None:
        """Put old results into files; a note in the place of each says where."""
        from mcode.agent import compaction

        paths = await asyncio.to_thread(lambda: [self.keep_text(result.text) for result in plan.drop])
        notes = {
            result.use_id: compaction.note_for(result, path)
            for result, path in zip(plan.drop, paths, strict=True)
        }
        self.conversation.append("results_dropped", {"notes": notes})

    async def _summarise(self, hint: str) -> str:
        """Ask for a summary, and begin again with it."""
        from mcode.agent import compaction

        messages = self.conversation.history.messages
        kept = self._fitting()
        old = messages[: len(messages) - kept] or messages
        summary = await self._ask_for_summary(old, hint)
        last = await self._last_words(compaction.last_words_of_user(messages, len(messages) - kept))
        context = await self.hooks.session_started("compact", self.caller.model(), self.conversation.name)
        if self.conversation.history.messages != messages:
            raise UsageError(WENT_ON)
        self.reread()
        content = compaction.opening(summary, last, (*self.more(), *context.notes))
        self.conversation.append("compaction", {"content": content, "kept": kept})
        return summary

    async def _last_words(self, text: str) -> str:
        """What the user said last, for behind a summary; where that is long, its ends and the file with all of it."""
        from mcode.agent import compaction

        if len(text) <= compaction.LAST_WORDS:
            return text
        path = await asyncio.to_thread(self.keep_text, text)
        return f"{compaction.shortened(text, compaction.LAST_WORDS)}\n[the whole message is in {path}]"

    async def _ask_for_summary(self, old: Sequence[JsonObject], hint: str, rest: str = "") -> str:
        """What the model says; of a session that it finds too long it is told less. Raises EndpointError."""
        from mcode.agent import compaction

        longest = self._summary_tokens
        budget = round((0.6 * self.meter.window - longest) / self._counted_for_one)
        tries = 0
        while True:
            asked = await asyncio.to_thread(compaction.summary_request, old, hint, max(budget, 1_000), rest)
            try:
                summary = await self.caller.aside(compaction.SYSTEM, asked, longest)
                break
            except EndpointError as error:
                tries += 1
                if not isinstance(error, TooLongError) or tries >= SUMMARY_TRIES:
                    raise EndpointError(
                        f"The conversation could not be summarised: {error} {ADVICE}"
                    ) from error
                budget //= 2
        if not summary.strip():
            raise EndpointError(
                f"The conversation could not be summarised: the model's answer is empty. {ADVICE}"
            )
        return summary

    def _fitting(self) -> int:
        """How many of the last messages can stay whole: the more, the better, but the result must be small."""
        from mcode.agent import compaction

        messages = self.conversation.history.messages
        fixed = self.meter.expect(self.builder.preview(self.caller.model()), ())
        room = max(0, self.limit // 2 - fixed - self._summary_tokens)
        share = min(round(compaction.RECENT * self.meter.window), room)
        kept = compaction.recent_messages(messages, round(share / self._counted_for_one))
        return 0 if kept >= len(messages) else kept


def _told(made: Compacted, how: str) -> str:
    """What the user is told of it."""
    return (
        f"Room was made in the window: {how}; the next request has about {made.after} tokens instead of {made.before}. "
        "The whole conversation is in the session's file, and /rewind goes back across this."
    )


def todo_text(todos: Sequence[JsonObject]) -> str:
    """The list of steps, for behind a summary; empty where there is none."""
    lines = [f"- [{item.get('status', 'pending')}] {item.get('content', '')}" for item in todos]
    return "\n".join(("Your list of steps:", *lines)) if lines else ""
