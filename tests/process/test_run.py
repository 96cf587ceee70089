"""Child processes as Bash and hooks run them: real shells, real signals, real floods."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcode.process import output, run, tree
from mcode.process.environment import child_environment, find_program, without_model_keys
from mcode.process.lines import LINE_LIMIT, HeadAndTail, LineShaper, without_broken_end, without_broken_start
from mcode.process.run import ProcessResult, ProcessSpec, run_process
from mcode.process.table import snapshot
from mcode.process.tree import end_all_children
from tests.children import is_alive, living, no_process_left, open_descriptors, wait_until
from tests.heart import heart
from tests.waiting import let_pass

if TYPE_CHECKING:
    from collections.abc import Generator

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part of this is Linux'")
ENVIRONMENT = child_environment(os.environ)


@pytest.fixture(autouse=True)
def _nothing_left() -> Generator[None]:
    with no_process_left():
        yield


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path


async def shell(text: str, cwd: Path, **changes: Any) -> ProcessResult:
    argv = ("bash", "--noprofile", "--norc", "-c", text)
    changes.setdefault("shown_limit", 30_000)
    return await run_process(ProcessSpec(argv, cwd, ENVIRONMENT, **changes))


def pid_in(file: Path) -> int:
    assert wait_until(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


# --- environment


def test_b_02_only_listed_variables_reach_a_command() -> None:
    source = {
        "PATH": "/usr/bin::relative:./here:/bin:",
        "HOME": "/h",
        "USER": "u",
        "LANG": "C",
        "LC_ALL": "C",
        "TZ": "UTC",
        "TMPDIR": "/t",
        "TERM": "xterm",
        "PAGER": "less",
        "SECRET_TOKEN": "x",
        "BASH_ENV": "/evil",
        "BASH_FUNC_ls%%": "() { :; }",
        "LD_PRELOAD": "/evil.so",
    }
    built = child_environment(source)
    assert built["PATH"] == "/usr/bin:/bin"
    assert {name: built[name] for name in ("HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")} == {
        "HOME": "/h",
        "USER": "u",
        "LANG": "C",
        "LC_ALL": "C",
        "TZ": "UTC",
        "TMPDIR": "/t",
    }
    for name in ("PAGER", "GIT_PAGER", "MANPAGER"):
        assert built[name] == "cat"
    for name in ("GIT_EDITOR", "EDITOR", "VISUAL"):
        assert built[name] == "true"
    assert built["TERM"] == "dumb"
    assert (built["GIT_TERMINAL_PROMPT"], built["NO_COLOR"], built["MCODE"]) == ("0", "1", "1")
    assert not {"SECRET_TOKEN", "BASH_ENV", "BASH_FUNC_ls%%", "LD_PRELOAD"} & built.keys()


def test_b_02_what_the_user_lists_is_passed_but_nothing_that_changes_the_shell() -> None:
    extra = {
        "DATABASE": "d",
        "PAGER": "less",
        **dict.fromkeys(("ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "CDPATH"), "x"),
        **dict.fromkeys(("GLOBIGNORE", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_FUNC_x%%"), "x"),
    }
    built = child_environment({}, extra)
    assert built["DATABASE"] == "d"
    assert built["PAGER"] == "cat"
    assert not (extra.keys() - {"DATABASE", "PAGER"}) & built.keys()
    assert built["PATH"] == "/usr/local/bin:/usr/bin:/bin"


def test_k_03_the_models_keys_reach_no_child_under_any_name() -> None:
    key = "key-" + "0123456789abcdef"
    source = {"ANTHROPIC_API_KEY": "other", "LANG": key, "HOME": "/h"}
    assert (
        child_environment(source, {"MINE": f"Bearer {key}", "ANTHROPIC_AUTH_TOKEN": "t"}, keys=[key])
        .keys()
        .isdisjoint({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "LANG", "MINE"})
    )
    kept = without_model_keys({**source, "ANYTHING": "goes"}, keys=[key])
    assert kept == {"HOME": "/h", "ANYTHING": "goes"}


def test_k_03_headers_of_the_users_own_may_hold_a_key_and_reach_no_child() -> None:
    headers = {"ANTHROPIC_CUSTOM_HEADERS": "X-Api-Key: " + "gateway" + "0123456789"}
    assert headers.keys().isdisjoint(child_environment(headers, headers))
    assert without_model_keys({**headers, "HOME": "/h"}) == {"HOME": "/h"}


def test_w_06_a_program_inside_the_workspace_is_passed_over(here: Path) -> None:
    outside, inside, linked = here / "outside", here / "work" / "bin", here / "linked"
    for directory in (outside, inside, linked):
        directory.mkdir(parents=True)
    for program in (outside / "tool", inside / "tool"):
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (linked / "tool").symlink_to(inside / "tool")
    path = f".:{inside}:{linked}:{outside}"
    assert find_program("tool", path, [here / "work"]) == outside / "tool"
    assert find_program("tool", f"{inside}", [here / "work"]) is None
    assert find_program("tool", path) == inside / "tool"


# --- how a process is started


async def test_b_06_a_command_that_reads_gets_end_of_file(here: Path) -> None:
    result = await shell("cat; read x; echo $?; python3 || true", here, timeout=10)
    assert (result.exit_code, result.stdout.text) == (0, "1\n")


async def test_b_06_there_is_no_terminal_to_ask_on(here: Path) -> None:
    result = await shell("echo hello > /dev/tty", here)
    assert result.exit_code == 1
    assert "/dev/tty" in result.stderr.text


async def test_given_input_is_read_whole_or_ignored(here: Path) -> None:
    data = b"0123456789" * 100_000
    assert (await shell("wc -c", here, stdin=data)).stdout.text.strip() == "1000000"
    assert (await shell("head -c 3", here, stdin=data)).stdout.text == "012"
    assert (await shell("exit 4", here, stdin=data)).exit_code == 4


@LINUX
async def test_b_10_no_descriptor_but_the_three_and_the_extra_one_is_inherited(here: Path) -> None:
    leak = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leak, True)
    try:
        result = await shell("ls /proc/$$/fd; echo $EXTRA", here, extra_variable="EXTRA")
        *descriptors, extra = result.stdout.text.split()
        assert descriptors == ["0", "1", "2", extra]
        assert (await shell("echo end >&$EXTRA", here, extra_variable="EXTRA")).extra == b"end\n"
    finally:
        os.close(leak)


@LINUX
async def test_b_10_signals_are_as_a_program_expects_them(here: Path) -> None:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    try:
        result = await shell("grep -E 'Sig(Blk|Ign)' /proc/self/status", here)
        assert signal.SIGUSR1 in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    masks = dict(line.split(":\t") for line in result.stdout.text.splitlines())
    assert int(masks["SigBlk"], 16) == 0
    assert not int(masks["SigIgn"], 16) & 1 << (signal.SIGPIPE - 1)
    assert (await shell("yes | head -n 1; echo ${PIPESTATUS[0]}", here)).stdout.text == "y\n141\n"


@LINUX
async def test_b_10_a_command_is_in_a_session_of_its_own(here: Path) -> None:
    result = await shell(f"{sys.executable} -c 'import os; print(os.getsid(0))'; echo $$", here)
    session, own = result.stdout.text.split()
    assert session == own


@pytest.mark.parametrize("argv", [("no-such-program-here",), ("./missing",), ("/no/such/program",)])
async def test_a_missing_program_is_named(argv: tuple[str, ...], here: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file") as caught:
        await run_process(ProcessSpec(argv, here, ENVIRONMENT))
    assert caught.value.filename == argv[0]


async def test_a_file_that_is_no_program_and_a_missing_directory_are_named(here: Path) -> None:
    (here / "data").write_text("x")
    with pytest.raises(PermissionError) as refused:
        await run_process(ProcessSpec(("./data",), here, ENVIRONMENT))
    assert refused.value.filename == "./data"
    with pytest.raises(FileNotFoundError) as missing:
        await run_process(ProcessSpec(("bash", "-c", ":"), here / "gone", ENVIRONMENT))
    assert missing.value.filename == str(here / "gone")


async def test_l_02_descriptors_return_to_their_number(here: Path) -> None:
    await shell("true", here)
    before = open_descriptors()
    for _ in range(5):
        await shell("echo x; echo y >&2", here, extra_variable="EXTRA", stdin=b"z")
        with pytest.raises(FileNotFoundError):
            await run_process(ProcessSpec(("no-such-program-here",), here, ENVIRONMENT))
    assert open_descriptors() <= before


@LINUX
async def test_l_02_too_many_open_files_is_an_error_and_leaks_none(here: Path) -> None:
    import resource

    await shell("true", here)
    before = open_descriptors()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 2, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            await shell("true", here)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert open_descriptors() <= before


# --- the end of a call is the end of the process


@pytest.mark.parametrize(
    "text", ["sleep 60 & echo hi", pytest.param("(setsid sleep 60 &) ; echo hi", marks=LINUX)]
)
async def test_b_03_a_background_child_that_holds_the_pipe_delays_nothing(text: str, here: Path) -> None:
    began = time.monotonic()
    result = await shell(text, here)
    assert result.stdout.text == "hi\n"
    assert result.left_running == 1
    assert time.monotonic() - began < 30
    await end_all_children()


async def test_b_03_output_that_comes_a_moment_later_is_still_read(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run.AFTER_END == 0.25
    monkeypatch.setattr(run, "AFTER_END", 5.0)  # only the end of the pipe is to end the waiting here
    monkeypatch.setattr(run, "LEAVING", 5.0)
    result = await shell("(sleep 0.1; echo late) & echo hi", here)
    assert result.stdout.text == "hi\nlate\n"
    assert result.left_running == 0


@LINUX
async def test_b_03_a_child_without_pipes_session_and_parents_is_counted(here: Path) -> None:
    daemon = "setsid sh -c 'sleep 60 & echo up > up; wait' >/dev/null 2>&1 </dev/null"
    result = await shell(f"({daemon} &) ; while [ ! -s up ]; do sleep 0.01; done; echo hi", here)
    assert result.left_running == 2
    await end_all_children()


@LINUX
async def test_b_04_the_time_limit_ends_what_ignores_sigterm_and_what_has_left_the_session(
    here: Path,
) -> None:
    text = """
    trap '' TERM
    (setsid sh -c "trap '' TERM; echo \\$\\$ > grandchild; sleep 60 & wait; sleep 60" &)
    sh -c "trap '' TERM; echo \\$\\$ > child; sleep 60; sleep 60" &
    echo started
    while [ ! -s child -o ! -s grandchild ]; do sleep 0.05; done
    touch up
    while :; do sleep 0.05; done
    """
    task = asyncio.create_task(shell(text, here, timeout=60, grace=0.4))
    assert await asyncio.to_thread(wait_until, (here / "up").exists)
    let_pass(60)
    result = await task
    assert result.timed_out
    assert result.duration < 30
    assert (result.exit_code, result.signal) == (None, "SIGKILL")
    assert result.stdout.text == "started\n"
    assert result.left_running == 0
    assert not is_alive(pid_in(here / "child"))
    assert not is_alive(pid_in(here / "grandchild"))


@LINUX
async def test_b_04_a_daemon_that_cleared_its_environment_is_known_by_the_pipe_it_holds(here: Path) -> None:
    daemon = "env -i setsid sh -c 'echo $$ > daemon; exec sleep 60'"
    result = await shell(f"({daemon} &) ; while [ ! -s daemon ]; do sleep 0.01; done", here)
    assert result.left_running == 1
    assert is_alive(pid_in(here / "daemon"))
    await end_all_children(grace=0)
    assert not is_alive(pid_in(here / "daemon"))


async def test_b_04_a_shell_that_ends_itself_on_sigterm_is_given_the_time(here: Path) -> None:
    text = "trap 'sleep 0.2; echo tidied; exit 3' TERM; echo up; touch up; while :; do sleep 0.02; done"
    task = asyncio.create_task(shell(text, here, timeout=60, grace=60))
    assert await asyncio.to_thread(wait_until, (here / "up").exists)
    let_pass(60)
    result = await task
    assert result.timed_out
    assert (result.exit_code, result.stdout.text) == (3, "up\ntidied\n")
    assert result.duration < 30


async def test_b_04_cancelling_ends_the_tree_and_hands_over_the_output_so_far(here: Path) -> None:
    task = asyncio.create_task(shell("echo begun; touch begun; sleep 60 & sleep 60", here, grace=60))
    assert await asyncio.to_thread(wait_until, (here / "begun").exists)
    before = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert time.monotonic() - before < 30
    (result,) = caught.value.args
    assert isinstance(result, ProcessResult)
    assert result.interrupted
    assert result.stdout.text == "begun\n"
    assert task.cancelled()


async def test_b_04_a_second_cancellation_does_not_wait_for_the_grace(here: Path) -> None:
    task = asyncio.create_task(
        shell("trap '' TERM; echo $$ > stubborn; while :; do sleep 0.05; done", here, grace=60)
    )
    stubborn = await asyncio.to_thread(pid_in, here / "stubborn")
    task.cancel()
    await asyncio.sleep(0.1)
    assert is_alive(stubborn)
    before = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - before < 30
    assert not is_alive(stubborn)


async def test_b_04_a_surrounding_timeout_stays_a_timeout(here: Path) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await shell("sleep 60", here)


async def test_b_04_what_a_command_left_is_ended_when_asked(here: Path) -> None:
    result = await shell("nohup sleep 60 >/dev/null 2>&1 & echo $!", here)
    left = int(result.stdout.text)
    assert result.left_running == 1
    assert is_alive(left)
    await end_all_children()
    assert not is_alive(left)


LEAVER = """
import asyncio, os, sys
from pathlib import Path
from mcode.process.environment import child_environment
from mcode.process.run import ProcessSpec, run_process
async def main():
    spec = ProcessSpec(("sh", "-c", sys.argv[1]), Path.cwd(), child_environment(os.environ))
    await run_process(spec)
    print("ran", flush=True)
