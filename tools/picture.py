"""Make the README's pictures from real runs, as SVG: the line front end in a pseudo-terminal, and the full screen.

python -m tools.picture [docs]
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from mcode.model.script import parse_script
from tests.e2e.binary import Machine, endpoint
from tests.e2e.story import EDIT, FAILS, LAST_WORD, PASSES, READ, RUN_TESTS, turn
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tests.ui.tui.mockups import played
from tools.messages_server import running_server

if TYPE_CHECKING:
    from mcode.model.script import Script

COLUMNS, ROWS = 96, 46


def script() -> Script:
    """The story as a user would see it: tests fail, the cause is read, mended, tested."""
    turns = [
        turn("I run the tests first, to see what fails.", FAILS),
        turn("One test fails, in mean(). I look at it.", READ),
        turn("The divisor is one too small.", EDIT),
        turn(PASSES),
        {"reply": LAST_WORD},
    ]
    return parse_script({"turns": turns}, "picture")


def record() -> list[Text]:
    """Play the story with one approval, and return the rows that were on the screen."""
    with tempfile.TemporaryDirectory(prefix="mcode-") as scratch, running_server(script()) as server:
        machine = Machine.fresh(Path(scratch))
        project = machine.project.rename(Path(scratch) / "averages")
        machine = Machine(machine.home, project)
        arguments = ("--plain", "--allowedTools", f"Bash({RUN_TESTS})", *endpoint(server))
        with BinaryTerminal(machine, *arguments, columns=COLUMNS, rows=ROWS) as terminal:
            terminal.wait_for_row(PROMPT)
            terminal.say("fix the failing test")
            terminal.decide("once")
            terminal.wait_for(LAST_WORD)
            terminal.pump(0.5)
            return terminal.styled()


async def full_screen(scratch: Path) -> str:
    """A program that waits for an approval, while the user goes on typing."""
    async with played(scratch, "working", size=(100, 34)) as on:
        return on.app.export_screenshot(title="mcode")


def _without_links(svg: str) -> str:
    """A picture that fetches nothing: the reader's own monospace font stands in for the one that rich links."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return svg.replace("font-family: Fira Code, monospace", "font-family: monospace")


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    folder.mkdir(exist_ok=True)
    rows = record()
    while rows and not rows[-1].plain.strip():
        rows.pop()
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    for row in rows:
        pieces = ((each.text, each.style or "") for each in Segment.simplify(row.render(console)))
        console.print(Text.assemble(*pieces, end=""), no_wrap=True, overflow="crop")
    _write(folder / "session.svg", console.export_svg(title="mcode"))
    with tempfile.TemporaryDirectory(prefix="mcode-") as scratch:
        _write(folder / "screen.svg", asyncio.run(full_screen(Path(scratch))))
    return 0


def _write(file: Path, svg: str) -> None:
    file.write_text(_without_links(svg), encoding="utf-8")
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
