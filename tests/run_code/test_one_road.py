"""One road: a call of a program and the same call made directly leave the same in every place but the parent."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from mcode.call import Status
from mcode.events import ApprovalRequested, HookRan, ToolStarted
from mcode.tool import Placement
from tests.run_code.sessions import hook_script, noted, project, result_of, session
from tests.stage import use
from tests.waiting import until

if TYPE_CHECKING:
    from tests.stage import Stage

OFFICE = Path(__file__).with_name("office_server.py")
MCP = "mcp__office__get_custom_budget"

CELL: dict[str, Any] = {"cell_type": "code", "id": "c1", "metadata": {}, "source": ["1"], "outputs": []}
NOTEBOOK: dict[str, Any] = {"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}

DIRECT: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "a.txt"},
    "Write": {"file_path": "new.txt", "content": "text\n"},
    "Edit": {"file_path": "a.txt", "old_string": "two", "new_string": "2"},
    "Glob": {"pattern": "*.txt"},
    "Grep": {"pattern": "two", "output_mode": "content"},
    "Bash": {"command": "echo out; touch made; echo err >&2"},
    "MemoryNote": {"note": "Use tabs."},
    "NotebookEdit": {"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "2"},
    "TaskOutput": {"task_id": "b7"},
    "TaskStop": {"task_id": "b7"},
    "WebFetch": {"url": "http://127.0.0.1:9/nothing"},
    "ListMcpResourcesTool": {},
    "ReadMcpResourceTool": {"server": "office", "uri": "office://rules"},
    MCP: {"employee_id": "e09"},
}
"""A call of every tool that programs may call, and of a server's."""

OF_SERVERS = {MCP, "ListMcpResourcesTool", "ReadMcpResourceTool"}
"""Tools that are there with a server."""

BEFORE = {"NotebookEdit": ("Read", {"file_path": "n.ipynb"})}
"""What has to be read first, where it is not a.txt."""

EXPECTED_VALUES = {
    "Read": {"text": "one\ntwo\n", "lines": 2, "total_lines": 2, "truncated": False},
    "Write": {"added": 1, "removed": 0},
    "Edit": {"added": 1, "removed": 1},
    "Glob": ["a.txt"],
    "Grep": [{"path": "a.txt", "line": 2, "text": "two"}],
    "Bash": {"stdout": "out\n", "stderr": "err\n", "exit_code": 0, "timed_out": False},
    "ReadMcpResourceTool": {"text": "[resource office://rules]\nTravel by train.\n"},
    MCP: {"travel": 6900},
}
"""What the program gets as `value`."""


HOOKED = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PermissionDenied")


async def connect(here: Stage) -> None:
    pool = here.bench.pool
    pool.start()
    await until(lambda: pool.statuses()[0].tools)


async def traces(
    directory: Path,
    tool: str,
    *,
    answer: str = "once",
    settings: dict[str, Any] | None = None,
    hook: str = "",
) -> tuple[list[Any], list[Any], Any]:
    """What a call leaves that was made directly, the same of one that a program made, and what the program got.

    `hook`: what every hook does with its input.
    """
    arguments = DIRECT[tool]
    first, given = BEFORE.get(tool, ("Read", {"file_path": "a.txt"}))
    code = (
        f"await tools.{first}({json.dumps(given)});\n"
        f"const r = await tools.{tool}({json.dumps(arguments)});\n"
        "return r.ok ? r.value : r.error.kind"
    )
    found: list[list[Any]] = []
    value: Any = None
    for kind, replies in (
        ("direct", [use(first, "r0", **given), use(tool, "toolu_direct", **arguments)]),
        ("program", [code]),
    ):
        place = directory / "run"
        project_of(place, server=tool in OF_SERVERS)
        hooks = [
            {"matcher": "*", "hooks": [{"type": "command", "command": hook_script(place, "hook", hook)}]}
        ]
        every = {
            "hooks": dict.fromkeys(HOOKED, hooks),
            "mcode": {"toolSearch": "never", "placement": dict.fromkeys(DIRECT, "resident")},
            **(settings or {}),
        }
        async with session(place, *replies, settings=every) as here:
            if tool in OF_SERVERS:
                await connect(here)
            here.answer(answer)
            await here.say("go")
            if kind == "program":
                shown = result_of(here).partition("\n\n")[2]
                value = json.loads(shown) if shown[:1] in {"{", "["} else shown
            if any(
                each.status is Status.DENIED for each in here.outcomes
            ):  # its hook is waited for by nobody
                await until(lambda: any(event.event == "PermissionDenied" for event in here.of(HookRan)))
            found.append(trace_of(here, tool, place))
        shutil.rmtree(place)
    return found[0], found[1], value