asyncio.run(main())
"""


def test_b_04_what_a_command_left_dies_with_the_program(here: Path) -> None:
    text = "nohup sleep 60 >/dev/null 2>&1 & echo $! > left"
    done = subprocess.run(
        [sys.executable, "-c", LEAVER, text], cwd=here, env=with_package(), capture_output=True
    )
    assert (done.returncode, done.stdout) == (0, b"ran\n"), done.stderr
    assert wait_until(lambda: not is_alive(pid_in(here / "left")))


@LINUX
@pytest.mark.skipif(not Path("/usr/bin/setpriv").exists(), reason="needs the wrapper of util-linux")
def test_b_05_a_running_command_dies_with_a_killed_program(here: Path) -> None:
    text = "echo $$ > running; exec sleep 60"
    program = subprocess.Popen([sys.executable, "-c", LEAVER, text], cwd=here, env=with_package())
    try:
        running = pid_in(here / "running")
    finally:
        program.kill()
        program.wait()
    assert wait_until(lambda: not is_alive(running))


def with_package() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(tree.__file__).parents[2])}


# --- orphans are reaped, other people's children are not


@LINUX
async def test_ended_orphans_do_not_pile_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_ORPHAN_PATIENCE", 0.0)
    before = {entry.pid for entry in snapshot() if entry.ended}
    for _ in range(3):
        await shell("(setsid sh -c 'sleep 0.01' & sleep 0.02 &) ; true", here)
    await asyncio.sleep(0.1)
    async with asyncio.timeout(30):
        while True:  # the last orphan may end between the command that reaps and the look
            await shell("true", here)
            if not any(entry.ended and entry.pid not in before for entry in snapshot()):
                break


@LINUX
async def test_l_02_what_has_ended_by_itself_is_watched_over_no_longer(here: Path) -> None:
    before = living()
    await shell("(setsid sh -c 'until [ -e go ]; do sleep 0.01; done' >/dev/null 2>&1 &) ; true", here)
    assert len(living() - before) >= 2, "what was left, and the guard that would end it with mcode"
    (here / "go").touch()
    assert wait_until(lambda: len(living() - before) == 1)
    await shell("true", here)
    assert wait_until(lambda: living() == before), "the next command notices, and the guard leaves"


@LINUX
async def test_the_status_of_children_that_others_wait_for_is_not_taken(here: Path) -> None:
    own = subprocess.Popen(["sh", "-c", "exit 6"], start_new_session=True)
    plain = subprocess.Popen(["sh", "-c", "exit 5"])
    assert wait_until(lambda: {entry.pid for entry in snapshot() if entry.ended} >= {own.pid, plain.pid})

    async def by_asyncio() -> int:
        child = await asyncio.create_subprocess_exec("sh", "-c", "sleep 0.02; exit 7", start_new_session=True)
        return await child.wait()

    others = asyncio.gather(*(by_asyncio() for _ in range(8)))
    await asyncio.gather(*(shell("(setsid true &) ; true", here) for _ in range(8)))
    codes = await others
    assert codes == [7] * 8
    assert (own.wait(), plain.wait()) == (6, 5)


# --- output


async def test_b_07_a_flood_is_kept_head_and_tail_with_the_whole_in_a_file(here: Path) -> None:
    file = here / "whole.txt"
    result = await shell("seq 1000000", here, spill=file, output_limit=1 << 24)
    shown = result.shown
    assert shown.head.startswith("1\n2\n3\n")
    assert shown.tail.endswith("\n999999\n1000000\n")
    assert len(shown.head) + len(shown.tail) + shown.left_out == result.stdout.total == 6_888_896
    assert shown.file == file
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes() == result.stdout.data
    assert file.read_bytes().endswith(b"\n999999\n1000000\n")
    assert list(here.iterdir()) == [file]


FLOODS = {
    "short lines": "yes | head -c 20000000",
    "one endless line": "head -c 20000000 /dev/zero | tr '\\0' x",
    "overwritten": "for ((i = 0; i < 100000; i++)); do printf '\\r%d' $i; done",
    "noise": "head -c 1000000 /dev/urandom",
}


@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS.keys())
async def test_b_07_a_flood_takes_bounded_memory_and_leaves_the_loop_free(text: str, here: Path) -> None:
    tracemalloc.start()
    try:
        async with heart(0.005) as beats:
            result = await shell(text, here, spill=here / "whole.txt")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0
    assert peak < 6 * 1024 * 1024
    assert max(beats) < 1, "the loop stood still"


async def test_b_07_of_an_overwritten_line_the_last_state_is_shown(here: Path) -> None:
    text = (
        "for ((i = 0; i <= 20000; i++)); do printf '\\r%d' $i; done; printf '\\r\\n'; printf 'a\\r\\nb\\rc'"
    )
    result = await shell(text, here)
    assert result.shown.head == "20000\na\nc"
    assert result.shown.left_out == 0


async def test_b_07_a_line_over_8_kb_is_cut_and_the_file_has_it_whole(here: Path) -> None:
    file = here / "whole.txt"
    result = await shell("head -c 20000 /dev/zero | tr '\\0' x; echo; echo next", here, spill=file)
    first, second, rest = result.shown.head.split("\n")
    assert first == "x" * LINE_LIMIT + " [… line cut …]"
    assert (second, rest) == ("next", "")
    assert file.read_text() == "x" * 20000 + "\nnext\n"


async def test_b_07_bytes_that_are_not_utf_8_are_counted(here: Path) -> None:
    result = await shell("printf 'gr\\xc3\\xbcn \\xff\\xfe \\xef\\xbf\\xbd\\n'", here)
    assert result.shown.head == "grün \ufffd\ufffd \ufffd\n"
    assert result.shown.not_text == 2


async def test_b_07_the_file_is_capped_and_says_so(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "SPILL_LIMIT", 1024 * 1024)
    result = await shell("yes | head -c 3000000", here, spill=here / "whole.txt")
    assert (here / "whole.txt").stat().st_size == 1024 * 1024
    assert "first 1 MB only" in result.shown.file_problem


async def test_b_07_a_file_that_cannot_be_made_is_a_notice_and_the_command_goes_on(here: Path) -> None:
    result = await shell("seq 100000; echo done", here, spill=here / "missing" / "whole.txt")
    assert result.exit_code == 0
    assert result.shown.tail.endswith("done\n")
    assert result.shown.file is None
    assert "No such file or directory" in result.shown.file_problem
    assert not result.stdout.is_whole


async def test_a_small_output_makes_no_file(here: Path) -> None:
    result = await shell("echo small", here, spill=here / "whole.txt")
    assert result.shown.file is None
    assert list(here.iterdir()) == []


async def test_both_streams_are_kept_apart_and_shown_in_the_order_of_arrival(here: Path) -> None:
    wait = "until [ -e {} ]; do sleep 0.01; done"  # each line is read before the next one is written
    text = f"echo one; {wait.format('one')}; echo two >&2; {wait.format('two')}; echo three"
    text += f"; {wait.format('three')}; printf open; {wait.format('open')}; printf end >&2"
    spec = ProcessSpec(("sh", "-c", text), here, ENVIRONMENT, shown_limit=30_000)
    result = await run_process(spec, lambda chunk: (here / chunk.decode().strip()).touch())
    assert result.stdout.text == "one\nthree\nopen"
    assert result.stderr.text == "two\nend"
    assert result.shown.head == "one\ntwo\nthree\nopen\nend"


async def test_a_stream_over_its_limit_is_kept_from_its_beginning(here: Path) -> None:
    result = await shell("seq 100000", here, output_limit=1000)
    assert result.stdout.total == 588_895
    assert not result.stdout.is_whole
    assert result.stdout.text.startswith("1\n2\n")
    assert len(result.stdout.data) == 1000


async def test_chunks_are_handed_on_as_they_come(here: Path) -> None:
    seen: list[bytes] = []
    spec = ProcessSpec(
        ("sh", "-c", "echo a; until [ -e a ]; do sleep 0.01; done; echo b >&2"), here, ENVIRONMENT
    )

    def take(chunk: bytes) -> None:
        seen.append(chunk)
        (here / "a").touch()

    await run_process(spec, take)
    assert seen == [b"a\n", b"b\n"]


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")])
async def test_b_08_a_death_by_signal_has_a_name_and_no_exit_code(number: int, name: str, here: Path) -> None:
    result = await shell(f"echo before; kill -{number} $$; echo after", here)
    assert (result.exit_code, result.signal) == (None, name)
    assert result.stdout.text == "before\n"


async def test_many_at_once_do_not_mix(here: Path) -> None:
    results = await asyncio.gather(*(shell(f"echo {n}; exit {n}", here) for n in range(12)))
    assert [(result.exit_code, result.stdout.text) for result in results] == [
        (n, f"{n}\n") for n in range(12)
    ]


# --- shaping, whatever the chunks

PIECES = st.lists(
    st.sampled_from([b"\r", b"\n", b"\r\n", b"ab", b"\xff", b"x" * 5000, "ü".encode()]), max_size=30
)


@given(PIECES, st.lists(st.integers(0, 40_000), max_size=8))
def test_shaped_lines_do_not_depend_on_where_chunks_end(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    whole = LineShaper()
    expected = whole.feed(data) + whole.finish()
    shaper, shaped = LineShaper(), b""
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(edges):
        shaped += shaper.feed(data[start:end])
    shaped += shaper.finish()
    assert shaped == expected
    assert shaper.not_text == whole.not_text
    assert b"\r" not in shaped
    assert all(len(line) <= LINE_LIMIT + 20 for line in shaped.split(b"\n"))
    assert shaped.count(b"\n") == data.count(b"\n")


@given(st.lists(st.binary(max_size=50), max_size=20), st.integers(1, 60))
def test_head_and_tail_are_the_two_ends(chunks: list[bytes], limit: int) -> None:
    keeper = HeadAndTail(limit)
    for chunk in chunks:
        keeper.feed(chunk)
    head, tail, left_out = keeper.finish()
    data = b"".join(chunks)
    assert head == data[:limit]
    assert tail == data[limit:][-limit:]
    assert left_out == len(data) - len(head) - len(tail)


@given(st.text(max_size=20), st.integers(0, 80))
def test_a_cut_leaves_no_part_of_a_character(text: str, cut: int) -> None:
    data = text.encode("utf-8", "surrogatepass").replace(b"\xed", b"")
    whole = data.decode("utf-8", "ignore").encode()
    without_broken_end(whole[:cut]).decode()
    without_broken_start(whole[cut:]).decode()


async def test_nothing_is_known_of_a_family_that_has_ended(here: Path) -> None:
    families = set(tree._families)
    await shell("true", here)  # the guard, which lives as long as this process, is there from now on
    before = living()
    await shell("sleep 0.01 &", here)
    assert wait_until(lambda: living() <= before)
    await shell("true", here)
    await end_all_children()
    assert tree._families <= families
