"""What the approvals need of the screen around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Key

    from mcode.ui.asking import Request


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

    def waiting_changed(self, first: Request | None, count: int) -> None:
        """Something began to wait, or ceased to."""
        ...
