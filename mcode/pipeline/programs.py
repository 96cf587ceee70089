"""What the road asks of running programs; `run_code` answers, by way of `wiring`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.call import Call, CallSite, Outcome
    from mcode.tool import Access


class Programs(Protocol):
    """The programs of a session, seen from the calls they make."""

    def site_of(self, call: Call) -> CallSite | None:
        """Where a running program makes this call; None where none does."""
        ...

    async def before_preview(self, call: Call, access: Access) -> None:
        """Wait until what the call would change is as the program's earlier calls leave it."""
        ...

    async def before_asking(self, call: Call) -> None:
        """Wait until the program's earlier calls are asked about, or need not be."""
        ...

    async def before_body(self, call: Call) -> bool:
        """Wait until a call that was let through is the next in its program's order; True where it had to wait."""
        ...

    def why_cancelled(self, call: Call) -> str:
        """What ended a program's call, such as the program's own end; empty for an interrupt and for other calls."""
        ...

    def stop(self, program: str, reason: str) -> bool:
        """End a program for the user; False where it does not run."""
        ...


class ProgramsControl(Protocol):
    """The programs of a session, as front ends and commands use them."""

    @property
    def available(self) -> bool:
        """False where there is no engine."""
        ...

    @property
    def mode(self) -> str:
        """`off`, `beside` or `first`."""
        ...

    def set_mode(self, mode: str) -> None:
        """Switch; the next request begins a new prefix. Raises UsageError, StorageError."""
        ...

    async def run_kept(self, name: str, code: str, needs: Sequence[str]) -> Outcome:
        """Run a program of the user's own as a call of run_code; `needs` are the tools it calls.

        Raises UsageError where one of them is missing or no program can run now.
        """
        ...

    def stop(self, program: str, reason: str) -> bool:
        """End a running program; False where it does not run. `program`: id of its `run_code` call."""
        ...

    def cancel(self, call: str) -> bool:
        """Cancel one call of the running program, which goes on; False where it does not run."""
        ...

    def interrupt(self) -> bool:
        """Stop the program of the user's own that runs; False where none does."""
        ...
