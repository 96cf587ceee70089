"""The parts of the screen that its first frame does not need, made when somebody first asks for them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.ui.tui.activity import ActivityLine, QueueStrip
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.approval_panel import ApprovalPanel
    from mcode.ui.tui.blocks import CallBlock
    from mcode.ui.tui.deciding import Deciding
    from mcode.ui.tui.look import Look
    from mcode.ui.tui.own_status_line import OwnStatusLine
    from mcode.ui.tui.setup_panel import SetupPanel
    from mcode.ui.tui.transcript_view import TranscriptView


class LateParts:
    """What `McodeApp` has beside the prompt and the last row."""

    _present_look: Look | None = None

    @property
    def _front(self) -> McodeApp:
        return cast("McodeApp", self)

    @property
    def look(self) -> Look:
        """Styles and glyphs of the present theme."""
        if self._present_look is None:
            from mcode.ui.tui.look import look_for

            front = self._front
            self._present_look = look_for(
                front.current_theme, unicode=front.unicode, colour=front.manners.color
            )
        return self._present_look

    def change_look(self) -> None:
        """The theme is another one."""
        self._present_look = None
        if self._front.main.complete:
            self.transcript.change_look(self.look)

    @cached_property
    def transcript(self) -> TranscriptView:
        """All that was said and done."""
        from mcode.ui.tui.document import Document
        from mcode.ui.tui.old_texts import OldTexts
        from mcode.ui.tui.transcript_view import TranscriptView

        view = TranscriptView(Document(texts=OldTexts(self._side_files)), self.look)
        view.opened = self._follow
        return view

    def _side_files(self) -> Path | None:
        """Where files belong that go with the session; None before there is one."""
        sessions = self._front.sessions
        return sessions.agent.session.directory if sessions.opened else None

    def _follow(self, block: CallBlock) -> None:
        """A card was unfolded: that of a background job shows what it prints."""
        if block.node.job:
            from mcode.ui.tui.job_card import follow_job

            self._front.work.begin(follow_job(self.transcript, block, self._front.agent.jobs))

    @cached_property
    def setup(self) -> SetupPanel:
        """What is shown at a start without a key."""
        from mcode.ui.tui.setup_panel import SetupPanel

        return SetupPanel(self._front)

    @cached_property
    def activity(self) -> ActivityLine:
        """What runs."""
        from mcode.ui.tui.activity import ActivityLine

        return ActivityLine(self._front.facts)

    @cached_property
    def queue(self) -> QueueStrip:
        """What waits to be sent."""
        from mcode.ui.tui.activity import QueueStrip

        return QueueStrip(self._front.cut)

    @cached_property
    def own_status(self) -> OwnStatusLine:
        """The user's own status line."""
        from mcode.ui.tui.own_status_line import OwnStatusLine

        return OwnStatusLine()

    @cached_property
    def panel(self) -> ApprovalPanel:
        """What waits for the user."""
        from mcode.ui.tui.approval_panel import ApprovalPanel

        front = self._front
        panel = ApprovalPanel(
            lambda: self.look, lambda: front.main.size.height, lambda: front.main.rows_beside_panel
        )
        panel.set_class(not front.unicode, "ascii")
        return panel

    @cached_property
    def deciding(self) -> Deciding:
        """The state of what waits for the user."""
        from mcode.ui.tui.deciding import Deciding

        front = self._front
        return Deciding(
            self.panel,
            front.prompt,
            front.main,
            desk=lambda: front.agent.desk,
            start=lambda: str(front.start),
            program=self._program_number,
            hooks=lambda call: [hook.command for hook in front.agent.hooks.after(call)],
            mask=self._mask_known,
            idle=front.manners.idle,
            arm=front.manners.arm,
        )

    def _program_number(self, call_id: str) -> int:
        """The number on the card of a program that runs; 0 where it has none."""
        nodes = [block.node for block in self.transcript.document.running]
        while nodes:
            node = nodes.pop()
            if node.call.id == call_id:
                return node.ordinal
            nodes += node.children
        return 0

    def _mask_known(self, text: str) -> str:
        """What the session that is open now knows to be secret is masked."""
        return self._front.around.masker.mask_known(text)
