"""What only a real pseudo-terminal shows: the first frame, rest, the end, and what never reaches the terminal."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.story import turn
from tests.stage import use
from tests.ui.tui.terminal import LEAVES, READY, ScreenTerminal
from tests.waiting import wait_for
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine

LATE = ("anthropic", "mcp", "pydantic", "httpx2", "quickjs", "tree_sitter")

BEHIND = (
    *(f"mcode.{room}" for room in ("agent", "builtins", "catalog", "commands", "events", "mcp", "model")),
    *(f"mcode.{room}" for room in ("permissions", "pipeline", "run_code", "session")),
)
"""What loads behind the first frame: nobody may pull it forward by an import."""

FIRST_FRAME = """
import json, sys, os
from mcode.ui.tui import app
drawn = app.McodeApp.first_frame_is_out
def told(self):
    with open(os.environ["TOLD"], "w") as file:
        json.dump(sorted(sys.modules), file)
    drawn(self)
app.McodeApp.first_frame_is_out = told
from mcode.__main__ import main
main()
"""

FAULTY_SCREEN = """
from mcode.ui.tui import transcript_view
draw = transcript_view.TranscriptView.render_lines
def fail(self, crop):
    if any("break the screen" in getattr(block, "text", "") for block in self.document.blocks):
        raise RuntimeError("planted")
    return draw(self, crop)
