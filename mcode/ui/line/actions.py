"""What the prompt needs of the front end around it: the meaning of keys, and the rows that are redrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.live import LiveRow


class Actions(Protocol):
    """What the keys do beyond editing; `app.py` provides it."""

    def key_pressed(self) -> None:
        """Any key, before it does anything."""
        ...

    def draft_entered(self, text: str) -> None: ...

    def line_changed(self) -> None:
        """The text of either line has changed."""
        ...

    def draft_cleared(self) -> None:
        """The draft has become empty by editing."""
        ...

    def answer_typed(self, text: str) -> None:
        """The line at a question's prompt has changed."""
        ...

    def answer_pasted(self, text: str) -> None: ...

    def answer_entered(self, text: str) -> None: ...

    def escape(self) -> None: ...

    def control_c(self) -> None: ...

    def control_d(self) -> None: ...

    def tab(self) -> None:
        """Tab in an empty draft."""
        ...

    def next_mode(self) -> None: ...

    def take_back(self) -> str | None:
        """The last queued message, taken out of the queue."""
        ...

    def edit(self) -> None: ...

    def paste_image(self) -> None: ...

    def to_background(self) -> None: ...

    def keys_help(self) -> None: ...

    def repaint(self) -> None: ...

    def suspend(self) -> None: ...

    def pasted_unmarked(self) -> None:
        """An Enter was taken for part of a paste."""
        ...


class Rows(Protocol):
    """The redrawn rows, asked for at every frame."""

    def above(self, width: int) -> Sequence[LiveRow]: ...

    def below(self, width: int) -> LiveRow: ...
