"""How the transcript looks: styles by name for a theme, and the glyphs that the terminal can show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.color import BLACK, WHITE, Color
from textual.scrollbar import ScrollBarRender

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.theme import Theme


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Signs of our own. Each stands beside a word or only repeats what the layout says."""

    folded: str = "\u25b8"
    open: str = "\u25be"
    user: str = "\u203a"
    side: str = "\u2502"
    branch: str = "\u251c"
    last: str = "\u2514"
    rule: str = "\u2500"
    cross: str = "\u253c"
    bullet: str = "\u2022"
    cut: str = "\u2026"


ASCII = Glyphs(
    folded=">", open="v", user=">", side="|", branch="|", last="`", rule="-", cross="+", bullet="-", cut="~"
)
"""For locales and terminals that cannot show more."""


class PlainBar(ScrollBarRender):
    """A scroll bar of blanks and colours alone."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


_ATTRIBUTES: Mapping[str, str] = {
    "dim": "dim",
    "strong": "bold",
    "emphasis": "italic",
    "struck": "strike",
    "heading": "bold",
    "link": "underline",
    "user": "bold",
    "bad": "bold",
    "comment": "dim",
    "keyword": "bold",
    "rule": "dim",
    "selected": "reverse",
    "cursor": "bold",
}
"""What a style is without any colour."""

_COLOURS: Mapping[str, str] = {
    "code": "secondary",
    "link": "primary",
    "heading": "primary",
    "user": "primary",
    "accent": "primary",
    "good": "success",
    "bad": "error",
    "warn": "warning",
    "added": "success",
    "removed": "error",
    "keyword": "primary",
    "string": "success",
    "literal": "secondary",
    "name": "secondary",
}
"""The field of a theme that colours a style. Prose keeps the foreground: colour only repeats what words say."""

LEAST_CONTRAST = 4.5
"""Of a coloured word on the theme's background; a colour that is fainter is moved towards black or white."""


_JOINED = 2_000
"""Combinations of styles that are remembered; what commands print can name any number."""

_ON_OFF = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
    39: Style(color="default"),
    49: Style(bgcolor="default"),
}
"""SGR values that need no other."""


@dataclass(slots=True, eq=False)
class Look:
    """Styles and glyphs of one theme. A new one is made when the theme changes."""

    styles: Mapping[str, Style]
    """By name; names that are missing are plain."""
    glyphs: Glyphs = field(default_factory=Glyphs)
    dark: bool = True
    name: str = ""
    """Name of the theme."""
    colour: bool = True
    """False: the colours that a command printed are left out too."""
    _joined: dict[str, Style] = field(default_factory=dict[str, Style])

    def style(self, names: str) -> Style:
        """The style of several names together; the later ones win."""
        found = self._joined.get(names)
        if found is None:
            found = Style.null()
            for name in names.split():
                if name.startswith("sgr:"):
                    found += _printed(name.removeprefix("sgr:")) if self.colour else Style.null()
                else:
                    found += self.styles.get(name, Style.null())
            if len(self._joined) >= _JOINED:
                self._joined.clear()
            self._joined[names] = found
        return found


def look_for(theme: Theme, *, unicode: bool = True, colour: bool = True) -> Look:
    """The look of a theme of Textual's, the ANSI ones among them. Without `colour` attributes alone remain."""
    styles: dict[str, Style] = {}
    for name in {*_ATTRIBUTES, *_COLOURS}:
        style = Style.parse(_ATTRIBUTES.get(name, ""))
        source = _COLOURS.get(name) if colour else None
        if source is not None:
            style += _coloured(theme, source)
        styles[name] = style
    return Look(styles, Glyphs() if unicode else ASCII, theme.dark, theme.name, colour)


def _printed(codes: str) -> Style:
    """The style that a command asked for with SGR values, which `clean` has checked; `codes` has `;` between them."""
    numbers = [int(code) for code in codes.split(";") if code.isdecimal()]
    style = Style.null()
    while numbers:
        code = numbers.pop(0)
        if code in {38, 48}:
            count = {5: 2, 2: 4}.get(numbers[0] if numbers else -1, 0)
            taken, numbers = numbers[:count], numbers[count:]
            if len(taken) != count or not count:
                break
            name = f"color({taken[1]})" if count == 2 else "rgb({},{},{})".format(*taken[1:])
            style += Style(color=name) if code == 38 else Style(bgcolor=name)
        elif code == 0:
            style = Style.null()
        elif code in _ON_OFF:
            style += _ON_OFF[code]
        elif 30 <= code % 60 <= 37 and code < 100:
            style += Style(color=f"color({code % 10 + (8 if code >= 90 else 0)})")
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style += Style(bgcolor=f"color({code % 10 + (8 if code >= 100 else 0)})")
    return style


def _coloured(theme: Theme, source: str) -> Style:
    value = getattr(theme, source) or theme.primary
    if theme.ansi:
        return Style(color=value.removeprefix("ansi_"))
    colour = Color.parse(value)
    background = Color.parse(theme.background or ("#121212" if theme.dark else "#e0e0e0"))
    goal = WHITE if theme.dark else BLACK
    for step in range(11):
        tried = colour.blend(goal, step / 10)
        if contrast(tried, background) >= LEAST_CONTRAST:
            return Style(color=tried.rich_color)
    return Style.null()


def contrast(colour: Color, other: Color) -> float:
    """How far two colours stand apart, from 1 to 21, by the formula of the accessibility guidelines."""
    bright, dim = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: Color) -> float:
    parts = (part / 255 for part in (colour.r, colour.g, colour.b))
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
