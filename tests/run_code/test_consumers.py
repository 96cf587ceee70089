"""Whoever listens to calls hears of those that programs make, too: nobody is bound to the model's own calls."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mcode
from mcode.events import ToolFinished, ToolStarted
from mcode.ui.headless import HeadlessFrontEnd
from mcode.ui.line.transcript import Transcript
from mcode.ui.live import LiveArea
from mcode.ui.look import Look
from tests.run_code.sessions import project, session
from tests.stage import use

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.stage import Stage

PACKAGE = Path(mcode.__file__).parent

CONSUMERS = {
    "agent/subagent_record.py": "what a sub-agent called, its programs' calls included",
    "agent/transcript.py": "redraws what the journal holds, nested calls with their parent",
    "commands/export.py": "exports what the transcript shows",
    "pipeline/record.py": "emits them",
    "ui/acp/updates.py": "calls for editors, each by its own id",
    "ui/headless.py": "stream-json, with parent_tool_use_id",
    "ui/calls.py": "a row a call",
    "ui/live.py": "what runs now",
    "ui/sending.py": "whether an answer came",
    "ui/line/hands.py": "whether what was interrupted has ended",
    "ui/tui/hands.py": "whether what was interrupted has ended",
    "ui/line/transcript.py": "rows, indented under their program",
    "ui/tui/document.py": "blocks, children of their program",
    "ui/tui/open_calls.py": "which card shows each call of the turn, and which ones wait",
    "wiring/read_files.py": "instruction files of directories that were read in",
    "wiring/subagent.py": "the rows of a sub-agent",
    "wiring/hook_watch.py": "PermissionDenied, with the parent",
    "wiring/jobs.py": "the list of steps",
    "wiring/status_line.py": "lines added and removed, by programs too",
    "wiring/keep_rules.py": "the end of a program, which takes its rules with it",
}
"""Files that listen to the beginning or end of calls, and what for. A new one is to be thought through here."""


EVENTS = {"ToolStarted", "ToolFinished"}


def names_in(tree: ast.AST) -> set[str]:
    """Names that are used, whether as they are or as members of their module."""
    walked = list(ast.walk(tree))
    members = {node.attr for node in walked if isinstance(node, ast.Attribute)}
    return members | {node.id for node in walked if isinstance(node, ast.Name)}


def test_every_consumer_of_calls_is_known_here() -> None:
    found = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if re.search("|".join(EVENTS), text := file.read_text("utf-8")) and names_in(ast.parse(text)) & EVENTS
    }
    assert found - {"events.py"} == set(CONSUMERS)


ALLOWED = {
    "outcome.call.parent is None": "a shell line of the user's own, which never has a parent",
    "event.parent is not None": "words of a sub-agent, which belong to its own card; no call",
    "AssistantMessage(parent=None)": "the model's own messages: a sub-agent's have their own stop reason; no call",
}


def guards_of(source: str) -> list[str]:
    """Conditions that let only the model's own calls through, or that leave early where there is a parent."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        text = ast.unparse(node) if isinstance(node, ast.expr) else ""
        compared = isinstance(node, ast.Compare) and (
            text.endswith(".parent is None") or "Origin.MODEL" in text
        )
        denied = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and text.endswith(".parent")
        if compared or denied:
            found.append(text)
        elif isinstance(node, ast.MatchClass):
            found += _matched(node)
        elif isinstance(node, ast.If) and isinstance(node.body[0], (ast.Return, ast.Continue)):
            test = ast.unparse(node.test)
            if test.endswith((".parent", ".parent is not None", ".origin is Origin.PROGRAM")):
                found.append(test)
    return found


def _matched(node: ast.MatchClass) -> list[str]:
    """The same as a pattern: `Call(parent=None)`, `Call(origin=Origin.MODEL)`."""
    return [
        f"{ast.unparse(node.cls)}({name}={ast.unparse(pattern)})"
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
        if (name, ast.unparse(pattern)) in {("parent", "None"), ("origin", "Origin.MODEL")}
    ]


def test_no_consumer_looks_away_from_calls_that_have_a_parent_or_another_origin() -> None:
    guards = {(name, guard) for name in CONSUMERS for guard in guards_of((PACKAGE / name).read_text("utf-8"))}
    assert sorted(each for each in guards if each[1] not in ALLOWED) == []


@pytest.mark.parametrize(
    "guard",
    [
        "if event.call.parent is None: note(event)",
        "if not event.outcome.call.parent: note(event)",
        "if event.call.parent is not None: return",
        "if event.call.parent: return",
        "wanted = event.call.origin is Origin.MODEL",
        "if event.call.origin is Origin.PROGRAM: return",
        "match event:\n        case ToolFinished(outcome=Outcome(call=Call(parent=None))): note(event)",
        "match event:\n        case events.ToolStarted(call=Call(origin=Origin.MODEL)): note(event)",
    ],
)
def test_a_guard_that_lets_only_the_model_s_own_calls_through_is_found(guard: str) -> None:
    (found,) = guards_of(f"def receive(event):\n    {guard}\n")
    assert found not in ALLOWED


