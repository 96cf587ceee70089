"""Stopping and going on (job control), and faults in callbacks of the event loop, while the prompt is up."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class JobControl:
    """Gives the terminal back when mcode is stopped and takes it again when it goes on.

    An interrupt comes as a signal only where it was sent by hand, or typed while the user's editor has the
    terminal; it must not end mcode.
    """

    def __init__(
        self, *, leave: Callable[[], None], come_back: Callable[[], None], interrupt: Callable[[], None]
    ) -> None:
        self._leave = leave
        self._come_back = come_back
        self._interrupt = interrupt

    @contextmanager
    def active(self) -> Generator[None]:
        """While inside, SIGTSTP, SIGCONT and SIGINT are handled."""
        loop = asyncio.get_running_loop()
        before = signal.getsignal(signal.SIGINT)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGTSTP, self.stop)
        loop.add_signal_handler(signal.SIGCONT, self._come_back)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGCONT):
                loop.remove_signal_handler(number)
            signal.signal(signal.SIGINT, before)

    def stop(self) -> None:
        """Stop the whole job, as the terminal's own Ctrl+Z would; returns when it goes on."""
        loop = asyncio.get_running_loop()
        self._leave()
        loop.remove_signal_handler(signal.SIGTSTP)
        try:
            os.kill(0, signal.SIGTSTP)
        finally:
            loop.add_signal_handler(signal.SIGTSTP, self.stop)
        self._come_back()


@contextmanager
def own_job_control() -> Generator[None]:
    """While inside, somebody else may handle stopping and going on; afterwards both are as they were before.

    Textual leaves its handlers behind: a SIGCONT that came after the end would take the terminal once more, and a
    thread that reads from a terminal that is gone would keep mcode alive for ever.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


@contextmanager
def callback_faults(report: Callable[[BaseException], None]) -> Generator[None]:
    """While inside, an exception in a key binding or another callback is reported instead of printed."""
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            report(error)
        elif before is not None:
            before(loop, context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)
