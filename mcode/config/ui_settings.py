"""What the settings say of the screen; a file of its own, since it is needed before the first frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UiSettings:
    """How the screen behaves."""

    theme: str | None = None
    bell: bool = True
    title: bool = True
    """Whether the window's title may show that an answer is waited for."""
    idle_time: float = 1.0
    """Seconds without a key before an approval may take the focus."""
    arm_delay: float = 0.5
    """Seconds before a focused approval accepts a key."""
    glyphs: str = "auto"
    """`ascii` draws with plain characters alone; `auto` goes by locale and terminal."""
    mouse: bool = True
    """Whether the screen takes the mouse; without it the terminal selects by itself."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys by the name of what they do; names and keys are checked by the screen."""
