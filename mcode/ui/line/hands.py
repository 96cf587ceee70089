"""What the keys that mean something to mcode do."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from prompt_toolkit.application import in_terminal

from mcode.errors import UsageError
from mcode.ui.cut_off import GO_ON
from mcode.ui.line.keys import KEYS

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.events import Event
    from mcode.ui.errands import Errands
    from mcode.ui.line.app import LineApp

_INTERRUPTING = "Interrupting."

_TWICE = 2.0
"""Seconds within which a second press means it."""


class Hands:
    """The keys' meanings; see `actions.Actions` for what each is called upon."""

    def __init__(self, app: LineApp) -> None:
        self._app = app
        self.hint = ""
        """A short row for the user that the next key takes away."""
        self._hint_of_turn = ""
        self.editing = False
        """True while the user's editor has the terminal."""
        self._last_press: tuple[str, float] = ("", 0.0)
        self._made: Errands | None = None

    def key_pressed(self) -> None:
        """Any key: hands are not at rest, and the last hint has been seen."""
        self.hint = ""
        self._app.answering.asking.key_pressed()

    def line_changed(self) -> None:
        """What is typed has changed; only a screen without redrawing must be told."""
        self._app.answering.drafted()
        if not self._app.look.decorated:
            self._app.printer.screen.changed()

    def draft_entered(self, text: str) -> None:
        """Enter: send the draft."""
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        app = self._app
        if not text and app.live.cut_off:
            text = GO_ON
        if not text.strip():
            return
        if app.answering.holds_back():
            return
        app.prompt.sent()
        app.printer.screen.entered()
        app.answering.draft_done()
        if text.strip() == "?":
            self.keys_help()
            return
        app.history.add(text)
        app.sending.send(text)

    def draft_cleared(self) -> None:
        """The draft has become empty by editing."""
        self._app.answering.draft_done()

    def answer_typed(self, text: str) -> None:
        """Something was typed at a question's prompt."""
        self._app.answering.typed(text)

    def answer_pasted(self, text: str) -> None:
        """Something was pasted at a question's prompt."""
        self._app.answering.pasted(text)

    def answer_entered(self, text: str) -> None:
        """Enter at a question's prompt."""
        self._app.answering.entered(text)

    def escape(self) -> None:
        """Turn away from a question's prompt, else interrupt what runs."""
        app = self._app
        if app.answering.asking.asked is not None:
            self._say_until_turn_ends(app.answering.step_back())
        else:
            self._interrupt()

    def control_c(self) -> None:
        """As Esc; with nothing to interrupt, clear the draft; with nothing to clear, quit at the second press."""
        app = self._app
        if app.answering.asking.asked is not None:
            self._say_until_turn_ends(app.answering.step_back())
        elif self._interrupt():
            pass
        elif app.prompt.draft.text:
            app.history.add(app.prompt.draft.text)
            app.prompt.sent()
            app.printer.new_prompt()
            app.answering.draft_done()
        elif self._twice("c-c"):
            app.leave()
        else:
            self.say_hint("Ctrl+C again quits.")

    def control_d(self) -> None:
        """Quit; while something runs only at the second press."""
        app = self._app
        if not (app.busy or app.sending.shell_runs) or self._twice("c-d"):
            app.leave()
        else:
            self.say_hint("A turn runs: Ctrl+D again interrupts it and quits.")

    def tab(self) -> None:
        """Go to what waits."""
        asking = self._app.answering.asking
        if asking.waiting:
            asking.ask_now()

    def next_mode(self) -> None:
        """The next permission mode of those that ask."""
        from mcode.permissions.modes import Mode, next_mode

        app = self._app
        try:
            app.agent.set_mode(str(next_mode(Mode(app.agent.mode), can_bypass=False)))
        except UsageError as error:
            app.say(str(error), "warning")

    def take_back(self) -> str | None:
        """The last queued message."""
        return self._app.sending.take_back()

    def edit(self, file: Path | None = None) -> None:
        """Open the draft in the user's editor, or a file."""
        if not self.editing:
            self.editing = True
            self._app.work.begin(self._edit(file))

    def paste_image(self) -> None:
        """Put the clipboard's image into the draft."""
        self._app.work.begin(self._errands().paste_image())

    def to_background(self) -> None:
        """Move the command that runs to the background."""
        self._errands().to_background()

    def _errands(self) -> Errands:
        from mcode.ui.errands import Errands

        if self._made is None:
            app = self._app
            insert = app.prompt.draft.insert_text
            self._made = Errands(lambda: app.agent, os.environ, insert=insert, hint=self.say_hint)
        return self._made

    def keys_help(self) -> None:
        """List the keys."""
        width = max(len(key) for key, _ in KEYS)
        lines = [f"  {key.ljust(width)}  {meaning}" for key, meaning in KEYS]
        self._app.printer.add(self._app.transcript.plain("\n".join(("Keys", *lines))))

    def repaint(self) -> None:
        """Clear the screen and draw the prompt again; the scrollback stays."""
        self._app.prompt.app.renderer.clear()

    def suspend(self) -> None:
        """Stop the job."""
        self._app.jobs.stop()

    def pasted_unmarked(self) -> None:
        """An Enter was taken for part of a paste."""
        self.say_hint("Pasted without paste mode: press Enter again to send.")

    def give_back(self, text: str) -> None:
        """Nothing came of a message: put it into the draft, if that is empty. It is in the history anyway."""
        app = self._app
        if not app.prompt.draft.text and not app.prompt.asking and not self.editing:
            app.prompt.use_draft(text)
            app.printer.new_prompt()

    def say_hint(self, text: str) -> None:
        """Show a short row until the next key."""
        if self._app.look.decorated:
            self.hint = text
            self._app.printer.changed()
        else:
            self._app.say(text)

    def receive(self, event: Event) -> None:
        """What was said about a turn is over with it."""
        from mcode.events import ToolFinished, TurnFinished

        over = isinstance(event, TurnFinished) or (
            isinstance(event, ToolFinished) and self.hint == _INTERRUPTING
        )
        if over and self.hint and self.hint == self._hint_of_turn:
            self.hint = ""

    def _say_until_turn_ends(self, text: str) -> None:
        self._hint_of_turn = text
        self.say_hint(text)

    def _interrupt(self) -> bool:
        if self._app.sending.interrupt():
            self._say_until_turn_ends(_INTERRUPTING)
            return True
        return False

    def _twice(self, key: str) -> bool:
        now = time.monotonic()
        before, self._last_press = self._last_press, (key, now)
        return before[0] == key and now - before[1] < _TWICE

    async def _edit(self, file: Path | None) -> None:
        from mcode.ui.editor import edit, edit_file, editor_command

        app = self._app
        app.printer.flush()
        app.printer.screen.hold()
        try:
            command = editor_command(os.environ)
            async with in_terminal():
                if file is None:
                    text = await edit(app.prompt.draft.text, command)
                else:
                    text = await edit_file(file, command)
            app.prompt.use_draft(text)
        finally:
            self.editing = False
            app.printer.screen.release()
            app.printer.new_prompt()
            app.answering.asking.key_pressed()
