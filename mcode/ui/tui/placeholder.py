"""What stands in the prompt while it is empty: how things stand, what Enter would do, or what can be typed."""

from __future__ import annotations

from dataclasses import dataclass

USUAL = "Ask for a change, or type / for commands, @ for files, ? for keys"
SHORT = "Ask; / commands, @ files, ? keys"


@dataclass(slots=True)
class Placeholder:
    """The first of these that there is."""

    state: str = ""
    """How things stand, such as that there is no key."""
    offer: str = ""
    """What Enter does."""
    width: int = len(USUAL) + 2
    """Cells of the prompt."""

    @property
    def text(self) -> str:
        """What is shown."""
        return self.state or self.offer or (USUAL if self.width >= len(USUAL) + 2 else SHORT)
