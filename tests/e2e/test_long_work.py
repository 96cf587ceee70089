"""What people have in their fingers, in the real program: images, the status line, the background, the editor."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tests.images.making import png
from tests.stage import use
from tools.messages_server import running_server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.binary import Machine

SHOT = png(64, 48)
WAIT = """\
import os, time
print("begun", flush=True)
for _ in range(6000):
    if os.path.exists("open"):
        break
    time.sleep(0.02)
"""


def program(machine: Machine, name: str, text: str) -> Path:
    """A program of the user's own, in front of all others."""
    folder = machine.home / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder


def test_images_the_status_line_the_background_and_the_editor(machine: Machine) -> None:
    """In the line front end; tests/ui/tui has the same keys on the full screen."""
    shot = machine.home / "shot"
    shot.write_bytes(SHOT)
    folder = program(machine, "wl-paste", f"cat {shot}")
    program(machine, "my-editor", 'echo "Use tabs." >>"$1"')
    (machine.project / "wait.py").write_text(WAIT)
    machine.settings(
        {
            "permissions": {"allow": ["Bash(python3 wait.py)"]},
            "statusLine": {"type": "command", "command": "echo on the main branch"},
        }
    )
    waits = {"blocks": [use("Bash", command="python3 wait.py")], "stop_reason": "tool_use"}
    replies = ("A red rectangle.", waits, "It goes on by itself.", "It has ended.")
    script = parse_script({"turns": [{"reply": reply} for reply in replies]}, "long work")
    around = {
        "WAYLAND_DISPLAY": "wayland-0",
        "PATH": f"{folder}:{os.environ['PATH']}",
        "EDITOR": str(folder / "my-editor"),
    }
    with (
        running_server(script) as server,
        BinaryTerminal(machine, "--plain", *endpoint(server), environment=around) as terminal,
    ):
        terminal.wait_for_row(PROMPT)
        terminal.wait_for("on the main branch")
        terminal.type("\x16")
        terminal.wait_for("[Image #1]: PNG 64x48")
        terminal.say("what is this?")
        terminal.wait_for("A red rectangle.")
        (image,) = (each for each in server.bodies[0]["messages"][0]["content"] if each["type"] == "image")
        assert base64.b64decode(image["source"]["data"]) == SHOT
        assert "PNG 64x48" in str(terminal)
        terminal.say("wait for it")
        terminal.wait_for("python3 wait.py")
        terminal.until(lambda: "begun" in str(terminal), "the command")
        terminal.type("\x18")
        terminal.wait_for("Moved to the background: b1")
        terminal.wait_for("It goes on by itself.")
        (machine.project / "open").touch()
        terminal.wait_for("Background job b1 has ended: exit 0")
        terminal.say("/memory edit")
        terminal.until((machine.project / "AGENTS.md").exists, "the editor")
        terminal.wait_for("AGENTS.md")
        terminal.say("and now?")
        terminal.wait_for("It has ended.")
        assert "Background job b1 (" in str(server.bodies[-1]["messages"])
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
    assert (machine.project / "AGENTS.md").read_text() == "Use tabs.\n"


LATE = {
    "PIL",
    "acp",
    "mcode.images.scaling",
    "mcode.ui.clipboard_image",
    "mcode.ui.errands",
    "mcode.ui.acp.server",
}
"""What comes in only with its use: scaling, the clipboard, the editors' protocol."""

NAMES = """\
import sys
from mcode.__main__ import main
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def test_nothing_of_it_is_imported_for_a_first_request_or_a_small_image(machine: Machine) -> None:
    (machine.project / "shot.png").write_bytes(SHOT)
    look = {"blocks": [use("Read", file_path="shot.png")], "stop_reason": "tool_use"}
    script = parse_script({"turns": [{"reply": look}, {"reply": "Red."}]}, "look")
    with running_server(script) as server:
        ran = subprocess.run(
            (sys.executable, "-c", NAMES, "-p", "look at it", *endpoint(server)),
            cwd=machine.project,
            env=machine.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.stdout == "Red.\n", ran.stderr
        assert "image/png" in str(server.bodies[1])
    loaded = set(ran.stderr.split())
    assert "mcode.images.picture" in loaded
    assert not loaded & LATE
