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

SLOW = """
import asyncio, os, sys
from mcode import start
load = start.load_modules
async def slowly(names):
    async with asyncio.timeout(120):
        while not os.path.exists(os.environ["MAY_GO_ON"]):
            await asyncio.sleep(0.02)
    await load(names)
start.load_modules = slowly
from mcode.__main__ import main
sys.exit(main())
"""
"""mcode whose preparation takes until a file is there."""

FRONT_ENDS = pytest.mark.parametrize("screen", ["1", "0"], ids=["screen", "lines"])


class Early(ScreenTerminal):
    """One run whose session does not open before the test says so."""

    def __init__(self, machine: Machine, *arguments: str, screen: str) -> None:
        self._may_go_on = machine.home / "may-go-on"
        super().__init__(
            machine,
            *arguments,
            program=SLOW,
            fresh=False,
            MCODE_SCREEN=screen,
            MAY_GO_ON=str(self._may_go_on),
        )
        self.wait_for("mcode 0.")

    def go_on(self) -> None:
        self._may_go_on.touch()


@FRONT_ENDS
def test_what_is_sent_before_the_session_is_open_is_sent_once_it_is(machine: Machine, screen: str) -> None:
    script = parse_script({"turns": [{"reply": "First."}, {"reply": "Second."}]}, "early")
    with running_server(script) as server, Early(machine, *endpoint(server), screen=screen) as terminal:
        terminal.say("one")
        terminal.say("two")
        terminal.wait_for("once the session is open")
        assert not server.bodies
        terminal.type("a draft")
        terminal.go_on()
        terminal.wait_for("Second.")
        asked = [body["messages"][-1]["content"][-1]["text"] for body in server.bodies]
        assert asked == ["one", "two"]
        terminal.wait_for("a draft")


@FRONT_ENDS
def test_a_message_is_taken_back_and_quit_leaves_at_once(machine: Machine, screen: str) -> None:
    with Early(machine, screen=screen) as terminal:
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
    with Early(machine, screen=screen) as terminal:
        terminal.child.kill(number)
        assert terminal.wait_for_end() == 128 + number


@FRONT_ENDS
def test_control_d_ends_the_preparation(machine: Machine, screen: str) -> None:
    with Early(machine, screen=screen) as terminal:
        terminal.child.send("\x04")
        assert terminal.wait_for_end() == 0


@FRONT_ENDS
def test_a_mistake_is_told_with_exit_code_2_and_what_was_typed_is_left(machine: Machine, screen: str) -> None:
    with Early(machine, "--permission-mode", "nonsense", screen=screen) as terminal:
        terminal.say("long thought of")
        terminal.wait_for("once the session is open")
        terminal.go_on()
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
    with Early(machine, "--demo", screen=screen) as terminal:
        terminal.type("kept draft")
        terminal.wait_for("kept draft")
        terminal.go_on()
        terminal.wait_for("Trust this folder?")
        terminal.child.send("\r")
        terminal.wait_for("kept draft")
