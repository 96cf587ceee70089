"""Cleans, cuts and masks the texts of hooks for the model and for the screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.errors import McodeError
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.config.settings import HookHandler
    from mcode.pipeline.hook_reply import Reply

TEXT_LIMIT = 10_000
"""Characters that one text of a hook may have; of a longer one the model gets a preview."""

_ROOM_FOR_NOTE = 500
_NAME_LIMIT = 80


class HookTexts:
    """Prepares texts of hooks for those who read them."""

    def __init__(self, spill: Callable[[str], Path], mask: Callable[[str], str]) -> None:
        """`spill` writes a long text to a private file; `mask` hides secrets."""
        self._spill = spill
        self._mask = mask

    def name(self, handler: HookHandler) -> str:
        """What a hook is called: its command on one line, masked and shortened."""
        return self._row(" ".join((handler.command, *(handler.args or ()))))

    def status(self, handler: HookHandler) -> str:
        """What the user wants to read while it runs, as safe and short as its name; empty for nothing."""
        return self._row(handler.status_message)

    def for_event(self, text: str) -> str:
        """Output and notices as they are shown and logged."""
        shown = self._mask(text)
        return shown if len(shown) <= TEXT_LIMIT else f"{shown[: TEXT_LIMIT - 1]}…"

    def for_readers(self, reply: Reply) -> Reply:
        """The reply with all its texts safe to read and short enough."""
        return replace(
            reply,
            problem=self._cut(reply.problem),
            blocked=None if reply.blocked is None else self._cut(reply.blocked),
            reason=self._cut(reply.reason),
            context=self._cut(reply.context),
            stop=None if reply.stop is None else self._cut(reply.stop),
            message=self._cut(reply.message),
            title=clean(reply.title, Kind.LINE)[:200],
            initial_message=self._cut(reply.initial_message),
            permission=reply.permission
            and replace(reply.permission, message=self._cut(reply.permission.message)),
        )

    def _row(self, text: str) -> str:
        row = clean(self._mask(" ".join(text.split())), Kind.LINE)
        return row if len(row) <= _NAME_LIMIT else f"{row[: _NAME_LIMIT - 1]}…"

    def _cut(self, text: str) -> str:
        text = clean(text, Kind.MODEL)
        if len(text) <= TEXT_LIMIT:
            return text
        try:
            where = f"the whole text is in {self._spill(text)}"
        except McodeError as error:
            where = f"the rest could not be kept: {error}"
        note = f"\n[… {len(text):,} characters in all; {where}"[:_ROOM_FOR_NOTE]
        return f"{text[: TEXT_LIMIT - _ROOM_FOR_NOTE]}{note} …]"
