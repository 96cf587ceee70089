"""The panel of a first run without a key: where one was looked for, and what can be done now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from mcode.text import Kind, cell_width, clean, shorten
from mcode.ui.arrival import Unsent
from mcode.ui.wrap import wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.events import Resize

    from mcode.ui.tui.app import McodeApp

PLACEHOLDER = "(sending is off until a key is set; your draft is kept)"

HELD = (
    "There is no key yet, so nothing was sent; your text is in the prompt again. Enter in its place 1 to paste a "
    "key, or 3 for the offline guide; the text comes back after that. Commands and !shell lines work without one."
)

_CHOICES = (
    "Paste a key now (hidden; kept for this run only)",
    "Set apiKeyHelper, e.g. a password manager's command",
    "Try the offline guide (a script; nothing is sent)",
    "Quit",
)

_HELPER = """\
apiKeyHelper is a command whose output is the key. mcode runs it at its start and keeps the key in memory alone.
It stands in your own settings; a project's files cannot name one.

File: {file}

{{
  "apiKeyHelper": "pass show anthropic"
}}

Any command will do that prints the key and nothing else:
  op read op://Private/Anthropic/credential        a password manager's own program
  secret-tool lookup service anthropic             the keyring of a Linux desktop
  security find-generic-password -s anthropic -w   the keychain of macOS

Save the file and start mcode again. /doctor says whether the key was found."""

_ROOMY = 26
"""Rows of a screen that has room for the panel with blank rows in it."""

_WIDE = 70
"""Cells that show every place in full."""

_SHORTER = ((" in the environment", " (env)"), (" in ~/.mcode/settings.json", " (settings.json)"))
"""Where there is less room."""

_ENDPOINT = (
    "For another endpoint of the Messages protocol start mcode with --base-url, or set ANTHROPIC_BASE_URL."
)

_ELSEWHERE = "You can look around without a key: /tools, /mcp, /permissions and /help work now."


class SetupPanel(Static):
    """Shown until a key or the offline guide is chosen. A number and Enter in the prompt choose."""

    DEFAULT_CSS = """
    SetupPanel {
        height: auto;
        display: none;
        padding: 0 1;
        border: solid $primary;
        border-title-color: $foreground;
        border-title-style: bold;
        background: transparent;
        &.ascii { border: ascii $primary; }
    }
    """

    def __init__(self, front: McodeApp) -> None:
        super().__init__(Content(""), markup=False)
        self._front = front
        self._places: Sequence[tuple[str, str]] = ()
        self._held = ""
        """The message that was not sent: it stands in the prompt again, and comes back there after a choice."""
        self.border_title = Content("Set up the model")

    @property
    def is_open(self) -> bool:
        """True while nothing is sent."""
        return bool(self._places)

    def open(self, places: Sequence[tuple[str, str]]) -> None:
        """Show where a key was looked for, and what was there. Without places there is nothing to set up."""
        self._places = places
        self.display = bool(places)
        if places:
            self.set_class(not self._front.unicode, "ascii")
            self._front.prompt.use_placeholder(PLACEHOLDER)
            self._front.status.chosen = False
            self._draw()

    def close(self) -> None:
        """From now on what is sent is sent."""
        self._places = ()
        self.display = False
        self._front.prompt.use_placeholder("")
        self._front.status.chosen = True
        self._front.status.refresh_facts()

    def takes(self, text: str) -> bool:
        """Do what an entered draft chooses; True where it was not to be sent."""
        if not self.is_open or text.startswith(("/", "!")):
            return False
        held = self._held
        match text.strip().rstrip(".)"):
            case "1":
                self._front.sending.run("/key")
            case "2":
                self._show_helper()
            case "3":
                self._offline(held)
                held = ""
            case "4":
                self._front.sending.run("/quit")
            case _:
                if not held or not text.startswith(held):
                    self._front.say(HELD, "warning")
                self._held = held = text
        if held:
            self._front.hands.give_back(held)
        return True

    def on_resize(self, event: Resize) -> None:
        """Another size has room for other rows."""
        del event
        self._draw()

    def _offline(self, draft: str) -> None:
        """End with the draft, for a start that brings the guide's demo along."""
        self._front.unsent = Unsent(draft=draft, demo=True)
        self._front.exit(0)

    def _show_helper(self) -> None:
        from mcode.ui.tui.inspector import TextInspector

        file = self._front.around.places.settings_file
        self._front.push_screen(TextInspector(self._front, "apiKeyHelper", _HELPER.format(file=file)))

    def _draw(self) -> None:
        if self.is_open:
            width = max(20, self.screen.size.width - 4)
            roomy = self.screen.size.height >= _ROOMY
            self.update(
                Content("\n").join(_rows(self._places, width, self._front.look.glyphs.cut, roomy=roomy))
            )


def _rows(places: Sequence[tuple[str, str]], width: int, cut: str, *, roomy: bool) -> Iterator[Content]:
    blank = [Content("")] if roomy else []
    if roomy:
        yield Content("No API key found.").stylize("bold")
        yield Content("")
        yield Content("Looked in, in this order:")
    else:
        yield Content(shorten("No API key found. Looked in, in this order:", width, cut)).stylize("bold")
    shown = [clean(place, Kind.LINE) for place, _ in places]
    if width < _WIDE:
        for long, short in _SHORTER:
            shown = [place.replace(long, short) for place in shown]
    named = [f"  {at}  {place}" for at, place in enumerate(shown, 1)]
    column = min(max(map(cell_width, named), default=0) + 4, max(20, width - 18))
    for name, (_, state) in zip(named, places, strict=True):
        left = shorten(name, column - 2, cut)
        yield Content(
            shorten(f"{left}{' ' * (column - cell_width(left))}{clean(state, Kind.LINE)}", width, cut)
        )
    yield from blank
    yield Content(shorten("Type a number and Enter:", width, cut)).stylize("bold")
    for at, choice in enumerate(_CHOICES, 1):
        yield Content(shorten(f"  {at}  {choice}", width, cut))
    yield from blank
    if roomy:
        for text in (_ENDPOINT, _ELSEWHERE):
            for row in wrap_words(text, width):
                yield Content(row)
