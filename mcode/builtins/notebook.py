"""A Jupyter notebook as text in which single cells are replaced, inserted or deleted, and nothing else changes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mcode.builtins.json_spans import Member, Span, Style, indent_at, items_of, members_of, value_at
from mcode.builtins.refusal import UNCHANGED, RefusalError

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

_NAMED = 12
"""Cells that are named where the one asked for is not there."""


@dataclass(frozen=True, slots=True)
class CellChange:
    """What a call asks for."""

    mode: str
    """`replace`, `insert` or `delete`."""
    cell: str
    """Id of a cell, or `cell-N` for its place from 0; empty for none."""
    source: str
    kind: str
    """`code` or `markdown`; empty to keep what it is."""


class Notebook:
    """The text of a notebook and where its cells stand in it."""

    def __init__(self, text: str) -> None:
        """Raises RefusalError for what is not a notebook of format 4."""
        self._text = text
        try:
            top = value_at(text)
            members = members_of(text, top) if isinstance(top.value, dict) else {}
            cells = members.get("cells")
            if cells is None or not isinstance(cells.span.value, list) or text[top.end :].strip():
                raise RefusalError(
                    f"This is not a notebook of format 4: no list of cells. {UNCHANGED} Use Edit for other files."
                )
            self._cells = cells
            self._items = items_of(text, cells.span)
        except RecursionError:
            raise RefusalError(f"The notebook is nested too deeply to be read. {UNCHANGED}") from None
        except ValueError as error:
            raise RefusalError(
                f"The notebook is not valid JSON: {error}. {UNCHANGED} Repair it with Edit."
            ) from None
        if not all(isinstance(item.value, dict) for item in self._items):
            raise RefusalError(
                f"The notebook has a cell that is not an object. {UNCHANGED} Repair it with Edit."
            )
        self._style = Style.of(text, top)
        self._has_ids = _has_ids(cast("JsonObject", top.value))

    def apply(self, change: CellChange) -> tuple[str, str]:
        """The text after a change, and what was done, in words. Raises RefusalError."""
        if change.mode == "insert":
            index = self._find(change.cell) + 1 if change.cell else 0
            return self._insert(index, change)
        if not change.cell:
            raise RefusalError(f"{change.mode} needs cell_id. {UNCHANGED} {self._known()}")
        index = self._find(change.cell)
        return self._delete(index) if change.mode == "delete" else self._replace(index, change)

    def _cell(self, index: int) -> JsonObject:
        return cast("JsonObject", self._items[index].value)

    def _find(self, cell: str) -> int:
        found = [index for index in range(len(self._items)) if self._cell(index).get("id") == cell]
        if len(found) == 1:
            return found[0]
        if found:
            raise RefusalError(
                f"{len(found)} cells have the id {cell!r}. {UNCHANGED} Name one as cell-N, N from 0."
            )
        place = re.fullmatch(r"cell-(\d{1,6})", cell)
        if place is not None and int(place[1]) < len(self._items):
            return int(place[1])
        raise RefusalError(f"There is no cell {cell!r} in the notebook. {UNCHANGED} {self._known()}")

    def _known(self) -> str:
        names = [str(self._cell(index).get("id") or f"cell-{index}") for index in range(len(self._items))]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"Cells: {', '.join(names[:_NAMED]) or 'none'}{more}."

    def _replace(self, index: int, change: CellChange) -> tuple[str, str]:
        cell, item = self._cell(index), self._items[index]
        kind = change.kind or str(cell.get("cell_type", "code"))
        told = f"cell {change.cell} ({kind}) replaced"
        if kind != cell.get("cell_type"):
            whole = self._style.render(
                _converted(cell, kind, change.source), indent_at(self._text, item.start)
            )
            return self._spliced([(item, whole)]), f"{told}, which was {cell.get('cell_type')}"
        members = members_of(self._text, item)
        if "source" not in members:
            raise RefusalError(f"Cell {change.cell} has no source. {UNCHANGED} Repair it with Edit.")
        old = members["source"].span.value
        new = change.source if isinstance(old, str) else _lines(change.source)
        parts: list[tuple[Member, JsonValue]] = [(members["source"], new)]
        if kind == "code":
            cleared: JsonObject = {"outputs": [], "execution_count": None}
            stale = [name for name in cleared if name in members and cell[name] != cleared[name]]
            parts += [(members[name], cleared[name]) for name in stale]
            told += "; its outputs were cleared" if "outputs" in stale else ""
        return self._spliced([(member.span, self._value(member, value)) for member, value in parts]), told

    def _value(self, member: Member, value: JsonValue) -> str:
        return self._style.render(value, indent_at(self._text, member.key_start))

    def _delete(self, index: int) -> tuple[str, str]:
        items, text = self._items, self._text
        if len(items) == 1:
            start, end = self._cells.span.start + 1, self._cells.span.end - 1
        elif index + 1 < len(items):
            start, end = items[index].start, items[index + 1].start
        else:
            start, end = items[index - 1].end, items[index].end
        kind = self._cell(index).get("cell_type")
        return text[:start] + text[
            end:
        ], f"cell {self._cell(index).get('id') or f'cell-{index}'} ({kind}) deleted"

    def _insert(self, index: int, change: CellChange) -> tuple[str, str]:
        text, items, span = self._text, self._items, self._cells.span
        cell = self._new_cell(change)
        told = f"{cell['cell_type']} cell {cell.get('id') or f'cell-{index}'} inserted as number {index + 1}"
        outer = indent_at(text, self._cells.key_start)
        if not items:
            inner, closing = self._gaps(outer)
            rendered = self._style.render(cell, inner.lstrip("\r\n"))
            return f"{text[: span.start]}[{inner}{rendered}{closing}]{text[span.end :]}", told
        rendered = self._style.render(cell, indent_at(text, items[0].start))
        gap = text[span.start + 1 : items[0].start] or (" " if self._style.spaced else "")
        if index < len(items):
            place = items[index].start
            return f"{text[:place]}{rendered},{gap}{text[place:]}", told
        place = items[-1].end
        return f"{text[:place]},{gap}{rendered}{text[place:]}", told

    def _gaps(self, outer: str) -> tuple[str, str]:
        """The blanks before the first cell of a list and behind its last."""
        if self._style.unit is None:
            return "", ""
        return f"{self._style.newline}{outer}{self._style.unit}", f"{self._style.newline}{outer}"

    def _new_cell(self, change: CellChange) -> JsonObject:
        kind = change.kind or "code"
        cell: JsonObject = {"cell_type": kind}
        if kind == "code":
            cell["execution_count"] = None
        if self._has_ids:
            cell["id"] = self._fresh_id()
        cell["metadata"] = {}
        if kind == "code":
            cell["outputs"] = []
        cell["source"] = _lines(change.source)
        return cell

    def _fresh_id(self) -> str:
        used = {self._cell(index).get("id") for index in range(len(self._items))}
        while (fresh := os.urandom(4).hex()) in used:
            pass
        return fresh

    def _spliced(self, parts: list[tuple[Span, str]]) -> str:
        text = self._text
        for span, new in sorted(parts, key=lambda part: -part[0].start):
            text = text[: span.start] + new + text[span.end :]
        return text


def _has_ids(top: JsonObject) -> bool:
    """Cells have ids from format 4.5 on."""
    major, minor = top.get("nbformat"), top.get("nbformat_minor")
    return isinstance(major, int) and isinstance(minor, int) and (major, minor) >= (4, 5)


def _converted(cell: JsonObject, kind: str, source: str) -> JsonObject:
    """A cell made one of another kind; members that only the old kind has are left out."""
    dropped = {"outputs", "execution_count", "attachments"}
    kept: JsonObject = {name: value for name, value in cell.items() if name not in dropped}
    kept |= {"cell_type": kind, "source": _lines(source)}
    if kind == "code":
        kept |= {"execution_count": None, "outputs": []}
    return dict(sorted(kept.items()))


def _lines(source: str) -> list[str]:
    """Source as notebooks keep it: lines with their ends."""
    return [line for line in re.split(r"(?<=\n)", source) if line]
