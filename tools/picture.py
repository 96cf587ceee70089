"""Make the README's picture from a real run: the fixture story in a pseudo-terminal, as an SVG.

python -m tools.picture [docs/session.svg]
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from mcode.model.script import parse_script
from tests.e2e.binary import Machine, endpoint
from tests.e2e.story import EDIT, FAILS, LAST_WORD, PASSES, READ, RUN_TESTS, turn
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tools.messages_server import running_server

if TYPE_CHECKING:
    from rich.text import Text

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


def _without_links(svg: str) -> str:
    """A picture that fetches nothing: the reader's own monospace font stands in for the one that rich links."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return svg.replace("font-family: Fira Code, monospace", "font-family: monospace")


def main() -> int:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/session.svg")
    rows = record()
    while rows and not rows[-1].plain.strip():
        rows.pop()
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    for row in rows:
        console.print(row, no_wrap=True, overflow="crop")
    target.parent.mkdir(exist_ok=True)
    target.write_text(_without_links(console.export_svg(title="mcode")), encoding="utf-8")
    print(f"{target}: {len(rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
