"""How a command's answer is shown: a line in the transcript, or an inspector over the whole screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.commands.registry import CommandResult
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.deciding import Deciding

_LINES = 3
"""An answer of more lines is shown on a screen of its own."""


class Answers:
    """Shows what commands answer, and does what they ask of the front end."""

    def __init__(self, front: McodeApp) -> None:
        self._front = front

    async def show(self, line: str, result: CommandResult) -> None:
        """Show one answer."""
        from mcode.commands.registry import CopyText, OpenEditor, OpenSession, Quit, Redraw, split_line
        from mcode.ui.tui.clipboard import WHERE
        from mcode.ui.tui.inspectors import special_inspector

        front = self._front
        match result.action:
            case Quit():
                front.exit(0)
                return
            case OpenSession(source=source, reference=reference, name=called):
                await self._open(source, reference, called, result.text if source == "fork" else "")
                return
            case Redraw(draft=draft, turn=turn, remark=remark):
                front.sessions.redraw(turn, remark)
                if draft and not front.prompt.draft.strip():
                    front.prompt.use_draft(draft)
            case CopyText(text=text):
                front.copy(text)
                front.say(f"Sent {len(text):,} characters of an answer {WHERE}.", "command")
                return
            case OpenEditor(path=path):
                front.hands.edit(path)
            case None:
                pass
        name, rest = split_line(line)
        special = None if result.failed or rest else special_inspector(name, front, result)
        if special is not None and not result.on_card:
            front.push_screen(special)
        elif not result.on_card:
            self._show_text(line, result, rest)

    def _show_text(self, line: str, result: CommandResult, rest: str) -> None:
        from mcode.ui.tui.inspector import TextInspector

        front, text = self._front, result.text
        if not text:
            return
        if result.failed:
            front.say(text, "warning")
        elif rest == "--json" or text.count("\n") < _LINES:
            front.say(text, "command")
        else:
            front.push_screen(TextInspector(front, line.strip(), text))

    async def _open(self, source: str, reference: str | None, name: str, text: str) -> None:
        """Go to another session, give it a name, and say what there is to say in it."""
        await self._front.sessions.switch(source, reference)
        if name:
            self._front.agent.rename(name)
        if text:
            self._front.say(text, "command")

    def approval(self, deciding: Deciding) -> None:
        """What waits and is shown, whole; an approval with the raw arguments."""
        from mcode.ui.tui.approval_screen import ApprovalScreen

        whole = deciding.whole()
        if whole is not None:
            title, make = whole
            self._front.push_screen(ApprovalScreen(self._front, title, make=make))
