"""The actions of the keys that mcode binds."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from mcode.errors import UsageError
from mcode.ui.cut_off import GO_ON
from mcode.ui.tui.keys import APPROVAL_KEYS, KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.widget import Widget

    from mcode.events import Event
    from mcode.ui.errands import Errands
    from mcode.ui.suggestion import Suggestion
    from mcode.ui.tui.app import McodeApp

_INTERRUPTING = "Interrupting."

_TWICE = 2.0
"""Seconds within which a second press means it; any other key between them makes it a first one again."""

_ESCAPES = 0.8
"""The same for Esc, which also closes what is open."""


class Hands:
    """The keys' meanings; also what the prompt asks of the front end (`PromptActions`)."""

    def __init__(self, front: McodeApp) -> None:
        self._front = front
        self.editing = False
        """True while the user's editor has the terminal."""
        self._last_press: tuple[str, float] = ("", 0.0)
        self._made: Errands | None = None

    async def press(self, key: str) -> None:
        """Do now what a key is bound to."""
        await self._front.press_key(key)

    def hint(self, text: str) -> None:
        """A short row for the user that the next key takes away."""
        self._front.status.hint(text)

    def draft_entered(self, text: str) -> None:
        """Enter: send the draft."""
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        front = self._front
        if front.setup.takes(text):
            return
        front.history.add(text)
        front.sending.send(text)
        front.transcript.scroll_to_end()

    def empty_entered(self) -> None:
        """Enter on an empty draft sends nothing, but where an answer was cut off: there it asks for the rest."""
        front = self._front
        if front.facts.cut_off and front.prompt.at_rest:
            front.sending.send(GO_ON)
            front.transcript.scroll_to_end()

    def given_up(self, text: str) -> None:
        """What was typed as a reason or an answer and not given is in the history, as a draft that is cleared."""
        self._front.history.add(text)

    def draft_changed(self) -> None:
        """Something was typed or taken away."""
        self._front.draft_changed()

    def take_back(self) -> str | None:
        """The last queued message."""
        return self._front.sending.take_back()

    def earlier(self) -> Sequence[str]:
        """What was entered in this folder."""
        return self._front.history.texts

    async def complete(self, before: str) -> Sequence[Suggestion]:
        """What fits the text before the cursor."""
        completer = self._front.sessions.completer
        return await completer.matching(before) if completer is not None else ()

    def follow(self) -> None:
        """Show the end of the transcript."""
        self._front.transcript.scroll_to_end()

    def give_back(self, text: str) -> None:
        """Nothing came of a message: put it into the draft, if that is empty. It is in the history anyway."""
        prompt = self._front.prompt
        if not prompt.draft.strip() and not self.editing:
            prompt.use_draft(text)

    def escape(self) -> None:
        """Close what is open in the prompt, drop a selection, or interrupt."""
        front = self._front
        if front.prompt.escape():
            return
        if front.transcript.has_selection:
            front.main.clear_selection()
        elif self._interrupt():
            pass
        elif not front.main.prompt_focused:
            front.main.focus_prompt()
        elif front.prompt.is_blank and self._twice("escape", _ESCAPES) and front.sessions.opened:
            front.sending.run("/rewind" if front.registry.find("rewind") else "/resume")

    def control_c(self) -> None:
        """Copy; else leave an approval; else interrupt; else clear the draft; else quit at the second press."""
        front = self._front
        prompt = front.prompt
        if prompt.selected_text:
            front.copy(prompt.selected_text)
        elif front.transcript.has_selection:
            front.work.begin(self._copy_selection())
        elif front.deciding.focused:
            front.deciding.step_back()
        elif prompt.asking:
            prompt.escape()
        elif self._interrupt():
            pass
        elif prompt.draft.strip():
            front.history.add(prompt.draft)
            prompt.clear_draft()
        elif self._twice("ctrl+c"):
            front.sending.run("/quit")
        else:
            self.hint("Ctrl+C again quits.")

    async def _copy_selection(self) -> None:
        """What is selected may be the whole transcript: it is gathered while keys go on."""
        self.hint("copying what is selected")
        self._front.copy(await self._front.transcript.gather_selected())

    def control_d(self) -> None:
        """Quit; while something runs only at the second press. In a draft it deletes."""
        front = self._front
        if front.main.prompt_focused and front.prompt.text:
            front.prompt.action_delete_right()
        elif not (front.sessions.busy or front.sending.shell_runs) or self._twice("ctrl+d"):
            front.sending.run("/quit")
        else:
            self.hint("A turn runs: Ctrl+D again interrupts it and quits.")

    def tab(self) -> None:
        """Go to what waits; else from the prompt to the transcript and back."""
        front = self._front
        if front.prompt.asking or front.deciding.review():
            return
        if front.main.prompt_focused:
            front.main.set_focus(front.transcript)
        else:
            front.main.focus_prompt()

    def next_mode(self) -> None:
        """The next permission mode of those that ask."""
        from mcode.permissions.modes import Mode, next_mode

        try:
            agent = self._front.agent
            agent.set_mode(str(next_mode(Mode(agent.mode), can_bypass=False)))
        except UsageError as error:
            self._front.say(str(error), "warning")

    def open(self) -> None:
        """The focused approval in full; else fold or unfold a card."""
        if self._front.deciding.focused:
            self._front.answers.approval(self._front.deciding)
        else:
            self._front.transcript.toggle()

    def paste_image(self) -> None:
        """Put the clipboard's image into the draft."""
        if not self._front.prompt.asking and not self._front.deciding.focused:
            self._front.work.begin(self._errands().paste_image())

    def to_background(self) -> None:
        """Move the command that runs to the background."""
        self._errands().to_background()

    def _errands(self) -> Errands:
        from mcode.ui.errands import Errands

        if self._made is None:
            front = self._front
            self._made = Errands(lambda: front.agent, os.environ, insert=self._type_in, hint=self.hint)
        return self._made

    def _type_in(self, text: str) -> None:
        self._front.prompt.insert(text)
        self._front.draft_changed()

    def focus_moved(self, focused: Widget | None) -> None:
        """The focus went somewhere, maybe by a click."""
        deciding = self._front.deciding
        if focused is self._front.panel and not deciding.focused:
            deciding.review()
        elif focused is not self._front.panel and deciding.focused:
            deciding.step_back()

    def keys_help(self) -> None:
        """List the keys of the place where the user is; beside the prompt's those of what waits."""
        deciding = self._front.deciding
        keys = () if deciding.focused else KEYS
        keys = (*APPROVAL_KEYS, *keys) if deciding.shown is not None else keys
        width = max(len(key) for key, _ in keys)
        self._front.say("\n".join(f"{key.ljust(width)}  {meaning}" for key, meaning in keys), "command")

    def edit(self, file: Path | None = None) -> None:
        """Open the draft in the user's editor, or a file."""
        if not self.editing:
            self.editing = True
            self._front.work.begin(self._edit(file))

    async def _edit(self, file: Path | None) -> None:
        from mcode.ui.editor import edit, edit_file, editor_command

        front = self._front
        try:
            command = editor_command(os.environ)
            with front.suspend():
                if file is None:
                    draft = front.prompt.draft
                    text = await edit(draft, command)
                else:
                    draft = text = await edit_file(file, command)
            if text is not None and text != draft:  # what was left as it is keeps its labels
                front.prompt.use_draft(text)
        except SuspendNotSupported:
            front.say("An editor needs the terminal, which this screen cannot give away here.", "warning")
        finally:
            self.editing = False
            front.mouse.again()
            front.refresh(layout=True)

    def receive(self, event: Event) -> None:
        """What was said of an interrupt is over with what it ended."""
        from mcode.events import ToolFinished, TurnFinished

        if isinstance(event, (TurnFinished, ToolFinished)):
            self._front.status.end_hint(_INTERRUPTING)

    def _interrupt(self) -> bool:
        front = self._front
        done = front.sending.interrupt()
        if done and front.sessions.opened:
            self.hint(_INTERRUPTING)
        return done

    def key_pressed(self, key: str) -> None:
        """Any key of the main screen."""
        if key != self._last_press[0]:
            self._last_press = ("", 0.0)

    def _twice(self, key: str, within: float = _TWICE) -> bool:
        now = time.monotonic()
        before, self._last_press = self._last_press, (key, now)
        return before[0] == key and now - before[1] < within