@pytest.mark.parametrize("tool", DIRECT)
async def test_one_road_a_direct_call_and_a_program_s_call_differ_in_nothing_but_the_parent(
    tmp_path: Path, tool: str
) -> None:
    direct, nested, value = await traces(tmp_path, tool)
    assert direct == nested
    expected = EXPECTED_VALUES.get(tool, value)
    if isinstance(expected, dict):
        assert {key: value[key] for key in expected} == expected
    else:
        assert value == expected


DENY = (
    "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny'}}))"
)

DENIALS: dict[str, dict[str, Any]] = {
    "by the user": {"answer": "deny"},
    "by a rule": {"settings": {"permissions": {"deny": ["Edit(new.txt)"]}}},
    "by a mode": {"settings": {"permissions": {"defaultMode": "plan"}}},
    "by a hook": {"hook": f"if given['tool_name'] == 'Write': {DENY}"},
}


@pytest.mark.parametrize("way", DENIALS)
async def test_one_road_a_denial_is_the_same_too(tmp_path: Path, way: str) -> None:
    direct, nested, value = await traces(tmp_path, "Write", **DENIALS[way])
    assert direct == nested
    assert value == ("hook_denied" if way == "by a hook" else "denied")


async def test_one_road_every_tool_that_programs_may_call_is_compared(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    project_of(directory, server=True)
    async with session(directory) as here:
        await connect(here)
        await until(lambda: here.agent.catalog.find("ReadMcpResourceTool"))
        callable_ones = {
            tool.name
            for tool in here.agent.catalog
            if tool.placement is not Placement.TOP_LEVEL_ONLY and tool.source == "core"
        }
        assert callable_ones == set(DIRECT) - {MCP}


def project_of(directory: Path, *, server: bool) -> Path:
    directory.mkdir()
    root = project(directory, a_txt="one\ntwo\n", n_ipynb=json.dumps(NOTEBOOK))
    if server:
        state = directory / "home" / ".mcode"
        state.mkdir(parents=True)
        entry = {"command": sys.executable, "args": [str(OFFICE)]}
        (state / "mcp.json").write_text(json.dumps({"mcpServers": {"office": entry}}))
    return root


def trace_of(here: Stage, tool: str, directory: Path) -> list[Any]:
    """All that one tool's call left: events, hooks, questions, verdict, journal, undo and result, without ids."""
    own = [event for event in here.of(ToolStarted) if event.call.tool == tool]
    identifier = own[-1].call.id
    outcome = next(each for each in here.outcomes if each.call.id == identifier)
    asked = [event for event in here.of(ApprovalRequested) if event.call.id == identifier]
    verdicts = [
        json.loads(line) for line in (here.bench.places.logs / "verdicts.jsonl").read_text().splitlines()
    ]
    verdict = next(line for line in verdicts if line["call"] == identifier)
    body: Any = [
        [own[-1].preview, own[-1].source],
        [(event.preview, event.reason, event.digest, event.directory, _shared(event)) for event in asked],
        [(r["type"], r["body"]) for r in here.journal if r["body"].get("id") == identifier],
        [
            given
            for given in noted(directory, "hook")
            if given.get("tool_use_id", identifier) == identifier and given["tool_name"] == tool
        ],
        [event.outcome for event in here.of(HookRan) if event.call_id == identifier],
        verdict,
        [
            (entry.path, entry.old, entry.new)
            for entry in here.agent.session.undo.entries()
            if entry.call_id == identifier
        ],
        [outcome.status, outcome.text, outcome.data, outcome.summary, outcome.diff, outcome.decision],
        [outcome.failure, outcome.restorations, outcome.rewritten, outcome.hooks, outcome.notes],
    ]
    text = json.dumps(body, default=str, sort_keys=True)
    for given, neutral in (
        (identifier, "ID"),
        (str(directory), "DIRECTORY"),
        (here.agent.session.id, "SESSION"),
        ('"parent": "prog", ', ""),
        ('"parent": null, ', ""),
        ('"parent_tool_use_id": "prog", ', ""),
        ('"program"', '"ORIGIN"'),
        ('"model"', '"ORIGIN"'),
    ):
        text = text.replace(given, neutral)
    return _without_times(json.loads(text))


def _shared(event: ApprovalRequested) -> list[Any]:
    """The choices of an approval; what only programs offer is left out."""
    return [
        (each.key, each.rule, each.destination)
        for each in event.choices
        if each.key not in {"program", "stop"}
    ]


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        skipped = {"time", "duration_ms", "waited_ms", "duration", "ms", "prompt_id"}
        entries = cast("dict[str, Any]", value)
        return {key: _without_times(item) for key, item in entries.items() if key not in skipped}
    return [_without_times(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value
