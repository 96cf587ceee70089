"""Before the session is open: the prompt is there, what is typed and sent is kept, and every way out works."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.ui.tui.terminal import ScreenTerminal
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine
    from tests.e2e.terminal import BinaryTerminal

SLOW = """
import asyncio
from mcode.wiring import loading
load = loading.load_modules
async def slowly(names):
    await asyncio.sleep(SECONDS)
    await load(names)
loading.load_modules = slowly
from mcode.__main__ import main
import sys
sys.exit(main())
"""
"""mcode whose preparation takes so many seconds longer."""

FRONT_ENDS = pytest.mark.parametrize("screen", ["1", "0"], ids=["screen", "lines"])


def started(machine: Machine, *arguments: str, screen: str, seconds: float = 60) -> BinaryTerminal:
    program = SLOW.replace("SECONDS", str(seconds))
    terminal = ScreenTerminal(machine, *arguments, program=program, MCODE_SCREEN=screen)
    terminal.wait_for("mcode 0.")
    return terminal


@FRONT_ENDS
def test_what_is_sent_before_the_session_is_open_is_sent_once_it_is(machine: Machine, screen: str) -> None:
    script = parse_script({"turns": [{"reply": "First."}, {"reply": "Second."}]}, "early")
    with (
        running_server(script) as server,
        started(machine, *endpoint(server), screen=screen, seconds=2) as terminal,
    ):
        terminal.say("one")
        terminal.say("two")
        terminal.wait_for("once the session is open")
        assert not server.bodies
        terminal.type("a draft")
        terminal.wait_for("Second.")
        asked = [body["messages"][-1]["content"][-1]["text"] for body in server.bodies]
        assert asked == ["one", "two"]
        terminal.wait_for("a draft")


@FRONT_ENDS
def test_a_message_is_taken_back_and_quit_leaves_at_once(machine: Machine, screen: str) -> None:
    with started(machine, screen=screen) as terminal:
        terminal.say("take this back")
        terminal.wait_for("once the session is open")
        terminal.child.send("\x1b[A")
        terminal.wait_for("\u203a take this back" if screen == "0" else "take this back")
        terminal.child.send("\x03")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0


@FRONT_ENDS
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_preparation(machine: Machine, screen: str, number: signal.Signals) -> None:
    with started(machine, screen=screen) as terminal:
        terminal.child.kill(number)
        assert terminal.wait_for_end() == 128 + number


@FRONT_ENDS
def test_control_d_ends_the_preparation(machine: Machine, screen: str) -> None:
    with started(machine, screen=screen) as terminal:
        terminal.child.send("\x04")
        assert terminal.wait_for_end() == 0


@FRONT_ENDS
def test_a_mistake_is_told_with_exit_code_2_and_what_was_typed_is_left(machine: Machine, screen: str) -> None:
    with started(machine, "--permission-mode", "nonsense", screen=screen, seconds=2) as terminal:
        terminal.say("long thought of")
        assert terminal.wait_for_end() == 2
        written = terminal.written.decode("utf-8", "replace")
        assert "nonsense" in written
        assert "not sent: long thought of" in written


@FRONT_ENDS
def test_a_folder_that_has_to_be_asked_about_gives_the_draft_on(machine: Machine, screen: str) -> None:
    """A folder that the file of answers names counts as answered until all is read: here something is new."""
    (machine.project / ".git").mkdir(exist_ok=True)
    (machine.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    settings = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    (machine.project / ".claude").mkdir(exist_ok=True)
    (machine.project / ".claude" / "settings.json").write_text(json.dumps(settings))
    (machine.home / ".mcode").mkdir(exist_ok=True)
    (machine.home / ".mcode" / "trust.json").write_text(json.dumps({"note": str(machine.project)}))
    with started(machine, "--demo", screen=screen, seconds=2) as terminal:
        terminal.type("kept draft")
        terminal.wait_for("Trust this folder?")
        terminal.child.send("\r")
        terminal.wait_for("kept draft")
