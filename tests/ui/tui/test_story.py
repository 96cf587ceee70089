"""The story of the fixture project on the full screen of a real pseudo-terminal: denied, approved, killed, resumed."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.story import EDIT, FIXED, LAST_WORD, PASSES, READ, RUN_TESTS, turn
from tests.prefixes import check_prefixes, extends
from tests.stage import use
from tests.ui.tui.terminal import LEAVES, READY, ScreenTerminal
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine
    from tools.messages_server import RunningServer

ALLOW_TESTS = ("--allowedTools", f"Bash({RUN_TESTS})")


def opened(machine: Machine, server: RunningServer, *arguments: str) -> ScreenTerminal:
    return ScreenTerminal(machine, *arguments, *endpoint(server))


def journal_of(machine: Machine) -> list[dict[str, Any]]:
    return [json.loads(line) for line in machine.sessions[-1].read_text().splitlines()]


def test_the_failing_test_is_fixed_with_one_denial_and_one_approval(machine: Machine) -> None:
    script = parse_script(
        {
            "turns": [
                turn("I would rather rewrite it.", use("Write", file_path="new.py", content="print(1)\n")),
                turn("As you wish.", READ),
                turn(EDIT),
                turn(PASSES),
                {"reply": LAST_WORD},
            ]
        },
        "story with a denial",
    )
    with running_server(script) as server, opened(machine, server, *ALLOW_TESTS) as terminal:
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
    script = parse_script(
        {
            "turns": [
                turn(READ),
                turn("Now the tests.", use("Bash", "toolu_slow", command="sleep 60")),
                turn(EDIT),
                {"reply": LAST_WORD},
            ]
        },
        "killed story",
    )
    arguments = ("--allowedTools", "Bash(sleep 60)", "Edit(averages.py)")
    with running_server(script) as server:
        with opened(machine, server, *arguments) as terminal:
            terminal.wait_for(READY)
            terminal.say("fix the failing test")
            terminal.wait_for("sleep 60")
            terminal.say("queued and not sent")
            terminal.wait_for_row_with("queued 1")
            terminal.type("half a draft")
            draft = machine.sessions[-1].with_suffix("") / "draft.json"
            _wait_for(lambda: draft.exists() and "half a draft" in draft.read_text())
            before = server.bodies
            os.kill(terminal.child.pid, signal.SIGKILL)
            terminal.wait_for_end()
        with opened(machine, server, "--continue", *arguments) as terminal:
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


def _wait_for(met: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