@pytest.mark.parametrize(
    ("name", "function"),
    [("wiring/read_files.py", "after_calls"), ("wiring/subagent_reading.py", "after_calls")],
)
def test_the_loop_hands_no_outcomes_past_the_events(name: str, function: str) -> None:
    """What is to be done after calls follows the events, which tell of all of them."""
    (after,) = [
        node
        for node in ast.walk(ast.parse((PACKAGE / name).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    used = [node for node in ast.walk(after) if isinstance(node, ast.Name) and node.id == "outcomes"]
    assert all(isinstance(node.ctx, ast.Del) for node in used)


async def test_a_read_inside_a_program_brings_instruction_files_and_lets_edit_go_on(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "lib").mkdir()
    (root / "lib/AGENTS.md").write_text("In here use blanks.")
    (root / "lib/a.txt").write_text("old\n")
    edit = use("Edit", "e", file_path="lib/a.txt", old_string="old", new_string="new")
    code = "return (await tools.Read({file_path: 'lib/a.txt'})).ok"
    settings = {"permissions": {"defaultMode": "acceptEdits"}}
    async with session(tmp_path, code, edit, settings=settings) as here:
        await here.say("go")
        assert "In here use blanks." in json.dumps(here.client.requests[1]["messages"])
        assert (root / "lib/a.txt").read_text() == "new\n"
        known = next(record["body"] for record in here.journal if record["type"] == "files")
        assert "lib/a.txt" in json.dumps(known)


PROGRAM = (
    "// looks around\n"
    "await tools.Read({file_path: 'a.txt'});\n"
    "await tools.Read({file_path: 'none.txt', limit: 'x'});\n"
    "await tools.Write({file_path: 'b.txt', content: 'new'});\n"
    "return 'seen'"
)


class Output:
    """Keeps what a headless run writes."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def answer(self, text: str) -> None:
        self.lines += [json.loads(line) for line in text.splitlines()]

    def remark(self, text: str) -> None:
        del text


async def prompts(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        yield text


async def test_stream_json_shows_nested_calls_with_their_parent_and_the_figures_of_the_program(
    tmp_path: Path,
) -> None:
    project(tmp_path, a_txt="one\n")
    output = Output()
    async with session(tmp_path, PROGRAM) as here:
        front_end = HeadlessFrontEnd(here.agent, output, output_format="stream-json")
        assert await front_end.run(prompts("go")) == 0
    nested = [line for line in output.lines if line.get("parent_tool_use_id") == "prog"]
    uses = [line["message"]["content"][0] for line in nested if line["type"] == "assistant"]
    assert [(each["id"], each["name"]) for each in uses] == [
        ("prog_1", "Read"),
        ("prog_2", "Read"),
        ("prog_3", "Write"),
    ]
    results = [line["message"]["content"][0] for line in nested if line["type"] == "user"]
    assert [(each["tool_use_id"], each["is_error"]) for each in results] == [
        ("prog_1", False),
        ("prog_2", True),
        ("prog_3", True),
    ]
    order = [
        line["message"]["content"][0] for line in nested if "message" in line and line["type"] != "system"
    ]
    assert [each["type"] for each in order] == ["tool_use", "tool_result"] * 3
    (denied,) = [line for line in output.lines if line.get("subtype") == "permission_denied"]
    assert (denied["tool_use_id"], denied["parent_tool_use_id"]) == ("prog_3", "prog")
    result = output.lines[-1]
    assert [each["tool_use_id"] for each in result["permission_denials"]] == ["prog_3"]
    (program,) = result["mcode"]["programs"]
    assert (program["tool_use_id"], program["status"], program["calls"], program["denied"]) == (
        "prog",
        "ok",
        3,
        1,
    )
    assert program["bytes_in"] > program["chars_out"] > 0
    assert program["bytes_kept_out"] == program["bytes_in"] - program["chars_out"]


def shown(here: Stage, look: Look) -> list[str]:
    transcript = Transcript(look, lambda: 100)
    return [line for event in here.events for line in transcript.receive(event)]


@pytest.mark.parametrize("decorated", [True, False])
async def test_the_line_front_end_shows_nested_calls_under_their_program(
    tmp_path: Path, decorated: bool
) -> None:
    project(tmp_path, a_txt="one\n")
    async with session(tmp_path, PROGRAM) as here:
        live = LiveArea("m", "default")
        here.agent.events.subscribe(live.receive)
        here.answer("once")
        await here.say("go")
        lines = shown(here, Look(color=False, decorated=decorated))
        text = "\n".join(lines)
        assert text.count("Read") >= 2
        assert "looks around" in text
        if decorated:
            head = next(index for index, line in enumerate(lines) if "looks around" in line)
            assert lines[head + 1].startswith("    ok")
            assert "+1" in text
            assert "3 calls" in lines[-3] + lines[-2] + lines[-1] + text
        else:
            assert "inside a program" in text
        assert " characters out" in text


async def test_a_long_run_of_calls_is_folded_and_what_went_wrong_is_not(tmp_path: Path) -> None:
    project(tmp_path, a_txt="one\n")
    code = (
        "for (let n = 0; n < 60; n++) await tools.Read({file_path: n === 50 ? 'none.txt' : 'a.txt'});\n"
        "return 'done'"
    )
    async with session(tmp_path, code) as here:
        await here.say("go")
        text = "\n".join(shown(here, Look(color=False)))
        assert "and 39 more calls that went well; /programs has all of them" in text
        assert "FAIL" in text
        assert text.count("a.txt") < 30
        assert len(here.of(ToolStarted)) == len(here.of(ToolFinished)) == 61


async def test_a_resumed_session_shows_nested_calls_again(tmp_path: Path) -> None:
    project(tmp_path, a_txt="one\n")
    async with session(tmp_path, "return (await tools.Read({file_path: 'a.txt'})).ok") as here:
        await here.say("go")
        again = [event for event in here.agent.transcript() if isinstance(event, ToolFinished)]
        assert [(each.outcome.call.id, each.outcome.call.parent) for each in again] == [
            ("prog_1", "prog"),
            ("prog", None),
        ]
