"""Rows of a command's data that are made only when somebody reads them, because there may be thousands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from typing_extensions import override

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject


class LazyRows(Sequence["JsonObject"]):
    """Reads like a list of JSON objects. A row is made once, and tells what was true at that moment."""

    def __init__(self, count: int) -> None:
        self._rows: dict[int, JsonObject] = {}
        self._count = count

    @abstractmethod
    def make(self, at: int) -> JsonObject:
        """The row of that number, counted from 0."""

    @property
    def made(self) -> int:
        """How many rows were read so far."""
        return len(self._rows)

    @abstractmethod
    def measure(self) -> dict[str, int]:
        """Characters of the longest value, of members for which that is known without the rows."""

    @cached_property
    def longest(self) -> dict[str, int]:
        """What `measure` found."""
        return self.measure()

    @overload
    def __getitem__(self, at: int) -> JsonObject: ...

    @overload
    def __getitem__(self, at: slice) -> list[JsonObject]: ...

    @override
    def __getitem__(self, at: int | slice) -> JsonObject | list[JsonObject]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(self._count))]
        number = at + self._count if at < 0 else at
        if not 0 <= number < self._count:
            raise IndexError(at)
        row = self._rows.get(number)
        if row is None:
            row = self._rows[number] = self.make(number)
        return row

    @override
    def __len__(self) -> int:
        return self._count
