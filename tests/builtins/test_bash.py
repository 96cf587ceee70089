"""Bash as the model and the user meet it: what it runs, what it tells, and where the next command starts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.builtins import bash
from mcode.builtins.bash import Bash
from mcode.builtins.bash_report import report, report_aside
from mcode.call import Call, FailureKind
from mcode.process import run
from mcode.process.environment import child_environment
from mcode.process.output import Captured, Shown
from mcode.process.run import ProcessResult
from mcode.process.tree import end_all_children
from mcode.tool import Effect, ToolResult, Workspace
from tests.children import is_alive, no_process_left, open_descriptors, wait_until
from tests.waiting import let_pass

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from mcode.tool import Question


@pytest.fixture(autouse=True)
def _nothing_left() -> Generator[None]:
    with no_process_left():
        yield


@dataclass
class Services:
    """What a body may use, kept in memory."""

    workspace: Workspace
    files: Path
    call: Call = field(default_factory=lambda: Call("toolu_1", "Bash", {}))
    lines: list[str] = field(default_factory=list[str])

    def progress(self, line: str) -> None:
        self.lines.append(line)

    def spill_path(self, suffix: str) -> Path:
        return self.files / f"output{suffix}"

    async def note_left(self, path: Path, new: bytes) -> None:
        """Nothing is undone here."""

    async def keep_bytes(self, path: Path, old: bytes | None, mode: int | None) -> None:
        raise AssertionError("Bash keeps nothing")

    async def ask(self, questions: Sequence[Question]) -> None:
        raise AssertionError("Bash asks nothing")


@dataclass
class Terminal:
    """A workspace and the tool in it."""

    services: Services
    tool: Bash

    async def run(self, command: str, **arguments: Any) -> ToolResult:
        return await self.tool.run({"command": command, **arguments}, self.services)

    @property
    def root(self) -> Path:
        return self.services.workspace.start

    @property
    def current(self) -> Path:
        return self.services.workspace.current


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    root, files = (tmp_path / "w").resolve(), tmp_path / "files"
    root.mkdir()
    files.mkdir()
    services = Services(Workspace(root), files)
    return Terminal(services, Bash(lambda _: child_environment(os.environ)))


# --- what it is


def test_what_the_tool_declares() -> None:
    tool = Bash(lambda _: {})
    assert tool.name == "Bash"
    assert tool.effects == {Effect.RUNS_COMMANDS}
    assert not tool.read_only
    assert set(tool.input_schema["properties"]) == {
        "command",
        "description",
        "timeout",
        "run_in_background",
    }
    assert tool.input_schema["required"] == ["command"]
    assert "millisecond" in tool.description
    assert len(tool.description) < 950


async def test_the_whole_command_is_shown_and_judged() -> None:
    tool, workspace = Bash(lambda _: {}), Workspace(Path("/w"))
    command = "make all\nrm -rf build"
    preview = await tool.preview({"command": command, "description": "harmless"}, workspace)
    assert (preview.title, preview.body) == ("make all …", command)
    assert (await tool.preview({"command": "ls"}, workspace)).title == "ls"
    assert (await tool.preview({"command": " \n"}, workspace)).body == " \n"
    access = tool.access({"command": command}, workspace)
    assert (access.command, access.reads, access.writes) == (command, (), ())


# --- B-01: a fresh process, and the directory


async def test_b_01_only_the_directory_carries_over(terminal: Terminal) -> None:
    (terminal.root / "sub").mkdir()
    assert (await terminal.run("ls() { echo X; }; alias x=y; export A=1; cd sub")).text == "(no output)"
    assert terminal.current == terminal.root / "sub"
    assert (await terminal.run("type -t ls; echo $A; pwd; alias")).text == f"file\n\n{terminal.root}/sub"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_b_01_bash_gets_exactly_the_text_and_no_start_file(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("echo started\n")
    (tmp_path / ".bash_profile").write_text("echo started\n")
    environment = child_environment({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    terminal.tool = Bash(lambda _: environment)
    text = "tr '\\0' '\\n' < /proc/$$/cmdline; echo $-; shopt -q login_shell || echo no login"
    result = await terminal.run(text)
    _, *arguments = result.text.splitlines()
    assert arguments[:4] == ["--noprofile", "--norc", "-c", text]
    assert arguments[4:] == ["hBc", "no login"]


async def test_b_01_the_command_sees_nothing_of_how_its_directory_is_read(terminal: Terminal) -> None:
    names = {
        line.partition("=")[0] for line in (await terminal.run("env; export -p")).data["stdout"].splitlines()
    }
    assert not any("BASH_ENV" in name or "MCODE_BASH" in name or "MCODE_DIRECTORY" in name for name in names)
    assert (await terminal.run("echo $LINENO; false; echo $?")).text == "1\n1"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cd sub; exit 3", 3),
        ("set -e; cd sub; false; echo never", 1),
        ("set -eux; cd sub", 0),
        ("cd sub; pwd() { echo /; }; builtin() { echo /; }; exit 0", 0),
        ("cd sub; no-such-command", 127),
        ("cd sub && (cd /; exit 1) || (exit 5)", 5),
        ("cd sub; kill $$", 143),
    ],
)
async def test_b_01_the_directory_is_read_however_the_text_ends(
    text: str, code: int, terminal: Terminal
) -> None:
    (terminal.root / "sub").mkdir()
    result = await terminal.run(text)
    assert result.data["exit_code"] == code
    assert terminal.current in {terminal.root / "sub", terminal.root if "builtin()" in text else Path()}
    assert result.data["stderr"].count("pwd") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_b_01_a_text_that_closes_the_descriptor_keeps_its_exit_code(terminal: Terminal) -> None:
    close = 'for fd in /proc/$$/fd/*; do n=${fd##*/}; if [ $n -gt 2 ]; then eval "exec $n>&-"; fi; done'
    result = await terminal.run(f"set -e; {close}; cd /usr; echo closed")
    assert (result.text, result.notes) == ("closed", ())
    assert terminal.current == terminal.root


async def test_b_01_an_exit_trap_of_the_text_itself_runs_and_the_directory_then_stays(
    terminal: Terminal,
) -> None:
    (terminal.root / "sub").mkdir()
    result = await terminal.run("trap 'echo bye' EXIT; cd sub; exec 2>&1; (echo inner)")
    assert result.text == "inner\nbye"
    assert terminal.current == terminal.root
    assert (await terminal.run("cd sub; exec echo replaced")).text == "replaced"
    assert terminal.current == terminal.root


async def test_b_01_a_directory_outside_the_workspace_is_not_kept(terminal: Terminal) -> None:
    (terminal.root / "sub").mkdir()
    (terminal.root / "door").symlink_to("/usr")
    await terminal.run("cd sub")
    for text in ("cd /usr", "cd ../door", "cd ../.."):
        result = await terminal.run(text)
        assert terminal.current == terminal.root
        assert "outside the workspace" in result.notes[0]
        assert f"the next one starts in {terminal.root}" in result.notes[0]
        await terminal.run("cd sub")


async def test_b_01_an_additional_directory_is_inside(terminal: Terminal, tmp_path: Path) -> None:
    extra = (tmp_path / "extra").resolve()
    (extra / "deep").mkdir(parents=True)
    (tmp_path / "w2").mkdir()
    terminal.services.workspace.additional = (extra,)
    assert (await terminal.run(f"cd {extra}/deep")).notes == ()
    assert terminal.current == extra / "deep"
    assert (await terminal.run(f"cd {tmp_path}/w2")).notes != ()


async def test_b_01_what_a_command_writes_to_the_descriptor_is_only_a_claim(terminal: Terminal) -> None:
    forged = "for fd in /proc/$$/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && echo /usr >&$n; done 2>/dev/null; kill -9 $$"
    result = await terminal.run(forged)
    assert terminal.current == terminal.root
    assert result.failure is FailureKind.TOOL_ERROR


# --- B-03, B-04: ends


async def test_b_03_the_result_says_what_still_runs(terminal: Terminal) -> None:
    result = await terminal.run("sleep 60 & sleep 60 & echo hi")
    assert result.text == "hi"
    assert result.failure is None
    assert result.notes[0].startswith("2 processes still running")
    await end_all_children()


async def test_b_03_a_background_child_without_pipes_delays_nothing_at_all(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "AFTER_END", 60.0)
    result = await terminal.run("sleep 60 >/dev/null 2>&1 & cd .")
    assert result.notes[0].startswith("1 process still running")
    await end_all_children()


async def test_b_04_a_time_limit_is_said_with_the_output_so_far(terminal: Terminal) -> None:
    task = asyncio.create_task(terminal.run("echo working; touch begun; sleep 60", timeout=50_000))
    assert await asyncio.to_thread(wait_until, (terminal.root / "begun").exists)
    let_pass(50)
    result = await task
    assert result.failure is FailureKind.TIMEOUT
    assert result.text.startswith("working\n")
    assert "timed out after 50 s" in result.text
    assert result.summary == "timed out after 50 s"
    assert result.data["timed_out"] is True
    assert result.data["exit_code"] == 143
    assert result.data["stdout"] == "working\n"


async def test_b_04_an_interrupted_command_hands_over_what_there_is(terminal: Terminal) -> None:
    task = asyncio.create_task(terminal.run("echo working; touch begun; sleep 60"))
    assert await asyncio.to_thread(wait_until, (terminal.root / "begun").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    (result,) = caught.value.args
    assert isinstance(result, ToolResult)
    assert result.failure is FailureKind.CANCELLED
    assert result.text.startswith("working\n\nInterrupted after")
    assert result.data["interrupted"] is True


async def test_b_04_what_an_asked_command_left_is_ended_with_mcode(terminal: Terminal) -> None:
    result = await terminal.run("nohup sleep 60 >/dev/null 2>&1 & echo $!")
    assert "still running" in result.notes[0]
    assert is_alive(int(result.text))
    await end_all_children()
    assert not is_alive(int(result.text))


@pytest.mark.parametrize("text", ["cat", "read x; echo got $?", "git commit --allow-empty", "python3"])
async def test_b_06_nothing_waits_for_input(text: str, terminal: Terminal) -> None:
    subprocess.run(["git", "init", "-q", str(terminal.root)], check=True)
    result = await terminal.run(text, timeout=60_000)
    assert not result.data["timed_out"]


# --- B-07: output


async def test_b_07_long_output_is_cut_in_the_middle_and_whole_in_a_file(terminal: Terminal) -> None:
    result = await terminal.run("seq 200000")
    assert len(result.text) <= 30_000
    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("\n199999\n200000")
    file = terminal.services.files / "output.txt"
    assert result.spill == file
    lines = result.text.splitlines()
    (cut,) = (number for number, line in enumerate(lines) if line.startswith("[… "))
    assert lines[cut].endswith(f" bytes left out; the whole output is in {file} …]")
    left_out = int(lines[cut].split()[1].replace(",", ""))
    missing = range(int(lines[cut - 1]) + 1, int(lines[cut + 1]))
    assert abs(left_out - sum(len(str(number)) + 1 for number in missing)) <= 2
    assert file.read_text() == result.data["stdout"]


@pytest.mark.parametrize("text", ["head -c 5000000 /dev/zero | tr '\\0' x", "head -c 1000000 /dev/urandom"])
async def test_b_07_whatever_is_printed_the_text_stays_within_its_limit(
    text: str, terminal: Terminal
) -> None:
    result = await terminal.run(text)
    assert len(result.text) + sum(map(len, result.notes)) <= 30_000
    assert "\0" not in result.text
    assert str(result.spill) in result.text or "line cut" in result.text


async def test_b_07_a_smaller_limit_of_the_user_is_kept(terminal: Terminal) -> None:
    terminal.tool = Bash(lambda _: child_environment(os.environ), output_limit=1000)
    result = await terminal.run("seq 10000; exit 1")
    assert len(result.text) <= 1000
    assert result.text.endswith(" s.")
    assert result.spill is not None
    assert "Exit code 1" in result.text


async def test_b_07_a_stream_of_16_mb_is_whole_and_a_longer_one_says_that_it_is_not(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bash, "DATA_LIMIT", 2_000_000)
    assert len((await terminal.run("head -c 2000000 /dev/zero | tr '\\0' x")).data["stdout"]) == 2_000_000
    result = await terminal.run("head -c 2000001 /dev/zero | tr '\\0' x; echo err >&2")
    assert "[… cut: 2,000,001 bytes in all; stdout and stderr are in" in result.data["stdout"]
    assert result.data["stderr"] == "err\n"
    assert any("only the beginning of stdout" in note for note in result.notes)


async def test_b_07_the_last_line_is_shown_while_the_command_runs(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bash, "_PROGRESS_PAUSE", 0.0)
    wait = "until [ -e {} ]; do sleep 0.02; done"
    command = f"echo one; {wait.format('a')}; printf '10%%\\r20%%'; {wait.format('b')}; echo; echo three"
    running = asyncio.create_task(terminal.run(command))
    for line, gate in (("one", "a"), ("20%", "b")):
        assert await asyncio.to_thread(wait_until, lambda line=line: line in terminal.services.lines)
        (terminal.root / gate).touch()
    await running
    assert terminal.services.lines[-1] == "three"
    assert set(terminal.services.lines) <= {"one", "20%", "three"}


async def test_b_07_progress_is_shown_ten_times_a_second_at_most(terminal: Terminal) -> None:
    began = time.monotonic()
    await terminal.run("for i in $(seq 100); do echo $i; sleep 0.002; done")
    assert 1 <= len(terminal.services.lines) <= (time.monotonic() - began) * 10 + 2


async def test_t_06_the_model_gets_no_control_sequences_and_programs_get_them_all(terminal: Terminal) -> None:
    result = await terminal.run(r"printf '\033[31mred\033[0m \033]0;title\007 x\010y\n'")
    assert "\x1b" not in result.text
    assert "\x07" not in result.text
    assert result.text.startswith("red")
    assert result.data["stdout"] == "\x1b[31mred\x1b[0m \x1b]0;title\x07 x\x08y\n"


async def test_b_07_bytes_that_are_not_text_are_counted(terminal: Terminal) -> None:
    result = await terminal.run(r"printf 'a\377\376b\n'")
    assert result.text == "a\ufffd\ufffdb"
    assert "2 byte(s)" in result.notes[0]


# --- B-08: how it ended


async def test_b_08_exit_codes_are_results_and_plain_success_is_silent(terminal: Terminal) -> None:
    good = await terminal.run("echo fine; echo also >&2")
    assert (good.text, good.summary, good.failure) == ("fine\nalso", "exit 0", None)
    assert good.data == {
        "stdout": "fine\n",
        "stderr": "also\n",
        "exit_code": 0,
        "timed_out": False,
        "interrupted": False,
        "isImage": False,
    }
    bad = await terminal.run("echo no; exit 7")
    assert bad.text.startswith("no\n\nExit code 7 after 0.")
    assert (bad.summary, bad.failure, bad.data["exit_code"]) == ("exit 7", None, 7)
    assert (await terminal.run("true")).text == "(no output)"
    assert (await terminal.run("exit 1")).text.startswith("(no output)\n\nExit code 1")


async def test_b_08_a_signal_is_named_and_is_no_success(terminal: Terminal) -> None:
    result = await terminal.run("echo partly; kill -SEGV $$")
    assert "Killed by SIGSEGV after" in result.text
    assert (result.summary, result.failure) == ("killed by SIGSEGV", FailureKind.TOOL_ERROR)
    assert (result.data["exit_code"], result.data["stdout"]) == (139, "partly\n")
    inner = await terminal.run("sh -c 'kill -9 $$'")
    assert "Exit code 137 (128 + SIGKILL)" in inner.text


# --- B-09: the directory goes away


async def test_b_09_a_directory_deleted_between_commands_is_reported(terminal: Terminal) -> None:
    (terminal.root / "sub").mkdir()
    await terminal.run("cd sub")
    (terminal.root / "sub").rmdir()
    result = await terminal.run("pwd")
    assert result.text == str(terminal.root)
    assert (
        result.notes[0]
        == f"The directory {terminal.root}/sub no longer exists; this command ran in {terminal.root}."
    )
    assert (await terminal.run("pwd")).notes == ()


async def test_b_09_a_directory_deleted_by_the_command_itself_is_reported(terminal: Terminal) -> None:
    result = await terminal.run("set -e; mkdir sub; cd sub; rmdir ../sub")
    assert (result.text, result.data["exit_code"]) == ("(no output)", 0)
    assert "a directory that is gone" in result.notes[0]
    assert terminal.current == terminal.root


async def test_b_09_without_a_start_directory_nothing_is_run(terminal: Terminal) -> None:
    terminal.root.rmdir()
    result = await terminal.run("echo hi")
    assert result.failure is FailureKind.TOOL_ERROR
    assert str(terminal.root) in result.text
    assert result.text.endswith("Nothing was run.")


# --- what cannot be run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo a\0b", "NUL"),
        ("echo \ud800", "surrogate"),
        ("echo " + "x" * 3_000_000, "3000005 bytes"),
    ],
)
async def test_a_text_that_the_system_cannot_take_is_refused_in_words(
    text: str, said: str, terminal: Terminal
) -> None:
    result = await terminal.run(text)
    assert result.failure is FailureKind.TOOL_ERROR
    assert said in result.text
    assert result.text.endswith("Nothing was run.")


async def test_each_call_gets_the_environment_that_is_meant_for_it(terminal: Terminal) -> None:
    asked: list[str] = []

    def environment(call: Call) -> dict[str, str]:
        asked.append(call.id)
        return child_environment(os.environ, {"EXTRA": "given"})

    terminal.tool = Bash(environment)
    assert (await terminal.run("echo $EXTRA $MCODE")).text == "given 1"
    assert asked == ["toolu_1"]


async def test_l_02_a_child_that_gets_no_memory_says_so_and_the_next_one_runs(terminal: Terminal) -> None:
    result = await terminal.run(
        "ulimit -v 60000; head -c 200000000 /dev/zero | tail -c 199999999 | wc -c; exit ${PIPESTATUS[1]}"
    )
    assert "memory exhausted" in result.text
    assert "Exit code 1" in result.text
    assert (await terminal.run("echo on we go")).text == "on we go"


async def test_l_02_descriptors_return_to_their_number_after_every_kind_of_end(terminal: Terminal) -> None:
    await terminal.run("true")
    before = open_descriptors()
    await terminal.run("seq 100000")
    await terminal.run("sleep 60", timeout=50)
    await terminal.run("echo a\0b")
    task = asyncio.create_task(terminal.run("sleep 60"))
    await asyncio.sleep(0.05)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(wait_until, lambda: open_descriptors() <= before)


async def test_l_03_long_output_is_cleaned_beside_the_event_loop_and_told_though_cancelled() -> None:
    shown = Shown(head="\x1b[31m\u0301x" * 5_000)
    nothing = Captured(b"", 0)
    ended = ProcessResult(0, None, nothing, nothing, False, False, 0.1, 0, shown=shown)
    whole = await report_aside(ended, 1, 30_000)
    assert whole == report(ended, 1, 30_000)
    task = asyncio.create_task(report_aside(ended, 1, 30_000))
    await asyncio.sleep(0)
    assert not task.done(), "the loop went on meanwhile"
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value.args == (whole,)
