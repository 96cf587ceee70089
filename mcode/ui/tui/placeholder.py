"""What the prompt says in its border, and while it is empty: how things stand, what Enter does, what can be typed."""

from __future__ import annotations

from dataclasses import dataclass

KEYS_HINT = "Enter send    Ctrl+J new line"
SHIFT_HINT = "Enter send    Shift+Enter new line"
"""In the border; the second where the terminal knows that key."""

UNMARKED = "pasted without paste mode: Enter sends"
"""Below it, after a paste that the terminal did not mark."""

USUAL = "Ask for a change, or type / for commands, @ for files, ? for keys"
SHORT = "Ask; / commands, @ files, ? keys"


@dataclass(slots=True)
class Placeholder:
    """The first of these that there is."""

    asked: str | None = None
    """What the prompt may be told while it serves another question than the draft."""
    state: str = ""
    """How things stand, such as that there is no key."""
    offer: str = ""
    """What Enter does."""
    width: int = len(USUAL) + 2
    """Cells of the prompt."""

    @property
    def text(self) -> str:
        """What is shown."""
        if self.asked is not None:
            return self.asked
        return self.state or self.offer or (USUAL if self.width >= len(USUAL) + 2 else SHORT)
