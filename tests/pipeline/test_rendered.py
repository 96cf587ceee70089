"""What is let run unasked runs as it was understood; what the user approved runs as it was shown."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from mcode.call import Status
from mcode.events import ApprovalRequested
from tests.stage import stage, turns, use
from tools.guard_cases import Scratch, cases

if TYPE_CHECKING:
    from pathlib import Path


def project_of(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src/a.py").write_text("def main(): ...\n")
    return project


async def test_p_09_an_unasked_line_runs_as_its_rendering_and_everything_after_tells_that(
    tmp_path: Path,
) -> None:
    project = project_of(tmp_path)
    hook = {"type": "command", "command": "cat > heard.json"}
    settings = {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}
    given = 'ls\t  "src" ; echo \'a\'"b"  # list'
    rendering = 'ls "src"; echo ab'
    async with stage(tmp_path, turns(use("Bash", "b1", command=given), "Done."), settings=settings) as here:
        await here.say("look")
        outcome = here.result()
        assert outcome.status is Status.OK
        assert here.of(ApprovalRequested) == []
        assert outcome.call.arguments["command"] == rendering
        assert outcome.full_text.split()[:2] == ["a.py", "ab"]
        assert f"run as `{rendering}`" in outcome.decision
        started = next(record for record in here.journal if record["type"] == "call_started")
        assert started["body"]["arguments"]["command"] == rendering
        assert json.loads((project / "heard.json").read_text())["tool_input"]["command"] == rendering


async def test_p_12_a_reading_run_of_git_is_shown_with_what_keeps_it_inert(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    async with stage(tmp_path, turns(use("Bash", command="git status --short"), "Done.")) as here:
        await here.say("status")
        assert here.result().status is Status.OK
        assert "?? src/" in here.result().text
        assert "core.fsmonitor=false" in here.result().decision


async def test_p_09_an_approved_line_runs_byte_for_byte_as_it_was_shown(tmp_path: Path) -> None:
    project_of(tmp_path)
    line = "printf  '%s'   \"$((1 + 1))\" ;"
    async with stage(tmp_path, turns(use("Bash", command=line), "Done.")) as here:
        here.answer("once")
        await here.say("count")
        assert here.result().call.arguments["command"] == line
        assert here.result().full_text.startswith("2")
        assert here.result().decision == "approved by you"


async def test_k_04_the_model_is_told_what_a_search_left_out(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    (project / ".env").write_text("KEY=1\n")
    (project / "src/b.py").write_text("KEY = 2\n")
    async with stage(tmp_path, turns(use("Bash", command="grep -rn KEY ."), "Done.")) as here:
        await here.say("search")
        assert "src/b.py" in here.result().text
        assert "KEY=1" not in here.result().text
        assert "were left out of the search" in here.result().text


async def test_the_model_is_told_what_git_was_not_let_show(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    (project / ".env").write_text("KEY=1\n")
    for command in ("init -q", "add -f .env src"):
        subprocess.run(["git", *command.split()], cwd=project, check=True)
    for name in (".env", "src/a.py"):
        (project / name).write_text("KEY=2\n")
    async with stage(tmp_path, turns(use("Bash", command="git diff"), "Done.")) as here:
        await here.say("what is new")
        assert here.result().status is Status.OK
        assert here.result().text.count("+KEY=2") == 1
        assert "src/a.py" in here.result().text
        assert (
            "Left out, since reading it asks or is denied (name it to be asked): .env" in here.result().text
        )


async def test_p_14_one_answer_keeps_a_rule_for_each_part(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    script = turns(use("Bash", command="printf one && basename two | head -1"), "Done.")
    async with stage(tmp_path, script) as here:
        here.answer("always")
        await here.say("go")
    kept = json.loads((project / ".mcode/settings.local.json").read_text())["permissions"]["allow"]
    assert kept == ["Bash(printf one)", "Bash(basename two)"]
    async with stage(tmp_path, script) as here:
        await here.say("go")
        assert here.result().status is Status.OK
        assert here.of(ApprovalRequested) == []


async def test_p_01_from_a_program_no_hostile_line_runs_either(tmp_path: Path) -> None:
    """The third run of the list: every line sent as `tools.Bash`, with nobody there to ask."""
    project = project_of(tmp_path)
    Scratch(tmp_path).folder.rename(tmp_path / "filled")
    for entry in (tmp_path / "filled").iterdir():
        if not (project / entry.name).exists():
            entry.rename(project / entry.name)
    lines = [case.line for case in cases("hostile") if not case.setup]
    code = (
        f"let denied = 0;\nfor (const command of {json.dumps(lines)}) {{\n"
        "  const r = await tools.Bash({command});\n"
        "  if (!r.ok && r.error.kind === 'denied') denied++;\n}\nreturn denied"
    )
    settings = {"mcode": {"runCode": {"maxCalls": 1_000}}}
    async with stage(tmp_path, turns(use("run_code", code=code), "Done."), settings=settings) as here:
        await here.say("go")
        inner = [outcome for outcome in here.outcomes if outcome.call.parent is not None]
        assert [outcome.call.arguments["command"] for outcome in inner] == lines
        assert {outcome.status for outcome in inner} == {Status.DENIED}
    assert not (project / "PWN").exists()