transcript_view.TranscriptView.render_lines = fail
from mcode.__main__ import main
raise SystemExit(main())
"""

HOSTILE = (
    "\x1b]52;c;aGk=\x07 \x1b]0;title\x07 \x1b]8;;http://x\x1b\\ \x1bPq\x1b\\ \x1b[2J \x1b[6n \x1bc \x9b2J \x9d0;x\x9c "
    "\x07 \x08 \r over \x00 \u202e \u200b \U000e0041 \x1b]"
)
MARKUP = "x[/oops] [@click=app.quit]q[/]"


def test_the_first_frame_needs_nothing_slow_and_takes_keys(machine: Machine) -> None:
    told = machine.home / "modules.json"
    script = parse_script({"turns": [{"reply": "Hello yourself."}]}, "first")
    with (
        running_server(script) as server,
        ScreenTerminal(machine, *endpoint(server), program=FIRST_FRAME, TOLD=str(told)) as terminal,
    ):
        terminal.wait_for("mcode 0.")
        terminal.child.send("typed at the first frame\r")
        terminal.wait_for("Hello yourself.")
        assert server.bodies[0]["messages"][0]["content"][-1]["text"] == "typed at the first frame"
        loaded = set(json.loads(told.read_text()))
        assert not loaded & set(LATE)
        assert not {name for name in loaded if name.startswith(BEHIND)}
        assert terminal.quit() == 0


def test_21_at_rest_nothing_is_written(machine: Machine) -> None:
    script = parse_script({"turns": [{"reply": "Done."}]}, "rest")
    with running_server(script) as server, ScreenTerminal(machine, *endpoint(server)) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("Done.")
        terminal.until(lambda: _rests(terminal), "three seconds of rest")
        assert terminal.quit() == 0


def test_a_signal_gives_the_terminal_back_and_says_how_to_go_on(machine: Machine) -> None:
    with ScreenTerminal(machine, "--demo") as terminal:
        terminal.wait_for(READY)
        os.kill(terminal.child.pid, signal.SIGTERM)
        assert terminal.wait_for_end() == 143
        assert LEAVES in terminal.written


def test_a_fault_of_the_screen_gives_the_terminal_back_and_says_how_to_go_on(machine: Machine) -> None:
    with ScreenTerminal(machine, "--demo", program=FAULTY_SCREEN) as terminal:
        terminal.wait_for(READY)
        terminal.say("break the screen")
        terminal.wait_for("A fault in mcode itself (RuntimeError), number ")
        assert terminal.wait_for_end() == 1
        left = terminal.written[terminal.written.index(LEAVES) :].decode()
        (journal,) = machine.sessions
        assert f"transcript: {journal}" in left
        assert f"mcode --resume {journal.stem}" in left
        assert "Traceback" not in left


def test_14_no_hostile_sequence_of_a_model_a_file_or_a_tool_reaches_the_terminal(machine: Machine) -> None:
    (machine.project / "evil.txt").write_text(f"{HOSTILE}\n{MARKUP}\n", "utf-8")
    script = parse_script(
        {
            "turns": [
                turn(f"{HOSTILE} {MARKUP}", use("Read", "toolu_1", file_path="evil.txt")),
                turn(use("Bash", "toolu_2", command="cat evil.txt", description=HOSTILE)),
                turn(use(f"No{HOSTILE}", "toolu_3", text=f"{HOSTILE}{MARKUP}")),
                turn(use("Bash", "toolu_4", command=f"touch '{HOSTILE}{MARKUP}'")),
                {"reply": "The end of it."},
            ]
        },
        "hostile",
    )
    with running_server(script) as server, ScreenTerminal(machine, *endpoint(server)) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.choose("Deny", "Bash wants approval")
        terminal.wait_for("why not?")
        terminal.child.send("\r")
        terminal.wait_for("The end of it.")
        terminal.say("/clear")
        terminal.wait_for_row_with("1 earlier session in this folder")
        terminal.say("/resume")
        terminal.until(lambda: terminal.screen()[0].startswith(" /resume"), "the sessions")
        terminal.wait_for_row_with("The end of it.")
        terminal.wait_for_row_with("Enter resume")  # the last row of the list: all of it is drawn
        terminal.child.send("\x1b")
        terminal.until(lambda: not terminal.screen()[0].startswith(" /resume"), "the conversation")
        terminal.wait_for_row_with(READY)
        assert terminal.quit() == 0
    written = terminal.written.decode("utf-8", "replace")
    for sequence in (
        "\x1b]52",
        "\x1b]0;title",
        "\x1b]8;;",
        "\x1bP",
        "\x1b[2J",
        "\x1b[6n",
        "\x1bc",
        "\x9b",
        "\x9d",
        "\x08",
    ):
        assert sequence not in written, repr(sequence)
    for hidden in ("\u202e", "\u200b", "\U000e0041", "\x00"):
        assert hidden not in written
    assert "x[/oops]" in str(terminal) or "x[/oops]" in written


def test_20_the_editor_gets_the_draft_and_gives_the_screen_back(machine: Machine) -> None:
    editor = machine.home / "editor.sh"
    editor.write_text('#!/bin/sh\necho appended >> "$1"\n')
    editor.chmod(0o755)
    with ScreenTerminal(machine, "--demo", EDITOR=str(editor)) as terminal:
        terminal.wait_for(READY)
        terminal.type("my draft")
        terminal.wait_for_row_with("my draft")
        terminal.child.send("\x07")
        terminal.wait_for_row_with("appended")
        assert any("my draft" in row for row in terminal.screen())
        terminal.child.send("\x03")
        assert terminal.quit() == 0


def test_a_terminal_that_goes_away_ends_mcode_and_what_it_ran(machine: Machine) -> None:
    marker = machine.project / "pid"
    command = f"echo $$ > {marker.name}; sleep 60"
    script = parse_script({"turns": [turn(use("Bash", command=command)), {"reply": "Back."}]}, "hangup")
    with running_server(script) as server:
        terminal = ScreenTerminal(machine, "--allowedTools", f"Bash({command})", *endpoint(server))
        terminal.wait_for(READY)
        terminal.say("wait for it")
        wait_for(lambda: marker.exists() and marker.read_text().strip() != "")
        shell = int(marker.read_text())
        os.close(terminal.child.child_fd)
        wait_for(lambda: not _alive(shell) and not terminal.child.isalive())
        ran = machine.run("-p", "still there?", "--continue", server=server)
        assert ran.out == "Back.\n"


def _rests(terminal: ScreenTerminal) -> bool:
    """Look on for a while; True where nothing was written, and next to nothing worked out."""
    before, used = len(terminal.written), _cpu(terminal.child.pid)
    terminal.pump(3.0)
    return terminal.written[before:] == b"" and _cpu(terminal.child.pid) - used < 0.3


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _cpu(process: int) -> float:
    """Seconds of CPU that a process has used."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:  # not Linux
        return time.process_time() * 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
