"""What ties a running process to the task that waits for it, until it moves to the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Leash:
    """For `run_process`: lets a run that has begun go on without limit, with all of its output in its file."""

    def __init__(self) -> None:
        self._release: Callable[[], None] | None = None
        self.let_go = False
        """True once nobody waits for the process any more; others read along in its file."""

    def hold(self, release: Callable[[], None]) -> None:
        """A run is about to start; `release` is what letting it go means."""
        self._release = release

    def release(self) -> None:
        """Let it go."""
        self.let_go = True
        if self._release is not None:
            self._release()
