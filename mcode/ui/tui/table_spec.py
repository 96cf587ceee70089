"""What an inspector of rows shows of a command's data, and what its keys do with a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcode.commands.lazy_rows import LazyRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcode.jsontext import JsonObject
    from mcode.ui.tui.table_view import Column


@dataclass(frozen=True, slots=True)
class RowKey:
    """A key that does something with the picked row."""

    label: str
    command: Callable[[JsonObject], str]
    """The slash command that it runs."""
    leaves: bool = False
    """True where the inspector closes before the command runs."""
    changes: bool = False
    """True where the rows are other ones afterwards."""
    sure: Callable[[JsonObject], str] | None = None
    """Says what would happen; it happens only when Enter confirms that. None: it happens at once."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What an inspector of rows shows of a command's data."""

    title: str
    columns: tuple[Column, ...]
    subtitle: str = ""
    state: str = ""
    """The member that `f` filters by."""
    member: str = ""
    """The member of the command's data that holds the rows; empty where the data are the rows."""
    box: str = ""
    """What the box asks for, what stands behind two blanks only where there is room; empty where words only filter."""
    box_command: str = ""
    """The command that the box's text is put behind."""
    hits: tuple[Column, ...] = ()
    """Columns of the answer to it, whose rows are the member `hits` of its data; none where the answer is text."""
    about: Callable[[JsonObject], str] | None = None
    """All of what the row under the cursor says, where its cells are often cut; it stands below the rows."""
    keys: Mapping[str, RowKey] = field(default_factory=dict[str, RowKey])
    """By key; `enter` among them."""


def facts(row: JsonObject) -> str:
    """A row's members, one a line."""
    return "\n".join(f"{name:<16} {'' if value is None else value}" for name, value in row.items())


def rows_of(data: object, member: str = "") -> Sequence[JsonObject]:
    """The objects of a command's data, or of one member of it, where that is a list of them."""
    if member:
        data = cast("JsonObject", data).get(member) if isinstance(data, dict) else None
    if isinstance(data, LazyRows):
        return data
    if not isinstance(data, list):
        return ()
    return [cast("JsonObject", each) for each in cast("list[object]", data) if isinstance(each, dict)]
