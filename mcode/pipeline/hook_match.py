"""Which of the user's hooks match an event."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from mcode.call import Call
    from mcode.config.settings import HookHandler

TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})

_WITHOUT_MATCHER = frozenset({"UserPromptSubmit", "Stop", "PostToolBatch", "CwdChanged"})
"""Events that are about nothing a matcher could name."""

GUARDED = frozenset({"PreToolUse", "UserPromptSubmit"})
"""Events before something happens: a hook that cannot run stops it, where it is set to block by failing."""

_NAMES_ONLY = re.compile(r"[\w\-,| ]+")

_OTHER_NAMES = {"tool_search": "ToolSearch"}
"""Names under which matchers may know a tool, beside its own."""


@dataclass(frozen=True, slots=True)
class _Entry:
    handler: HookHandler
    names: frozenset[str] | None
    """The exact names that match; None where a pattern or everything does."""
    pattern: re.Pattern[str] | None
    written: HookHandler | None = None
    """The hook as it was added, where it is another one that runs."""

    @property
    def added(self) -> HookHandler:
        return self.written or self.handler

    def matches(self, subject: str) -> bool:
        if self.names is not None:
            return subject in self.names or _OTHER_NAMES.get(subject) in self.names
        if self.pattern is None:
            return True
        return any(self.pattern.search(name) for name in (subject, _OTHER_NAMES.get(subject)) if name)


class HookTable:
    """The hooks by event, with their matchers compiled."""

    def __init__(
        self,
        handlers: Iterable[HookHandler],
        matches_rule: Callable[[str, Call], bool],
        above: HookTable | None = None,
    ) -> None:
        """`matches_rule` says whether a call fits the permission rule of a hook's `if`.

        `above`: hooks that are meant as well, as they are at each moment.
        """
        self._matches_rule = matches_rule
        self._above = above
        self._by_event: dict[str, list[_Entry]] = {}
        self._spent: set[HookHandler] = set() if above is None else above.spent
        self.problems: list[str] = []
        """Hooks that never run because of how they are written, in words."""
        self.add(handlers)

    @property
    def spent(self) -> set[HookHandler]:
        """Those that run once a session, and have."""
        return self._spent

    def add(self, handlers: Iterable[HookHandler]) -> None:
        """Take in more hooks."""
        for handler in handlers:
            if handler.unsupported is None:
                self._add(handler)
            elif handler.on_failure == "block" and handler.event in GUARDED and not handler.run_async:
                self._add_broken(handler, f"it cannot run: {handler.unsupported}")

    def remove(self, handlers: Collection[HookHandler]) -> None:
        """Let go of hooks that were added."""
        for event, entries in tuple(self._by_event.items()):
            kept = [entry for entry in entries if entry.added not in handlers]
            if kept:
                self._by_event[event] = kept
            else:
                del self._by_event[event]

    def with_more(self, handlers: Iterable[HookHandler]) -> HookTable:
        """These hooks, as they are at each moment, and more."""
        return HookTable(handlers, self._matches_rule, self)

    def knows(self, event: str) -> bool:
        """Whether any hook is meant for the event, whatever it is about."""
        return event in self._by_event or (self._above is not None and self._above.knows(event))

    def names(self, event: str) -> frozenset[str]:
        """The names that matchers of the event list."""
        above = self._above.names(event) if self._above is not None else frozenset[str]()
        entries = self._by_event.get(event, ())
        return above.union(name for entry in entries for name in entry.names or ())

    def find(self, event: str, subject: str, call: Call | None = None) -> list[HookHandler]:
        """The hooks to run now, identical ones once; those that run once a session are then spent."""
        found = self.meant(event, subject, call)
        self._spent.update(handler for handler in found if handler.once)
        return found

    def meant(self, event: str, subject: str, call: Call | None = None) -> list[HookHandler]:
        """The hooks that would run now, identical ones once; none is spent by asking."""
        above = self._above.meant(event, subject, call) if self._above is not None else []
        entries = self._by_event.get(event)
        if entries is None:
            return above
        found = {_work(handler): handler for handler in above}
        for entry in entries:
            handler = entry.handler
            if (
                (handler.once and handler in self._spent)
                or not entry.matches(subject)
                or not self._fits(handler, call)
            ):
                continue
            found.setdefault(_work(handler), handler)
        return list(found.values())

    def _add(self, handler: HookHandler) -> None:
        try:
            entry = _compile(handler)
        except re.error as error:
            self.problems.append(
                f"The hook {handler.command!r} for {handler.event} in {handler.source.name} never runs: its matcher "
                f"{handler.matcher!r} is not a valid pattern ({error})."
            )
            if handler.on_failure == "block" and handler.event in GUARDED and not handler.run_async:
                self._add_broken(handler, "its matcher is not a valid pattern")
            return
        if handler.condition is not None and handler.event not in TOOL_EVENTS:
            self.problems.append(
                f"The hook {handler.command!r} for {handler.event} in {handler.source.name} never runs: `if` can "
                "only be true of a call."
            )
            return
        self._by_event.setdefault(handler.event, []).append(entry)

    def _add_broken(self, handler: HookHandler, why: str) -> None:
        """A guard that cannot do its work lets nothing pass; where its matcher says nothing, it is meant always."""
        broken = replace(handler, unsupported=why)
        try:
            entry = _compile(broken)
        except re.error:
            entry = _Entry(broken, None, None)
        self._by_event.setdefault(handler.event, []).append(replace(entry, written=handler))

    def _fits(self, handler: HookHandler, call: Call | None) -> bool:
        return handler.condition is None or call is None or self._matches_rule(handler.condition, call)


def is_meant(handler: HookHandler, subject: str) -> bool:
    """Whether a hook's matcher fits what an event is about; False where it is no valid pattern."""
    try:
        return _compile(handler).matches(subject)
    except re.error:
        return False


def _compile(handler: HookHandler) -> _Entry:
    matcher = handler.matcher.strip()
    if handler.event == "FileChanged" and matcher in {"", "*"}:
        return _Entry(handler, frozenset(), None)  # it names no file to look at
    if handler.event in _WITHOUT_MATCHER or matcher in {"", "*"}:
        return _Entry(handler, None, None)
    if _NAMES_ONLY.fullmatch(matcher) or handler.event == "FileChanged":
        names = frozenset(name.strip() for name in re.split(r"[,|]", matcher))
        return _Entry(handler, names - {""}, None)
    return _Entry(handler, None, re.compile(matcher))


def _work(handler: HookHandler) -> tuple[object, ...]:
    """What makes two hooks the same piece of work, wherever and for whatever matcher they are written."""
    return (
        handler.command,
        handler.args,
        handler.shell,
        handler.timeout,
        handler.condition,
        handler.run_async,
        handler.on_failure,
        handler.unsupported,
    )
