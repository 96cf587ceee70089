"""Ctrl+X moves the command that runs to the background; the draft and the turn go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stage import turns, use
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

WAIT = """\
import os, time
print("begun", flush=True)
for _ in range(6000):
    if os.path.exists("open"):
        break
    time.sleep(0.02)
print("over now")
"""


async def test_a_key_moves_the_running_command_to_the_background(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/wait.py").write_text(WAIT)
    settings = {"permissions": {"allow": ["Bash(python3 wait.py)"]}}
    script = turns(use("Bash", command="python3 wait.py"), "It goes on.", "I know that it ended.")
    async with screen(tmp_path, script, settings=settings) as on:
        await on.press("ctrl+x")
        await on.until(lambda: "No command runs that could go to the background" in on.shown)
        await on.type("go\n")
        await on.until(lambda: bool(on.stage.agent.jobs.movable))
        await on.type("a draft")
        await on.press("ctrl+x")
        await on.until(lambda: "Moved to the background: b1" in on.shown)
        await on.finished()
        assert on.draft == "a draft"
        assert "background job b1" in on.shown
        assert "begun" not in on.shown
        await on.press("ctrl+o")
        await on.until(lambda: "begun" in on.shown)
        (tmp_path / "project/open").touch()
        await on.until(lambda: "over now" in on.shown)
        await on.until(lambda: "Background job b1 has ended: exit 0" in on.shown)
        await on.type(" and now?\n")
        await on.finished(2)
        assert "Background job b1 (" in str(on.stage.client.requests[-1]["messages"][-1])
