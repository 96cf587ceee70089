"""`mcode -p` as scripts use it: shapes, exit codes, denials."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.script import parse_script
from tests.e2e.story import FIXED, LAST_WORD, RUN_TESTS, story, turn
from tests.prefixes import check_prefixes
from tests.stage import use
from tools.messages_server import running_server

if TYPE_CHECKING:
    from mcode.model.script import Script
    from tests.e2e.binary import Machine

RULES = ("--allowedTools", f"Bash({RUN_TESTS})", "Edit(averages.py)")


def saying(*replies: Any) -> Script:
    return parse_script({"turns": [{"reply": reply} for reply in replies]}, "test")


def test_the_failing_test_is_fixed_with_rules_and_only_the_answer_is_printed(machine: Machine) -> None:
    with running_server(story()) as server:
        ran = machine.run("-p", "fix the failing test", *RULES, server=server)
        assert (ran.code, ran.out) == (0, f"{LAST_WORD}\n"), ran.err
        assert FIXED in (machine.project / "averages.py").read_text()
        results = [body["messages"][-1]["content"][0]["content"] for body in server.bodies[1:]]
        assert "1 failed" in results[0]
        assert "2 passed" in results[3]
        check_prefixes(server.bodies)


def test_without_rules_what_would_ask_is_denied_listed_and_the_run_goes_on(machine: Machine) -> None:
    with running_server(story()) as server:
        ran = machine.run("-p", "fix it", "--output-format", "json", server=server)
    assert ran.code == 0
    (result,) = ran.lines
    denied = [denial["tool_name"] for denial in result["permission_denials"]]
    assert denied == ["Bash", "Edit", "Bash"]
    assert result["permission_denials"][0]["tool_input"] == {"command": RUN_TESTS}
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "success", False)
    assert result["result"] == LAST_WORD
    assert result["num_turns"] == 5
    assert FIXED not in (machine.project / "averages.py").read_text()
    for key in (
        "duration_ms",
        "duration_api_ms",
        "total_cost_usd",
        "usage",
        "modelUsage",
        "session_id",
        "uuid",
    ):
        assert key in result
    assert result["mcode"]["round_trips"] == 5


def test_stream_json_begins_with_init_and_ends_with_the_result(machine: Machine) -> None:
    with running_server(story()) as server:
        arguments = ("--output-format", "stream-json", "--verbose", "--include-partial-messages")
        ran = machine.run("-p", "fix it", *RULES, *arguments, server=server)
    lines = ran.lines
    assert (lines[0]["type"], lines[0]["subtype"]) == ("system", "init")
    assert lines[0]["tools"] == sorted(lines[0]["tools"])
    assert {"Bash", "Edit", "Read"} <= set(lines[0]["tools"])
    assert lines[0]["permissionMode"] == "default"
    assert [line["type"] for line in lines].count("result") == 1
    assert lines[-1]["type"] == "result"
    assert {line["session_id"] for line in lines} == {lines[0]["session_id"]}
    assert len({line["uuid"] for line in lines}) == len(lines)
    calls = [line for line in lines if line["type"] == "assistant"]
    assert [line["parent_tool_use_id"] for line in calls] == [None] * 5
    results = [line for line in lines if line["type"] == "user"]
    assert results[0]["message"]["content"][0]["tool_use_id"] == "toolu_fails"
    assert results[0]["tool_use_result"]["exit_code"] == 1
    assert any(line["type"] == "stream_event" and line["event"]["type"] == "message_start" for line in lines)


def test_standard_input_is_appended_to_the_message(machine: Machine) -> None:
    with running_server(saying("Seen.")) as server:
        machine.run("-p", "explain this log", server=server, stdin="ERROR: disk on fire")
        sent = server.bodies[0]["messages"][0]["content"][-1]["text"]
    assert sent == "explain this log\n\nERROR: disk on fire"


def test_stream_json_input_runs_one_turn_a_line_in_one_session(machine: Machine) -> None:
    lines = [{"type": "user", "message": {"role": "user", "content": text}} for text in ("one", "two")]
    with running_server(saying("First.", "Second.")) as server:
        formats = ("--input-format", "stream-json", "--output-format", "stream-json")
        ran = machine.run("-p", *formats, server=server, stdin="\n".join(map(json.dumps, lines)))
        assert len(server.bodies[1]["messages"]) == 3
    results = [line for line in ran.lines if line["type"] == "result"]
    assert [result["result"] for result in results] == ["First.", "Second."]
    assert [line.get("subtype") for line in ran.lines].count("init") == 1


def test_a_line_of_input_that_is_no_message_is_wrong_usage(machine: Machine) -> None:
    with running_server(saying("unused")) as server:
        ran = machine.run("-p", "--input-format", "stream-json", server=server, stdin="hello\n")
    assert ran.code == 2
    assert "Line 1" in ran.err
    assert ran.out == ""


def test_0_6_a_turn_limit_is_exit_code_1_and_named(machine: Machine) -> None:
    with running_server(story(), strict=False) as server:
        ran = machine.run("-p", "fix", *RULES, "--max-turns", "2", "--output-format", "json", server=server)
        assert len(server.bodies) == 2
    assert ran.code == 1
    assert ran.lines[0]["subtype"] == "error_max_turns"
    assert ran.lines[0]["errors"] == ["The limit of 2 requests a turn is reached."]


def test_0_6_without_key_or_endpoint_the_exit_code_is_2_with_what_to_set(machine: Machine) -> None:
    ran = machine.run("-p", "hello")
    assert (ran.code, ran.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in ran.err
    assert "--base-url" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-p", "x", "--no-such-flag"), "--no-such-flag"),
        (("-p", "x", "--output-format", "xml"), "xml"),
        (("-p", "x", "--max-turns", "0"), "--max-turns"),
        (("-p", "x", "--session-id", "seven"), "UUID"),
        (("-p", "x", "--permission-mode", "yolo"), "yolo"),
        (("-p", "x", "--resume", "no-such-session"), "no-such-session"),
        (("-p", "x", "--setting-sources", "team"), "team"),
        (("-p", "x", "--fork-session"), "--continue"),
        (("-p",), "no message"),
    ],
)
def test_0_6_wrong_usage_is_exit_code_2_on_standard_error(
    machine: Machine, arguments: tuple[str, ...], words: str
) -> None:
    with running_server(saying("unused")) as server:
        ran = machine.run(*arguments, server=server)
        assert server.bodies == []
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_0_6_a_signal_ends_the_run_with_valid_lines_and_no_child(
    machine: Machine, number: signal.Signals, code: int
) -> None:
    script = parse_script({"turns": [turn(use("Bash", command="sleep 60")), {"reply": "x"}]}, "test")
    arguments = ("-p", "wait", "--allowedTools", "Bash(sleep 60)", "--output-format", "stream-json")
    with running_server(script) as server:
        process = machine.start(*arguments, server=server)
        seen: list[bytes] = []
        for line in process.stdout:
            seen.append(line)
            if b'"assistant"' in line:
                break
        process.send_signal(number)
        rest, err = process.communicate(timeout=50)
    assert process.returncode == code, err
    lines = [json.loads(line) for line in [*seen, *rest.splitlines()]]
    assert lines[-1]["type"] == "result"
    assert lines[-1]["is_error"] is True
    journal = machine.sessions[-1].read_text()
    assert '"interrupted' in journal


def test_a_refused_key_says_where_it_came_from_and_what_to_do(machine: Machine) -> None:
    with running_server(saying("unused"), key="the-right-one") as server:
        wrong = {"ANTHROPIC_API_KEY": "the-wrong-one"}
        ran = machine.run("-p", "hello", server=server, environment=wrong)
    assert ran.code == 1
    assert "ANTHROPIC_API_KEY in the environment" in ran.err
    assert "the-wrong-one" not in ran.err + ran.out


def test_0_4_an_endpoint_that_is_not_there_is_named_without_a_traceback(machine: Machine) -> None:
    with running_server(saying("unused")) as server:
        address = server.url
    settings = {"mcode": {"baseUrl": address}}
    machine.settings(settings)
    process = machine.start("-p", "hello", "--model", "m", "--output-format", "stream-json")
    seen: list[dict[str, Any]] = []
    for line in process.stdout:
        seen.append(json.loads(line))
        if seen[-1].get("subtype") == "api_retry":
            break
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=50)
    assert seen[-1]["attempt"] == 2
    assert seen[-1]["retry_delay_ms"] > 0
    assert b"Traceback" not in err


def test_without_a_model_the_endpoints_own_list_is_asked_once_and_said(machine: Machine) -> None:
    with running_server(saying("Hi."), models=[{"id": "small-1"}, {"id": "large-1"}]) as server:
        ran = machine.run("-p", "hello", "--base-url", server.url)
        assert [request.path for request in server.requests].count("/v1/models") == 1
        assert server.bodies[0]["model"] == "small-1"
    assert ran.code == 0
    assert "small-1 was taken" in ran.err
    assert ran.out == "Hi.\n"


def test_a_keyless_endpoint_gets_a_placeholder_and_nothing_of_the_users(machine: Machine) -> None:
    profile = machine.home / ".config" / "anthropic"
    profile.mkdir(parents=True)
    (profile / "active_config").write_text("default")
    with running_server(saying("Hi."), key="none") as server:
        ran = machine.run("-p", "hello", server=server, environment={"ANTHROPIC_PROFILE": "default"})
        assert [request.key_matches for request in server.message_requests] == [True]
    assert (ran.code, ran.out) == (0, "Hi.\n")


def test_a_slash_command_is_answered_without_asking_the_model(machine: Machine) -> None:
    with running_server(saying("unused")) as server:
        ran = machine.run("-p", "/status", server=server)
        structured = machine.run("-p", "/tools --json", "--output-format", "json", server=server)
        assert server.message_requests == []
    assert ran.code == 0
    assert str(machine.project) in ran.out
    result = json.loads(structured.out)
    assert result["subtype"] == "success"
    assert "Read" in result["result"]


def test_a_command_that_needs_a_screen_fails_and_so_does_one_that_is_unknown(machine: Machine) -> None:
    with running_server(saying("unused")) as server:
        ran = machine.run("-p", "/clear", server=server)
        unknown = machine.run("-p", "/contxt please", server=server)
        assert server.message_requests == []
    assert ran.code == 1
    assert "is for a session in the terminal" in ran.err
    assert (unknown.code, unknown.out) == (1, "")
    assert "There is no command /contxt; nothing was done. Did you mean /context?" in unknown.err


def test_a_path_at_the_beginning_is_a_message_and_a_command_that_asks_the_model_waits_for_it(
    machine: Machine,
) -> None:
    entered = ("/etc/hosts is what?", "/init keep it short")
    lines = [{"type": "user", "message": {"role": "user", "content": text}} for text in entered]
    both = ("--input-format", "stream-json", "--output-format", "stream-json")
    with running_server(saying("A file.", "Written.")) as server:
        ran = machine.run("-p", *both, server=server, stdin="\n".join(map(json.dumps, lines)))
        asked = [json.dumps(body["messages"]) for body in server.bodies]
    assert [line["result"] for line in ran.lines if line["type"] == "result"] == ["A file.", "Written."]
    assert "/etc/hosts is what?" in asked[0]
    assert "The user adds: keep it short" in asked[1]


def test_a_session_without_persistence_leaves_nothing_and_cannot_be_resumed(machine: Machine) -> None:
    with running_server(saying("Once.", "Twice.")) as server:
        ran = machine.run("-p", "hello", "--no-session-persistence", server=server)
        assert (ran.code, ran.out) == (0, "Once.\n"), ran.err
        assert not list(machine.home.rglob("*.jsonl.lock"))
        assert not [path for path in (machine.home / ".mcode").rglob("*.jsonl") if path.parent.name != "logs"]
        again = machine.run("-p", "again", "--continue", server=server)
        assert again.code == 2
        assert "no earlier session" in again.err
        both = machine.run("-p", "again", "--continue", "--no-session-persistence", server=server)
        assert both.code == 2
        assert "does not go with --continue" in both.err


def test_the_options_of_a_scripted_run_together(machine: Machine) -> None:
    """Prompts, kinds of agents, a directory, a shape and a budget, as a script gives them on one command line."""
    other = machine.home / "other"
    other.mkdir()
    (other / "notes.txt").write_text("the port is 4711\n")
    kinds = {"auditor": {"description": "Looks for unlocked doors", "prompt": "You audit doors."}}
    shape = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}
    machine.settings({"mcode": {"prices": {"scripted-1": {"input": 3, "output": 15}}}})
    replies = (
        [use("Agent", "a", subagent_type="auditor", description="audit", prompt="Audit.")],
        ["All doors are locked."],
        [use("Read", "r", file_path=str(other / "notes.txt"))],
        [use("StructuredOutput", "s", port=4711)],
        ["Done."],
    )
    stops = [{"blocks": blocks} if isinstance(blocks[0], str) else calls(blocks) for blocks in replies]
    with running_server(saying(*stops)) as server:
        ran = machine.run(
            *("-p", "which port?", "--output-format", "json", "--system-prompt", "You answer in JSON."),
            *("--append-system-prompt", "Be brief.", "--agents", json.dumps(kinds), "--add-dir", str(other)),
            *("--max-budget-usd", "1", "--json-schema", json.dumps(shape)),
            server=server,
        )
        assert ran.code == 0, ran.err
        (result,) = ran.lines
        assert result["structured_output"] == {"port": 4711}
        assert result["total_cost_usd"] > 0
        asked, audited, *_ = (json.dumps(body) for body in server.bodies)
        assert "You answer in JSON." in asked
        assert "Be brief." in asked
        assert "You are mcode" not in asked
        assert "auditor: Looks for unlocked doors" in asked
        assert "You audit doors." in audited
        assert any("the port is 4711" in json.dumps(body) for body in server.bodies)


def calls(blocks: Any) -> dict[str, Any]:
    return {"blocks": blocks, "stop_reason": "tool_use"}


def test_a_run_ends_at_its_budget_with_the_word_for_it(machine: Machine) -> None:
    machine.settings({"mcode": {"prices": {"scripted-1": {"input": 3, "output": 15}}}})
    read = calls([use("Read", "r", file_path="averages.py")])
    with running_server(saying(read, "Too late.")) as server:
        ran = machine.run(
            "-p", "go", "--output-format", "json", "--max-budget-usd", "0.000001", server=server
        )
        assert ran.code != 0
        assert ran.lines[-1]["subtype"] == "error_max_budget_usd"
        assert len(server.bodies) == 1
