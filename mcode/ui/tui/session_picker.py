"""The sessions of this folder, with a look into the one under the cursor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.agent.transcript import transcript
from mcode.errors import McodeError
from mcode.events import AssistantMessage, TurnStarted
from mcode.session.journal import read_records
from mcode.text import Kind, clean
from mcode.ui.tui.rows import Row, Span, row
from mcode.ui.tui.rows_view import RowsView
from mcode.ui.tui.table_inspector import TableInspector
from mcode.ui.wrap import wrap_cells, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from textual.widget import Widget

    from mcode.jsontext import JsonObject
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.table_spec import TableSpec

_SHOWN = 12
"""Messages at the end of a session that the look into it shows."""

_PAUSE = 0.15
"""Seconds that the cursor rests before the file is read."""


class SessionPicker(TableInspector):
    """Enter goes on with the session; nothing is opened by looking."""

    DEFAULT_CSS = """
    SessionPicker RowsView { height: 40%; border-top: solid $primary; }
    SessionPicker.ascii RowsView { border-top: ascii $primary; }
    """

    def __init__(self, front: McodeApp, spec: TableSpec, rows: Sequence[JsonObject]) -> None:
        super().__init__(front, spec, rows)
        self._preview = RowsView(lambda: front.look)
        self._reading: asyncio.Task[None] | None = None

    @override
    def body(self) -> Iterable[Widget]:
        yield from super().body()
        yield self._preview

    @override
    def on_table_view_moved(self) -> None:
        """Look into the session under the cursor once the cursor rests."""
        super().on_table_view_moved()
        if self._reading is not None:
            self._reading.cancel()
        session = self.picked
        if session is not None:
            folder = self.front.agent.session.journal.path.parent
            self._reading = self.front.work.begin(self._look_into(folder / f"{session['id']}.jsonl"))

    async def _look_into(self, path: Path) -> None:
        await asyncio.sleep(_PAUSE)
        try:
            said = await asyncio.to_thread(_said, path)
        except McodeError as error:
            said = [("", str(error))]
        self._preview.show(lambda width: _rows(said, width))
        self._preview.scroll_end(animate=False)


def _said(path: Path) -> list[tuple[str, str]]:
    """Who said what at the end of a session."""
    said: list[tuple[str, str]] = []
    for event in transcript(read_records(path).records):
        if isinstance(event, TurnStarted):
            said.append(("you", event.text))
        elif isinstance(event, AssistantMessage):
            blocks = event.message.get("content") or ()
            text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
            if text.strip():
                said.append(("model", text))
    return said[-_SHOWN:]


def _rows(said: Sequence[tuple[str, str]], width: int) -> list[Row]:
    rows: list[Row] = []
    for who, text in said:
        lines = clean(text, Kind.BLOCK).expandtabs(4).strip().split("\n")
        room = max(10, width - 8)
        parts = (part for line in lines for part in wrap_words(line, room))
        pieces = [piece for part in parts for piece in wrap_cells(part, room)]
        rows += [
            row(Span(f"{who if at == 0 else '':<7} ", "dim"), Span(piece)) for at, piece in enumerate(pieces)
        ]
    return rows
