"""Output styles: files that stand in the place of mcode's own instructions, or behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.config.front_matter import read_front_matter
from mcode.config.memory_files import Ground
from mcode.config.memory_reading import NotRead, check_reach, read_memory_text, rule_files
from mcode.config.plain_file import resolve
from mcode.config.skill_places import project_directories

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcode.config.places import Places

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class OutputStyle:
    """One style."""

    name: str
    description: str
    text: str
    keeps: bool
    """mcode's own instructions stay, and this stands behind them."""
    path: Path


def load_styles(places: Places, start: Path) -> dict[str, OutputStyle]:
    """The styles by name; the nearest of a name counts. What cannot be read is left out. Reads files."""
    found: dict[str, OutputStyle] = {}
    for directory, ground in _directories(places, start):
        for path in rule_files(directory, ground):
            try:
                real = resolve(path)
                check_reach(path, real, ground)
                text, _ = read_memory_text(real)
            except (NotRead, OSError):
                continue
            front = read_front_matter(text)
            name = front.text("name") or path.stem
            keeps = front.get("keep-coding-instructions").is_true
            style = OutputStyle(name, front.text("description"), front.body.strip(), keeps, path)
            found.setdefault(name.lower(), style)
    return found


def _directories(places: Places, start: Path) -> Iterable[tuple[Path, Ground]]:
    for above in project_directories(start):
        if above != places.home:  # there they are the user's own
            for family in (".mcode", ".claude"):
                yield above / family / "output-styles", Ground("project", above, above)
    for directory in (places.state, places.claude):
        yield directory / "output-styles", Ground("user", directory)
