"""The story of the fixture project on the full screen of a real pseudo-terminal: denied, approved, killed, resumed."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from tests.e2e.binary import endpoint
from tests.e2e.story import ALLOW_KILLED, ALLOW_TESTS, FIXED, LAST_WORD, denied_story, killed_story
from tests.prefixes import check_prefixes, extends
from tests.ui.tui.terminal import LEAVES, READY, ScreenTerminal
from tests.waiting import wait_for
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine
    from tools.messages_server import RunningServer


def opened(machine: Machine, server: RunningServer, *arguments: str) -> ScreenTerminal:
    return ScreenTerminal(machine, *arguments, *endpoint(server))


def test_the_failing_test_is_fixed_with_one_denial_and_one_approval(machine: Machine) -> None:
    with running_server(denied_story()) as server, opened(machine, server, *ALLOW_TESTS) as terminal:
        terminal.wait_for(READY)
        terminal.say("fix the failing test")
        terminal.choose("Deny", "Write wants approval")
        terminal.wait_for("why not?")
        terminal.say("mend the old file instead")
        terminal.choose("Allow once", "Edit wants approval")
        terminal.wait_for(LAST_WORD)
        assert terminal.quit() == 0
        assert FIXED in (machine.project / "averages.py").read_text()
        assert not (machine.project / "new.py").exists()
        told = server.bodies[1]["messages"][-1]["content"][0]
        assert told["is_error"] is True
        assert "mend the old file instead" in told["content"]
        check_prefixes(server.bodies)
    after = terminal.written.rpartition(LEAVES)[2].decode()
    assert LAST_WORD in after, "the last rows stay on the normal screen"
    assert str(machine.sessions[-1]) in after.replace("\r\n", "")


def test_a_session_killed_in_the_middle_of_a_turn_comes_back_with_its_draft_and_queue(
    machine: Machine,
) -> None:
    with running_server(killed_story()) as server:
        with opened(machine, server, *ALLOW_KILLED) as terminal:
            terminal.wait_for(READY)
            terminal.say("fix the failing test")
            terminal.wait_for("sleep 60")
            terminal.say("queued and not sent")
            terminal.wait_for_row_with("queued 1")
            terminal.type("half a draft")
            draft = machine.sessions[-1].with_suffix("") / "draft.json"
            wait_for(lambda: draft.exists() and "half a draft" in draft.read_text())
            before = server.bodies
            os.kill(terminal.child.pid, signal.SIGKILL)
            terminal.wait_for_end()
        with opened(machine, server, "--continue", *ALLOW_KILLED) as terminal:
            terminal.wait_for("fix the failing test")
            terminal.wait_for("Nothing is run again by itself")
            terminal.wait_for_row_with("half a draft")
            terminal.wait_for_row_with("queued and not sent")
            terminal.child.send("\x03")
            terminal.say("go on")
            terminal.wait_for(LAST_WORD)
            assert terminal.quit() == 0
        assert extends(before[-1], server.bodies[len(before)])
    assert FIXED in (machine.project / "averages.py").read_text()
