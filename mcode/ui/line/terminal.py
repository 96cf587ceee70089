"""The terminal itself: reading that notices its end, writing that survives it, and putting it back in order."""

from __future__ import annotations

import codecs
import os
import select
import termios
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output.vt100 import Vt100_Output
from typing_extensions import override

from mcode.ui.line.reset import RESET_SEQUENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TextIO

    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.key_binding.key_processor import KeyPress


class TerminalFile:
    """A file object over the terminal's descriptor for prompt_toolkit: writes all, and never raises.

    Once the terminal is gone, what is written is dropped and `lost` is True: the end of input tells the rest.
    """

    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.lost = False

    def write(self, text: str) -> int:
        """Write text, waiting where a descriptor that does not block has no room."""
        data = memoryview(text.encode(errors="replace"))
        while data and not self.lost:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [], 1)
            except OSError:
                self.lost = True
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)


class HeldOutput(Vt100_Output):
    """prompt_toolkit's output, with two changes.

    Several steps can be held together and written at once, so that the prompt does not flicker. And bracketed
    paste stays on from the first frame to the last: the renderer switches it off at every erase, and a paste
    that began in between would arrive as typed keys.
    """

    def __init__(self, file: TerminalFile, get_size: Callable[[], Size], term: str) -> None:
        stream: Any = file
        super().__init__(stream, get_size, term=term, enable_cpr=False)
        self._holds = 0
        self._pastes = False

    @contextmanager
    def held(self) -> Generator[None]:
        """Everything that is written inside goes out in one piece at the end."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self.flush()

    @override
    def flush(self) -> None:
        if not self._holds:
            super().flush()

    @override
    def enable_bracketed_paste(self) -> None:
        if not self._pastes:
            self._pastes = True
            super().enable_bracketed_paste()

    @override
    def disable_bracketed_paste(self) -> None:
        """Left to `release`."""

    def release(self) -> None:
        """Give bracketed paste back: the program ends, stops, or another one gets the terminal."""
        if self._pastes:
            self._pastes = False
            super().disable_bracketed_paste()
            self.flush()


class _Reader(PosixStdinReader):
    """Takes a read error for what it is: the terminal is gone. The base class would try for ever."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    @override
    def read(self, count: int = 1024) -> str:
        try:
            ready = select.select([self.stdin_fd], [], [], 0)[0]
            data = os.read(self.stdin_fd, count) if ready else None
        except (BlockingIOError, InterruptedError):
            return ""
        except OSError:
            data = b""
        if data is None:
            return ""
        if not data:
            self.closed = True
        return self._decoder.decode(data)


class TerminalInput(Vt100Input):
    """prompt_toolkit's input with our reader."""

    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self.read_at = 0.0
        """When keys were read last, by the monotonic clock: they may be handled later, one after the other."""
        self.stdin_reader = _Reader(stdin.fileno())

    @override
    def read_keys(self) -> list[KeyPress]:
        self.read_at = time.monotonic()
        return super().read_keys()


class SavedTerminal:
    """The terminal's modes as they were, to be put back on every way out."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._modes: list[Any] | None = None
        with suppress(termios.error):
            self._modes = termios.tcgetattr(descriptor)

    def restore(self, file: TerminalFile, *, sequences: bool) -> None:
        """Put the modes back, and with `sequences` also what only the terminal itself knows of."""
        if self._modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._modes)
        if sequences:
            file.write(RESET_SEQUENCES)
