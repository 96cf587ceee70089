"""What the road asks of running programs; `run_code` answers, by way of `wiring`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcode.call import Call, CallSite
    from mcode.tool import Access


class Programs(Protocol):
    """The programs of a session, seen from the calls they make."""

    def site_of(self, call: Call) -> CallSite | None:
        """Where a running program makes this call; None where none does."""
        ...

    async def before_preview(self, call: Call, access: Access) -> None:
        """Wait until what the call would change is as the program's earlier calls leave it."""
        ...

    async def before_body(self, call: Call) -> None:
        """Wait until a call that was let through is the next in its program's order."""
        ...

    def stop(self, program: str, reason: str) -> bool:
        """End a program for the user; False where it does not run."""
        ...
