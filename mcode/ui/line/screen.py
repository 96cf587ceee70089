"""How lines reach the terminal: above a prompt that is redrawn, or one after the other and never touched again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcode.ui.line.prompt import Prompt
    from mcode.ui.line.terminal import HeldOutput, TerminalFile

_PAUSE = 0.3
"""Seconds without output after which the linear screen shows the prompt again."""


class Screen(Protocol):
    """Where finished lines go. Lines are clean, may hold our own colours, and have no line end."""

    def write(self, lines: Sequence[str]) -> None:
        """Put lines into the scrollback, each exactly once."""
        ...

    def changed(self) -> None:
        """Something about the prompt or the rows around it is different."""
        ...

    def entered(self) -> None:
        """The line that was typed is done; what follows begins on a new one."""
        ...

    def bell(self) -> None: ...

    def hold(self) -> None:
        """Another program has the terminal: keep lines back."""
        ...

    def release(self) -> None:
        """The terminal is ours again."""
        ...

    def close(self) -> None:
        """The prompt is gone; lines that still come stand alone."""
        ...


class LiveScreen:
    """The prompt stays at the bottom: it is taken away, the lines are written, and it is drawn again.

    All in one piece of output, and without touching the terminal's modes or its input, so that no key that is
    pressed meanwhile can be lost or changed.
    """

    def __init__(self, prompt: Prompt, output: HeldOutput) -> None:
        self._prompt = prompt
        self._output = output
        self._kept: list[str] | None = None

    def write(self, lines: Sequence[str]) -> None:
        if self._kept is not None:
            self._kept += lines
            return
        if not lines:
            self.changed()
            return
        app = self._prompt.app
        text = "".join(f"{line}\r\n" for line in lines)
        if not app.is_running or app.context is None or not app.render_counter:
            # No frame stands yet, or none any more.
            self._output.write_raw(text)
            self._output.flush()
            return
        with self._output.held():
            app.renderer.erase()
            self._output.write_raw(text)
            app.render_counter += 1  # the rows of the last frame are kept under this number
            app.context.copy().run(app.renderer.render, app, app.layout)

    def changed(self) -> None:
        if self._kept is None:
            self._prompt.app.invalidate()

    def entered(self) -> None:
        """The redrawn prompt leaves no line behind."""

    def bell(self) -> None:
        self._output.write_raw("\a")
        self._output.flush()

    def hold(self) -> None:
        if self._kept is None:
            self._kept = []
        self._output.release()

    def release(self) -> None:
        kept, self._kept = self._kept or [], None
        self.write(kept)

    def close(self) -> None:
        """The application has erased its prompt."""


class LinearScreen:
    """Nothing is ever redrawn: for dumb terminals, pipes of terminals, and screen readers.

    What is typed is echoed by us as it comes. Output that arrives in the middle of a draft ends the line, and
    the draft is shown again once the output pauses.
    """

    def __init__(self, prompt: Prompt, file: TerminalFile, *, idle: Callable[[], bool]) -> None:
        self._prompt = prompt
        self._file = file
        self._idle = idle
        self._kept: list[str] | None = None
        self._shown: str | None = None
        """The text behind the prompt on the terminal's last line; None where that line is finished."""
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def write(self, lines: Sequence[str]) -> None:
        if self._kept is not None:
            self._kept += lines
        elif lines:
            self.entered()
            self._file.write("".join(f"{line}\r\n" for line in lines))
            self._show_after_pause()
        else:
            self.changed()

    def changed(self) -> None:
        if self._kept is not None or self._closed:
            return
        text = self._text()
        if self._shown is None:
            if text or self._prompt.asking:
                self._show()
            elif self._idle():
                self._show_after_pause()
        elif text.startswith(self._shown):
            self._file.write(_echo(text[len(self._shown) :]))
            self._shown = text
        elif self._shown.startswith(text) and "\n" not in self._shown[len(text) :]:
            self._file.write("\b \b" * _cells(self._shown[len(text) :]))
            self._shown = text
        else:
            self.entered()
            self._show()

    def entered(self) -> None:
        if self._shown is not None:
            self._file.write("\r\n")
            self._shown = None

    def bell(self) -> None:
        self._file.write("\a")

    def hold(self) -> None:
        self.entered()
        if self._kept is None:
            self._kept = []

    def release(self) -> None:
        kept, self._kept = self._kept or [], None
        self.write(kept)

    def close(self) -> None:
        self.entered()
        self._closed = True

    def _text(self) -> str:
        return clean(self._prompt.buffer.text, Kind.BLOCK)

    def _show(self) -> None:
        label = self._prompt.prefix if self._prompt.asking else "You: "
        self._shown = self._text()
        self._file.write(label + _echo(self._shown))

    def _show_after_pause(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._show_if_wanted)

    def _show_if_wanted(self) -> None:
        wanted = self._idle() or bool(self._prompt.buffer.text) or self._prompt.asking
        if wanted and self._shown is None and self._kept is None and not self._closed:
            self._show()


def _echo(text: str) -> str:
    return text.replace("\n", "\r\n  ")


def _cells(text: str) -> int:
    from mcode.text import cell_width

    return cell_width(text)
