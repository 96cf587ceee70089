"""What the approvals need of the screen around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Key

    from mcode.ui.asking import Request


ROOMY = 28
"""Rows of a screen that has room for every rule whole; on a smaller one that of an unchosen answer has one row, and
a long draft shows less of itself."""


class Stage(Protocol):
    """The screen around the panel."""

    @property
    def is_current(self) -> bool:
        """True while no inspector is over the main screen."""
        ...

    @property
    def prompt_focused(self) -> bool: ...

    def focus_panel(self) -> None: ...

    def focus_prompt(self) -> None: ...

    def to_prompt(self, keys: Sequence[Key]) -> None:
        """Hand keys to the prompt, behind those that it has not looked at yet."""
        ...

    def fit_panel(self) -> None:
        """What stands around the panel may take more or fewer rows."""
        ...

    def waiting_changed(self, waiting: Sequence[Request]) -> None:
        """Something began to wait, or ceased to; oldest first."""
        ...
