"""What holds source text: as long as nobody asks for it, the text may be away in a file (`old_texts.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from mcode.ui.tui.old_texts import OldTexts, Place


@dataclass(slots=True, eq=False)
class TextHolder:
    """Has fields that may be away. Reading one brings them back, so nobody else need know where they are."""

    HELD: ClassVar[tuple[str, ...]] = ()
    """These fields. Who gives one a new value calls `bring_back` first, or has read one."""

    place: Place | None = field(default=None, init=False)
    """Where they were written last, whether they are here or not."""

    @property
    def settled(self) -> bool:
        """Whether nothing more is to come; only then the fields may be away."""
        return True

    @property
    def is_away(self) -> bool:
        """Whether the fields that are long are in the file alone."""
        return self.place is not None and bool(self._missing())

    def put_away(self, texts: OldTexts) -> int | None:
        """Write the fields that are long and let go of them: how many bytes that were; None where it failed.

        A failure changes nothing, and neither does a value that cannot be written. What has been there before
        and did not change is not written again.
        """
        if self.is_away or not self.settled:
            return 0
        from mcode.ui.tui.packing import packed  # needed by no session that is short

        try:
            data, names = packed({name: getattr(self, name) for name in self.HELD})
        except (ValueError, TypeError, RecursionError):
            return 0
        if not names:
            return 0
        if self.place is None or self.place.read() != data:
            place = texts.keep(data)
            if place is None:
                return None
            self.place = place
        for name in names:
            delattr(self, name)
        return len(data)

    def bring_back(self) -> None:
        """Have all fields here; a text that cannot be read any more says so."""
        if self.place is None or not (missing := self._missing()):
            return
        from mcode.ui.tui.packing import lost, unpacked

        data = self.place.read()
        for name, value in (unpacked(data) if data is not None else lost(missing)).items():
            setattr(self, name, value)
        self.place.texts.borrowed.append(self)

    def _missing(self) -> list[str]:
        return [name for name in self.HELD if not _has(self, name)]

    if not TYPE_CHECKING:  # for a checker there would be no unknown names any more

        def __getattr__(self, name: str) -> object:
            """Python asks here for what it does not find: a field that is away is brought back."""
            if name in type(self).HELD and self.place is not None:
                self.bring_back()
                return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__} has no {name}")


def _has(holder: TextHolder, name: str) -> bool:
    try:
        object.__getattribute__(holder, name)
    except AttributeError:
        return False
    return True
