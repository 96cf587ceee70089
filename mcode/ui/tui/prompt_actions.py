"""What the prompt needs of the front end around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.ui.suggestion import Suggestion


class PromptActions(Protocol):
    """The meaning of what is typed, beyond editing."""

    async def press(self, key: str) -> None:
        """Do now what a key is bound to, before the next key is looked at."""
        ...

    def draft_entered(self, text: str) -> None:
        """Enter: the draft as it is to be sent, labels of pastes replaced."""
        ...

    def empty_entered(self) -> None:
        """Enter on an empty draft."""
        ...

    def given_up(self, text: str) -> None:
        """Something was typed for another question, which was left without it."""
        ...

    def draft_changed(self) -> None:
        """Something was typed or taken away."""
        ...

    def take_back(self) -> str | None:
        """The last queued message, taken out of the queue; None where none waits."""
        ...

    def earlier(self) -> Sequence[str]:
        """What was entered in this folder, oldest first."""
        ...

    async def complete(self, before: str) -> Sequence[Suggestion]:
        """What fits the text before the cursor."""
        ...

    def tab(self) -> None:
        """Tab, where no list is open."""
        ...

    def follow(self) -> None:
        """Show the end of the transcript."""
        ...

    def keys_help(self) -> None:
        """`?` in an empty prompt."""
        ...

    def hint(self, text: str) -> None:
        """Say something short until the next key."""
        ...
