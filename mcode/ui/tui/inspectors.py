"""Which commands have an inspector of their own; every other answer is shown as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.commands.registry import CommandResult
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.inspector import InspectorScreen


def special_inspector(name: str, front: McodeApp, result: CommandResult) -> InspectorScreen | None:
    """The inspector made for a command's data; None where there is none."""
    del name, front, result
    return None
