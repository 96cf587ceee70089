"""The story of the fixture project in a pseudo-terminal: approved, denied, killed, resumed."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.story import (
    ALLOW_KILLED,
    ALLOW_TESTS,
    FIXED,
    LAST_WORD,
    denied_story,
    killed_story,
    story,
    turn,
)
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tests.prefixes import check_prefixes, extends
from tests.stage import use
from tests.waiting import wait_for
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine
    from tools.messages_server import RunningServer


def opened(machine: Machine, server: RunningServer, *arguments: str) -> BinaryTerminal:
    return BinaryTerminal(machine, "--plain", *arguments, *endpoint(server))


def journal_of(machine: Machine) -> list[dict[str, Any]]:
    return [json.loads(line) for line in machine.sessions[-1].read_text().splitlines()]


def test_the_failing_test_is_fixed_with_one_denial_and_one_approval(machine: Machine) -> None:
    with running_server(denied_story()) as server, opened(machine, server, *ALLOW_TESTS) as terminal:
        terminal.wait_for_row(PROMPT)
        terminal.say("fix the failing test")
        terminal.wait_for("new.py")
        terminal.decide("deny because mend the old file instead")
        terminal.wait_for("averages.py")
        terminal.decide("once")
        terminal.wait_for(LAST_WORD)
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
        assert FIXED in (machine.project / "averages.py").read_text()
        assert not (machine.project / "new.py").exists()
        told = server.bodies[1]["messages"][-1]["content"][0]
        assert told["is_error"] is True
        assert "mend the old file instead" in told["content"]
        assert "2 passed" in server.bodies[4]["messages"][-1]["content"][0]["content"]
        check_prefixes(server.bodies)
    shown = str(terminal)
    assert f"+     {FIXED}" in shown
    assert "denied" in shown


def test_j_04_a_session_killed_in_the_middle_of_a_turn_is_resumed_with_nothing_lost(machine: Machine) -> None:
    with running_server(killed_story()) as server:
        with opened(machine, server, *ALLOW_KILLED) as terminal:
            terminal.wait_for_row(PROMPT)
            terminal.say("fix the failing test")
            terminal.wait_for("sleep 60")
            wait_for(lambda: journal_of(machine)[-1]["type"] == "call_started")
            before = server.bodies
            os.kill(terminal.child.pid, signal.SIGKILL)
            terminal.wait_for_end()
        with opened(machine, server, "--continue", *ALLOW_KILLED) as terminal:
            terminal.wait_for("fix the failing test")
            terminal.wait_for("Nothing is run again by itself")
            terminal.say("go on")
            terminal.wait_for(LAST_WORD)
            terminal.say("/quit")
            assert terminal.wait_for_end() == 0
        after = server.bodies[len(before)]
        assert extends(before[-1], after)
        interrupted = after["messages"][-1]["content"][0]
        assert interrupted["tool_use_id"] == "toolu_slow"
        assert "may have had effects" in interrupted["content"]
        assert after["messages"][-1]["content"][-1]["text"] == "go on"
    assert FIXED in (machine.project / "averages.py").read_text()


def test_a_torn_last_line_costs_that_line_and_the_session_goes_on(machine: Machine) -> None:
    with running_server(story()) as server:
        machine.run("-p", "fix it", *ALLOW_TESTS, "--allowedTools", "Edit(averages.py)", server=server)
    journal = machine.sessions[-1]
    with journal.open("ab") as file:
        file.write(b'{"sequence": 99, "type": "assis')
    script = parse_script({"turns": [{"reply": "Still here."}]}, "after")
    with running_server(script) as server:
        ran = machine.run("-p", "are you there?", "--continue", server=server)
        assert (ran.code, ran.out) == (0, "Still here.\n")
        assert LAST_WORD in json.dumps(server.bodies[0]["messages"])
    assert "torn" in ran.err
    assert list(journal.parent.glob("*.torn-*"))


def test_a_session_is_resumed_by_name_and_forked_without_touching_the_first(machine: Machine) -> None:
    script = parse_script({"turns": [{"reply": f"Answer {number}."} for number in range(3)]}, "three")
    with running_server(script) as server:
        with opened(machine, server) as terminal:
            terminal.wait_for_row(PROMPT)
            terminal.say("first question")
            terminal.wait_for("Answer 0.")
            terminal.say("/rename the parser")
            terminal.say("/quit")
            terminal.wait_for_end()
        first = machine.sessions[-1]
        size = first.stat().st_size
        ran = machine.run("-p", "second", "--resume", "the parser", "--fork-session", server=server)
        assert ran.out == "Answer 1.\n"
        assert first.stat().st_size == size
        assert "first question" in json.dumps(server.bodies[1]["messages"])
        ran = machine.run("-p", "third", "--resume", first.stem[:8], server=server)
        assert ran.out == "Answer 2.\n"
        assert "second" not in json.dumps(server.bodies[2]["messages"])


def test_j_08_when_the_terminal_closes_the_command_and_mcode_end_and_the_session_can_go_on(
    machine: Machine,
) -> None:
    marker = machine.project / "pid"
    command = f"echo $$ > {marker.name}; sleep 60"
    script = parse_script({"turns": [turn(use("Bash", command=command)), {"reply": "Back."}]}, "hangup")
    with running_server(script) as server:
        terminal = opened(machine, server, "--allowedTools", f"Bash({command})")
        terminal.wait_for_row(PROMPT)
        terminal.say("wait for it")
        wait_for(lambda: marker.exists() and marker.read_text().strip() != "")
        shell, mcode = int(marker.read_text()), terminal.child.pid
        os.close(terminal.child.child_fd)
        wait_for(lambda: not _alive(shell) and not _alive(mcode, terminal))
        ran = machine.run("-p", "still there?", "--continue", server=server)
        assert ran.out == "Back.\n"


def test_the_offline_guide_greets_who_has_no_key_and_asks_before_it_runs_anything(machine: Machine) -> None:
    with BinaryTerminal(machine, "--plain") as terminal:
        terminal.wait_for("script, not a model")
        terminal.say("hello")
        terminal.wait_for("averages.py")
        terminal.say("find the TODOs")
        terminal.wait_for("Grep")
        terminal.pump(1.0)
        terminal.say("/tools")
        terminal.wait_for("AskUserQuestion")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
    kinds = [record["type"] for record in journal_of(machine)]
    assert {"session", "user", "assistant", "call_started", "call_finished"} <= set(kinds)


def _alive(process: int, terminal: BinaryTerminal | None = None) -> bool:
    if terminal is not None:
        return bool(terminal.child.isalive())
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_s_06_a_broken_answer_is_marked_void_asked_for_again_and_shown_whole(machine: Machine) -> None:
    broken = {"text": "The first try says this.", "fault": "end-before-message-stop"}
    script = parse_script({"turns": [{"reply": broken}, {"reply": "The second try is whole."}]}, "broken")
    with running_server(script) as server, opened(machine, server) as terminal:
        terminal.wait_for_row(PROMPT)
        terminal.say("hello")
        terminal.wait_for("The second try is whole.")
        shown = str(terminal)
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
        assert [len(body["messages"]) for body in server.bodies] == [1, 1]
    assert "void: that answer broke off" in shown
