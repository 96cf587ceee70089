"""How the line front end looks: decorated for a capable terminal, or plain lines for everything else."""

from __future__ import annotations

import locale
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.ui.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.config.ui_settings import UiSettings

_LEAST_IDLE = 0.5
_LEAST_ARM = 0.3


@dataclass(frozen=True, slots=True)
class Look:
    """What the terminal and the user allow."""

    decorated: bool = True
    """False: finished lines only, never redrawn, with who speaks in words in front of each block."""
    color: bool = True
    unicode: bool = True
    """False where the locale cannot show more than ASCII."""
    bell: bool = True
    """Ring when the user is waited for."""
    idle: float = 1.0
    """Seconds without a key before an approval is asked."""
    arm: float = 0.5
    """Seconds after an approval is asked in which every key still belongs to the draft."""

    @property
    def palette(self) -> Palette:
        return Palette(self.color and self.decorated)

    @property
    def mark(self) -> str:
        """Stands before what the user types."""
        return "\u203a " if self.unicode and self.decorated else "> "

    @property
    def cut(self) -> str:
        """Stands at the end of what was cut to the width."""
        return "\u2026" if self.unicode else "~"

    @property
    def quote(self) -> str:
        """Stands before each line of what the user decides on, so that none of it can pose as ours."""
        return "  | " if self.decorated else "  : "

    @property
    def quote_again(self) -> str:
        """Stands before the rest of a line that is wider than the terminal."""
        return "  \\ "


def look_for(ui: UiSettings, environment: Mapping[str, str], *, decoration: bool = True) -> Look:
    """The look that settings, environment and command line ask for together."""
    dumb = environment.get("TERM", "") in {"", "dumb", "unknown"}
    return Look(
        decorated=decoration and not dumb,
        color=not environment.get("NO_COLOR"),
        unicode=ui.glyphs != "ascii" and can_show_unicode(environment),
        bell=ui.bell,
        idle=max(_LEAST_IDLE, ui.idle_time),
        arm=max(_LEAST_ARM, ui.arm_delay),
    )


def can_show_unicode(environment: Mapping[str, str]) -> bool:
    """Whether locale and terminal show box lines and the like."""
    encoding = locale.getpreferredencoding(False).lower().replace("-", "")
    return encoding == "utf8" and environment.get("TERM", "") != "linux"
