"""A program of the model in the real mcode: its edit is asked about like any other, and recorded under it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcode.model.script import parse_script
from tests.e2e.binary import endpoint
from tests.e2e.story import FIXED, LAST_WORD, turn
from tests.e2e.terminal import PROMPT, BinaryTerminal
from tests.prefixes import check_prefixes
from tests.stage import use
from tools.messages_server import running_server

if TYPE_CHECKING:
    from mcode.model.script import Script
    from tests.e2e.binary import Machine

PROGRAM = f"""// mends the mean
const page = await tools.Read({{file_path: "averages.py"}});
const done = await tools.Edit({{file_path: "averages.py",
  old_string: "return sum(values) / (len(values) - 1)", new_string: "{FIXED}"}});
return {{lines: page.value.total_lines, edited: done.ok, why: done.ok ? "" : done.error.kind}};"""


def script() -> Script:
    turns = [turn("I will mend it.", use("run_code", "toolu_program", code=PROGRAM)), {"reply": LAST_WORD}]
    return parse_script({"turns": turns}, "a program")


def audit_of(machine: Machine) -> list[dict[str, Any]]:
    (path,) = machine.sessions[-1].with_suffix("").glob("program-*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_edit_of_a_program_is_approved_in_the_terminal(machine: Machine) -> None:
    with (
        running_server(script()) as server,
        BinaryTerminal(machine, "--plain", *endpoint(server)) as terminal,
    ):
        terminal.wait_for_row(PROMPT)
        terminal.say("fix the failing test")
        terminal.wait_for("mends the mean")
        terminal.decide("once")
        terminal.wait_for(LAST_WORD)
        terminal.say("/quit")
        assert terminal.wait_for_end() == 0
        told = server.bodies[1]["messages"][-1]["content"][0]["content"]
        assert '"edited":true' in told
        check_prefixes(server.bodies)
    assert FIXED in (machine.project / "averages.py").read_text()
    assert f"+     {FIXED}" in str(terminal)  # the difference was there to be judged
    start, *calls, end = audit_of(machine)
    assert start["message"]
    assert [(call["tool"], call["state"]) for call in calls] == [("Read", "ok"), ("Edit", "ok")]
    assert calls[1]["decision"] == "approved by you"
    assert end["status"] == "ok"


def test_without_anybody_to_ask_the_edit_is_denied_and_the_stream_shows_it_under_its_program(
    machine: Machine,
) -> None:
    before = (machine.project / "averages.py").read_text()
    with running_server(script()) as server:
        ran = machine.run("-p", "fix it", "--output-format", "stream-json", "--verbose", server=server)
    assert ran.code == 0, ran.err
    assert (machine.project / "averages.py").read_text() == before
    told = server.bodies[1]["messages"][-1]["content"][0]["content"]
    assert '"edited":false,"why":"denied"' in told
    nested = [line for line in ran.lines if line.get("parent_tool_use_id") == "toolu_program"]
    messages = [line["message"]["content"] for line in nested if line["type"] in {"assistant", "user"}]
    blocks = [block for content in messages for block in content]
    assert [block["name"] for block in blocks if block["type"] == "tool_use"] == ["Read", "Edit"]
    failed = [bool(block.get("is_error")) for block in blocks if block["type"] == "tool_result"]
    assert failed == [False, True]
    assert [denial["tool_name"] for denial in ran.lines[-1]["permission_denials"]] == ["Edit"]
    assert [record["state"] for record in audit_of(machine) if record["type"] == "call"] == ["ok", "denied"]
