"""Where a key is looked for, and a hidden field that takes one for this run only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from mcode.text import Kind, clean
from mcode.ui.tui.inspector import InspectorScreen
from mcode.ui.wrap import wrap_columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.widget import Widget

    from mcode.ui.tui.app import McodeApp

_PLACES = """\
A key is looked for in this order:
  1  ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN in the environment
  2  apiKeyHelper in ~/.mcode/settings.json, such as a password manager's command
  3  the system keyring, under the service mcode
A project's files are never asked. For an endpoint without a key start mcode with --base-url.

Paste a key to use it for this run: hidden here, kept in memory alone. A new session begins \
with it and takes your draft along. Nothing is sent until you send it."""


class KeyScreen(InspectorScreen):
    """Takes a key. It is shown nowhere, and no history or journal sees it."""

    searches = False

    def __init__(self, front: McodeApp) -> None:
        super().__init__(front, "/key", f"now: {clean(front.around.credential, Kind.LINE)}")
        self._box = Input(placeholder="paste the key here, then Enter", password=True)
        self._box.cursor_blink = False  # at rest nothing moves
        self._note = Static(Content(""), markup=False, classes="note")

    @property
    @override
    def keys(self) -> str:
        return "Enter use it for this run   Esc close"

    @override
    def body(self) -> Iterable[Widget]:
        yield self._note
        yield self._box

    @override
    def draw_frame(self) -> None:
        """The places, too, in rows of the present width."""
        super().draw_frame()
        rows = [row for each in _PLACES.split("\n") for row in wrap_columns(each, self.width)]
        self._note.update(Content("\n".join(rows)))

    @override
    def opened(self) -> None:
        self.set_focus(self._box)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Leave the screen with the key; who started it begins anew with it."""
        key = event.value.strip()
        if key:
            self._box.value = ""
            self.front.take_key(key)
