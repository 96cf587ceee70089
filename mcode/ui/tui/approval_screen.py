"""The approval or question that waits, whole, on a screen of its own. Nothing is decided on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.ui.tui.inspector import TextInspector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.asking import Request


class ApprovalScreen(TextInspector):
    """Opened by Ctrl+O at the panel; it has no box to search in, since all of it is to be read."""

    @property
    @override
    def keys(self) -> str:
        return "Esc back to the answers   PgUp, PgDn, Home, End scroll"

    @override
    def draw_banner(self, waiting: Sequence[Request]) -> None:
        super().draw_banner(waiting if len(waiting) > 1 else ())  # the one that waits is what is shown here
