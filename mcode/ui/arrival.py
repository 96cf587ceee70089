"""A session that arrives at a front end which is on the screen already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcode.errors import McodeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcode.catalog.servers import ServerStatus
    from mcode.commands.host import Conversation, Surroundings
    from mcode.commands.registry import Registry

QUITS = frozenset({"/quit", "/exit"})
"""What ends mcode also before a session is there."""


class NotOpenError(UsageError):
    """Something needs the session, which is still being opened."""

    def __init__(self) -> None:
        super().__init__(
            "The session is still being opened, so nothing was done. Try again in a moment; messages can be sent."
        )


class AnswerNeededError(McodeError):
    """The session cannot be opened before the user has answered a question in the plain terminal."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """What a front end is left with, for the one that follows it."""

    messages: tuple[str, ...] = ()
    """Entered, and not yet sent; oldest first."""
    draft: str = ""
    demo: bool = False
    """The user has chosen the offline guide: what follows brings its demo along."""


class Servers(Protocol):
    """The servers that bring tools, as the status line counts them."""

    def statuses(self) -> tuple[ServerStatus, ...]: ...

    def listen(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call back with a server's name when it has changed."""
        ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """An open session that has not begun, and what belongs to it."""

    agent: Conversation
    around: Surroundings
    registry: Registry
    open_agent: Callable[[str, str | None], Awaitable[Conversation]]
    """Opens another session, for /clear and /resume."""
    source: str = "startup"
    """How the session was opened; anything but `startup` has a conversation to show."""
    remarks: tuple[str, ...] = ()
    """Lines for the first screen."""
    servers: Servers | None = None
    offline: bool = False
    """True where the offline guide answers and no library is needed to talk to it."""
