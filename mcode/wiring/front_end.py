"""The front end of an interactive start, made from what is known at once: arguments, environment, a first look."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcode.config.first_look import first_look
from mcode.config.places import find_places
from mcode.ui.choice import wants_screen
from mcode.ui.look import look_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcode.config.places import Places
    from mcode.config.ui_settings import UiSettings
    from mcode.ui.arrival import Arrival, Unsent
    from mcode.ui.look import Look
    from mcode.wiring.options import Options

LATE = (
    "mcode.wiring.arriving",
    "mcode.ui.history",
    "mcode.ui.file_names",
    "mcode.ui.completion",
)
"""What opening a session needs, loaded behind the first frame."""


_ASKING = (
    *(f"{own}/{name}" for own in (".mcode", ".claude") for name in ("settings.json", "settings.local.json")),
    ".mcode/tools.json",
)
"""Files of a folder that may make mcode ask about it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where mcode was started, and for whom."""

    start: Path
    places: Places
    environment: Mapping[str, str]
    ui: UiSettings
    exists: bool = True
    """False where the directory is gone or closed to us; preparing says so."""

    def look(self, options: Options) -> Look:
        """How lines look, as far as it is known."""
        return look_for(self.ui, self.environment, decoration=not options.no_decoration)


class FrontEnd(Protocol):
    """The screen, or lines."""

    key: str
    """A key that the user gave for the next start; empty where none was given."""
    unsent: Unsent

    async def run_to_end(self) -> int:
        """Run until the user quits; returns the exit code. Raises why no session could be opened."""
        ...


def find_place() -> Place:
    """Read what is known at once. Raises UsageError where no home directory is known."""
    environment = dict(os.environ)
    places = find_places(environment)
    try:
        start, exists = Path.cwd().resolve(strict=True), True
    except OSError:
        start, exists = places.home, False
    return Place(start, places, environment, first_look(places), exists)


def asks_first(options: Options, place: Place) -> bool:
    """Whether something may be to be asked before there is a session.

    A folder whose files may grant something, and that is not in the file of the user's answers, may be asked about.
    What this does not foresee ends the front end for a moment: see `AnswerNeededError`.
    """
    if not place.exists or options.resume is not None or options.continue_latest or options.fork:
        return True
    if options.trust or not any((place.start / name).exists() for name in _ASKING):
        return False
    try:
        return str(place.start) not in (place.places.state / "trust.json").read_text("utf-8", "replace")
    except OSError:
        return True


def make_front_end(
    options: Options, place: Place, arriving: Callable[[], Awaitable[Arrival]], unsent: Unsent
) -> FrontEnd:
    """The front end that the terminal gets; `unsent`: what is to be sent at once, and what stands in the prompt."""
    screen = wants_screen(
        place.environment,
        plain=options.plain or options.no_decoration,
        terminal=sys.stdin.isatty() and sys.stdout.isatty(),
    )
    make = _screen if screen else _lines
    return make(options, place, arriving, unsent)


def _screen(
    options: Options, place: Place, arriving: Callable[[], Awaitable[Arrival]], unsent: Unsent
) -> FrontEnd:
    from mcode.ui.tui.app import McodeApp
    from mcode.ui.tui.background import default_theme
    from mcode.ui.tui.terminal_query import Background, ask_background, may_ask

    theme, background = place.ui.theme, Background(None)
    if theme is None and may_ask(place.environment):
        background = ask_background(sys.stdin.fileno(), sys.stdout.fileno())
    return McodeApp(
        arriving,
        start=place.start,
        home=place.places.home,
        manners=place.look(options),
        environment=place.environment,
        messages=unsent.messages,
        theme=theme or default_theme(place.environment, background.dark),
        title=place.ui.title,
        mouse=place.ui.mouse,
        typed=unsent.draft + background.typed,
        all_keys=background.all_keys,
    )


def _lines(
    options: Options, place: Place, arriving: Callable[[], Awaitable[Arrival]], unsent: Unsent
) -> FrontEnd:
    from mcode.ui.line.app import LineApp

    return LineApp(
        arriving,
        start=place.start,
        home=place.places.home,
        look=place.look(options),
        messages=unsent.messages,
        typed=unsent.draft,
    )
