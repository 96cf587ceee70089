"""Which session opens: chosen from the list, the latest that was talked in, or one that is open elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tools.messages_server import running_server

if TYPE_CHECKING:
    from tests.e2e.binary import Machine

ANSWERS = parse_script({"turns": [{"reply": "Noted."}] * 4}, "answers")


def test_resume_without_an_id_lets_the_user_choose(machine: Machine) -> None:
    with running_server(ANSWERS) as server:
        machine.run("-p", "the older one", server=server)
        machine.run("-p", "the newer one", server=server)
        with BinaryTerminal(machine, "--plain", "--resume", *endpoint(server)) as terminal:
            terminal.wait_for("Which session goes on?")
            terminal.wait_for("the older one")
            terminal.say("7")
            terminal.wait_for("Number from 1 to 2", count=2)
            terminal.say("2")
            terminal.wait_for_row(PROMPT)
            terminal.wait_for("goes on from here")
            assert "the older one" in str(terminal)
            terminal.say("/quit")
            assert terminal.wait_for_end() == 0


def test_choosing_nothing_opens_nothing(machine: Machine) -> None:
    with running_server(ANSWERS) as server:
        machine.run("-p", "the only one", server=server)
        with BinaryTerminal(machine, "--plain", "--resume", *endpoint(server)) as terminal:
            terminal.wait_for("Which session goes on?")
            terminal.say("")
            assert terminal.wait_for_end() == 0
    assert len(machine.sessions) == 1


def test_nobody_can_choose_in_a_headless_run_so_it_lists_the_ids(machine: Machine) -> None:
    with running_server(ANSWERS) as server:
        machine.run("-p", "the only one", server=server)
        ran = machine.run("-p", "go on", "--resume", server=server)
    assert ran.code == 2
    assert machine.sessions[0].stem in ran.err


def test_continue_in_the_terminal_takes_the_session_that_was_talked_in(machine: Machine) -> None:
    with running_server(ANSWERS) as server:
        with BinaryTerminal(machine, "--plain", *endpoint(server)) as terminal:
            terminal.wait_for_row(PROMPT)
            terminal.say("said in the terminal")
            terminal.wait_for("Noted.")
            terminal.say("/quit")
            terminal.wait_for_end()
        machine.run("-p", "said by a script", server=server)
        machine.run("-p", "said after it", "--continue", server=server)
        assert "said by a script" in str(server.bodies[-1]["messages"])
        with BinaryTerminal(machine, "--plain", "--continue", *endpoint(server)) as terminal:
            terminal.wait_for("goes on from here")
            assert "said in the terminal" in str(terminal)
            assert "said by a script" not in str(terminal)
            terminal.say("/quit")
            terminal.wait_for_end()


def test_j_05_a_session_that_is_open_elsewhere_can_be_read_or_copied(machine: Machine) -> None:
    with running_server(ANSWERS) as server, BinaryTerminal(machine, "--plain", *endpoint(server)) as first:
        first.wait_for_row(PROMPT)
        first.say("mine alone")
        first.wait_for("Noted.")
        identifier = machine.sessions[-1].stem
        before = machine.sessions[-1].read_bytes()

        with BinaryTerminal(machine, "--plain", "--resume", identifier, *endpoint(server)) as reader:
            reader.wait_for("is open in another mcode")
            reader.wait_for("process")
            reader.say("2")
            reader.wait_for("mine alone")
            reader.wait_for("Noted.")
            assert reader.wait_for_end() == 0
        assert machine.sessions[-1].read_bytes() == before

        with BinaryTerminal(machine, "--plain", "--resume", identifier, *endpoint(server)) as copy:
            copy.wait_for("is open in another mcode")
            copy.say("1")
            copy.wait_for("goes on from here")
            copy.say("in the copy")
            copy.wait_for("Noted.", count=2)
            copy.say("/quit")
            copy.wait_for_end()
        assert len(machine.sessions) == 2
        first.say("/quit")
        first.wait_for_end()


def test_without_a_model_the_prompt_is_there_first_and_the_endpoints_own_list_decides(
    machine: Machine,
) -> None:
    models = [{"id": "small-1", "max_input_tokens": 50_000}, {"id": "large-1"}]
    with running_server(ANSWERS, models=models) as server:
        with BinaryTerminal(machine, "--plain", "--base-url", server.url) as terminal:
            terminal.wait_for_row(PROMPT)
            terminal.wait_for("small-1 was taken")
            terminal.say("hello")
            terminal.wait_for("Noted.")
            terminal.say("/quit")
            assert terminal.wait_for_end() == 0
        assert server.bodies[0]["model"] == "small-1"


def test_an_endpoint_that_cannot_be_asked_for_its_models_leaves_the_session_open(machine: Machine) -> None:
    with running_server(ANSWERS) as server:
        gone = server.url
    with BinaryTerminal(machine, "--plain", "--base-url", gone) as terminal:
        terminal.wait_for_row(PROMPT)
        terminal.wait_for("No model is named, and")
        terminal.say("/status")
        terminal.wait_for("waiting for you")
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
