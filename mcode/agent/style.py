"""The output style of a session: text that replaces mcode's own instructions, or follows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcode.config.output_styles import OutputStyle


@dataclass(slots=True)
class Style:
    """What is in force; a switch begins a new prefix."""

    changed: Callable[[], None]
    """Lets the next request begin anew."""
    _style: OutputStyle | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        """Empty for mcode's own."""
        return self._style.name if self._style is not None else ""

    @property
    def replaces(self) -> str | None:
        """The text that stands in the place of mcode's own; None where that stays."""
        return self._style.text if self._style is not None and not self._style.keeps else None

    @property
    def follows(self) -> str:
        """The text that stands behind mcode's own."""
        return self._style.text if self._style is not None and self._style.keeps else ""

    def begin(self, style: OutputStyle | None) -> None:
        """The style that the settings name, before the first request."""
        self._style = style

    def use(self, style: OutputStyle | None) -> None:
        """Switch."""
        self._style = style
        self.changed()
