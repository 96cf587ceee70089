"""The worker process: what it has, what it lacks, and what happens where the engine is not the right one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.process.sandbox import sandbox_availability
from mcode.run_code import engine as engine_module
from mcode.run_code.engine import Engine, EngineUnusableError, WorkerFaultError, describe_code
from mcode.run_code.library import Library, find_library, why_missing, why_unusable
from mcode.run_code.pipes import FRAME_LIMIT, FrameReader, FrameTooLargeError, FrameWriter
from tests.children import is_alive, living, no_process_left, open_descriptors, wait_until
from tests.run_code.sessions import project, result_of, session
from tests.run_code.workplace import QUICK
from tests.waiting import until

if TYPE_CHECKING:
    from tests.run_code.workplace import Workplace

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the checker reads /proc")

GLOBALS = """
AggregateError ALL_TOOLS Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean
DOMException DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array
Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy
RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError TypeError
URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet atob btoa clearTimeout console
decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval exit globalThis image isFinite isNaN load must
parseFloat parseInt performance queueMicrotask setTimeout sh sleep store structuredClone text tools undefined unescape
"""


async def test_r_08_a_program_finds_the_language_and_our_names_and_nothing_else(place: Workplace) -> None:
    ran = await place.run("return Object.getOwnPropertyNames(globalThis).sort()")
    assert json.loads(ran.value) == sorted(GLOBALS.split())


async def test_r_08_code_made_from_text_gets_no_further_than_the_language(place: Workplace) -> None:
    ran = await place.run(
        "const made = (0, eval)('typeof emit + typeof queue + typeof entries + typeof frame + typeof limits');\n"
        "const built = new Function('return this === globalThis && typeof emit')();\n"
        "const up = tools.constructor === undefined && must.constructor('return typeof waiting')();\n"
        "const all = [];\n"
        "for (const n of Object.getOwnPropertyNames(globalThis)) all.push(typeof globalThis[n]);\n"
        "let read; try { read = await import('/etc/hostname') } catch (e) { read = e.message }\n"
        "let block; try { Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 9e9) } "
        "catch (e) { block = e.name }\n"
        "let caller; try { caller = must.caller } catch (e) { caller = e.name }\n"
        "return [made, built, up, read, block, caller]"
    )
    made, built, up, read, block, caller = json.loads(ran.value)
    assert made == "undefined" * 5
    assert built == up == "undefined"
    assert "could not load module" in read
    assert block == "TypeError"
    assert caller == "TypeError"


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@LINUX
async def test_r_01_a_worker_has_two_pipes_one_thread_no_environment_and_an_empty_directory() -> None:
    os.environ["SECRET_OF_THE_AGENT"] = "hush"
    extra = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(extra, True)
    with no_process_left():
        engine = Engine(QUICK)
        worker = await engine.take()
        try:
            base = Path(f"/proc/{worker.pid}")
            ends = {entry.name: os.readlink(entry) for entry in (base / "fd").iterdir()}
            assert {ends[name] for name in ("0", "1", "2")} == {"/dev/null"}
            assert sorted(end.split(":")[0] for name, end in ends.items() if int(name) > 2) == [
                "pipe",
                "pipe",
            ]
            assert (base / "environ").read_bytes() == b""
            assert os.readlink(base / "cwd").endswith(" (deleted)")
            assert status_of(worker.pid)["Threads"] == "1"
            assert os.getsid(worker.pid) == worker.pid
            limits = (base / "limits").read_text()
            rows = {line[:26].strip(): line[26:].split()[:2] for line in limits.splitlines()}
            assert rows["Max core file size"] == rows["Max file size"] == ["0", "0"]
            assert rows["Max open files"] == ["16", "16"]
            assert rows["Max address space"] == [str(3 * QUICK.memory + 512 * 1024 * 1024)] * 2
            command = (base / "cmdline").read_bytes().split(b"\0")
            assert {b"-I", b"-S"} <= set(command)
            assert int(status_of(worker.pid)["VmRSS"].split()[0]) < 20 * 1024
        finally:
            engine.release(worker)
            await engine.close()
            os.close(extra)
            del os.environ["SECRET_OF_THE_AGENT"]


@LINUX
@pytest.mark.skipif(not sandbox_availability().available, reason="this system offers no sandbox")
async def test_r_01_a_worker_is_inside_the_sandbox_where_that_is_on(tmp_path: Path) -> None:
    project(tmp_path, a_txt="one\n")
    rights: dict[str, str] = {}
    before = living()

    def seen() -> bool:
        for pid in living() - before:
            with contextlib.suppress(OSError):
                if b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    rights.update(status_of(pid))
        return rights.get("NoNewPrivs") == "1"

    code = "await sleep(60000); return (await tools.Read({file_path: 'a.txt'})).value.lines"
    async with session(tmp_path, code, settings={"mcode": {"sandbox": True}}) as here:
        turn = asyncio.create_task(here.say("go"))
        await until(seen)
        assert here.agent.programs.stop("prog", "seen")
        await turn
    async with session(tmp_path, code.replace("60000", "1"), settings={"mcode": {"sandbox": True}}) as here:
        await here.say("go")
        assert result_of(here).endswith("1")


@LINUX
async def test_r_01_the_kernel_counts_the_cpu_of_a_running_program(place: Workplace) -> None:
    before = living()
    task = place.start("await sleep(60000)")
    soft = set[str]()

    def seen() -> bool:
        for pid in living() - before:
            with contextlib.suppress(OSError):
                soft.add(Path(f"/proc/{pid}/limits").read_text().split("Max cpu time")[1].split()[0])
        return "unlimited" in soft and bool(soft & {"1", "2"})  # the spare, and the one that runs

    await until(seen)
    assert place.run_code.stop("p1", "seen")
    await task


async def test_a_worker_is_never_used_twice_and_a_spare_waits(place: Workplace) -> None:
    before, seen = living(), set[int]()

    def another_waits() -> bool:
        found = living() - before
        return len(found) == 1 and not found & seen

    for _ in range(3):
        await place.run("1")
        await until(another_waits)
        seen |= living() - before


async def test_programs_leave_no_descriptors_behind(place: Workplace) -> None:
    nobody, engine = living(), place.run_code.runner.engine
    await place.run("1")
    await until(lambda: engine._spare is not None and engine._spare.done() and len(living() - nobody) == 1)
    before = open_descriptors()
    for code in ("1", "while (true) {}", "throw 1", "let = "):
        await place.run(code)
    await until(lambda: open_descriptors() <= before)


async def test_a_worker_dies_with_the_agent(tmp_path: Path) -> None:
    """The agent is killed while its program spins and a spare waits; nothing of both is left."""
    script = tmp_path / "agent.py"
    script.write_text(
        "import asyncio\n"
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from tests.children import living\n"
        "from tests.run_code.workplace import QUICK, Workplace\n"
        "from tests.waiting import until\n"
        "async def main():\n"
        f"    place = Workplace(Path({str(tmp_path)!r}))\n"
        "    place.limits = replace(QUICK, cpu=60.0)\n"
        "    task = place.start('while (true) {}')\n"
        "    await until(lambda: len(living()) > 1)\n"
        "    print('running', flush=True)\n"
        "    await task\n"
        "asyncio.run(main())\n"
    )
    before = living()
    with no_process_left():
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(script),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"running\n"
        workers = living() - before - {process.pid}
        assert workers
        process.kill()
        await process.wait()
        assert wait_until(lambda: not any(map(is_alive, workers)))


async def test_an_engine_that_cannot_be_loaded_is_named_with_the_remedy(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "_quickjs.py").write_text("raise ImportError('wrong ELF class')")
    monkeypatch.setattr(engine_module, "find_library", lambda: Library(broken, "0.17.0.2"))
    ran = await place.run("1 + 1")
    assert ran.status == "engine_unusable"
    assert "quickjs-ng 0.17.0.2" in ran.text
    assert "wrong ELF class" in ran.text
    assert 'pip install --force-reinstall "quickjs-ng>=0.17,<0.18"' in ran.text
    monkeypatch.setattr(engine_module, "find_library", lambda: None)
    place.run_code.runner.engine._library = None
    ran = await place.run("1 + 1")
    assert "The JavaScript engine is not installed" in ran.text


async def test_an_old_engine_is_found_out_by_the_probe_and_its_package_named(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real module behind a shim that takes a method of ES2024 away, beside the package that would do so."""
    library = find_library()
    assert library is not None
    old = tmp_path / "old"
    old.mkdir()
    (old / "quickjs-1.19.4.dist-info").mkdir()
    (old / "_quickjs.py").write_text(
        "import glob, importlib.util, sys\n"
        "own = sys.modules['_quickjs']\n"
        f"(path,) = glob.glob({str(library.directory / '_quickjs*.so')!r})\n"
        "spec = importlib.util.spec_from_file_location('_quickjs', path)\n"
        "real = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(real)\n"
        "sys.modules['_quickjs'] = own\n"
        "JSException = real.JSException\n"
        "def Context():\n"
        "    context = real.Context()\n"
        "    context.eval('delete Object.groupBy')\n"
        "    return context\n"
    )
    monkeypatch.setattr(engine_module, "find_library", lambda: Library(old, "", "1.19.4"))
    ran = await place.run("1 + 1")
    assert ran.status == "engine_unusable"
    assert "The package quickjs 1.19.4 is installed beside quickjs-ng and hides it" in ran.text
    assert "pip uninstall quickjs" in ran.text
    assert "it lacks parts of ES2024" in ran.text


def test_the_library_that_is_installed_is_found_with_its_version() -> None:
    library = find_library()
    assert library is not None
    assert library.version.startswith("0.17")
    assert library.rival == ""
    assert "run_code" in why_missing()
    assert "0.17" in why_unusable(library, "x")


async def test_frames_cross_whole_whatever_their_size() -> None:
    reading, writing = os.pipe()
    reader, writer = FrameReader(reading), FrameWriter(writing)
    frames = [b"", b"x", b"y" * 70_000, b"z" * 3_000_000]

    async def send() -> None:
        for frame in frames:
            await writer.send(frame[: len(frame) // 2], frame[len(frame) // 2 :])
        writer.close()

    sending = asyncio.create_task(send())
    assert [await reader.receive() for _ in frames] == frames
    assert await reader.receive() is None
    await sending
    reader.close()


async def test_closing_a_pipe_wakes_whoever_waits_for_it() -> None:
    reading, writing = os.pipe()
    reader, writer = FrameReader(reading), FrameWriter(writing)
    sending = asyncio.create_task(writer.send(bytes(1_000_000)))
    await asyncio.sleep(0.01)
    assert not sending.done()
    writer.close()
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(sending, 30)
    receiving = asyncio.create_task(reader.receive())
    await asyncio.sleep(0.01)
    reader.close()
    assert await asyncio.wait_for(receiving, 30) is None


async def test_a_frame_over_the_limit_is_refused_before_it_is_read() -> None:
    reading, writing = os.pipe()
    reader, writer = FrameReader(reading), FrameWriter(writing)
    os.write(writing, (FRAME_LIMIT + 1).to_bytes(4, "big"))
    with pytest.raises(FrameTooLargeError):
        await reader.receive()
    with pytest.raises(FrameTooLargeError):
        await writer.send(bytes(FRAME_LIMIT + 1))
    reader.close()
    writer.close()


NONSENSE = (
    '{"out":5}',
    '{"out":[["call",1,"Write","{}",1]]}',
    '{"out":[["call",7,"Write","{}",1,""]]}',
    '{"out":[["call",1.5,"Write","{}",1,""]]}',
    '{"out":[["call",1,"Write",[],1,""]]}',
    '{"out":[["call",1,"Write",{"x":[' + "1," * 5000 + '1]},1,""]]}',
    '{"out":[["log","log",5]]}',
    '{"other":1}',
    '{"end":["nonsense","",0.1,5]}',
    "[1]",
    "{",
    '{"end":[' + "[" * 5000 + "]" * 5000 + "]}",
)


async def test_a_worker_that_sends_nonsense_is_ended_and_nothing_is_called(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A binding of the test plays the engine; which frame it sends is the program's own text."""
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "_quickjs.py").write_text(
        "import os\n"
        "JSException = ValueError\n"
        "class Context:\n"
        "    def set_memory_limit(self, n): pass\n"
        "    def set_max_stack_size(self, n): pass\n"
        "    def set_time_limit(self, n): pass\n"
        "    def execute_pending_job(self): return False\n"
        "    def eval(self, text):\n"
        "        if 'repeat(5000)' in text: return 'a' * 5000 + 'b' * 5000\n"
        "        sent = []\n"
        "        def enter(name, *given):\n"
        "            if name == 'receive': sent.append(__import__('json').loads(given[0])['run']['code'])\n"
        "            if name == 'turn' and sent: return 'more\\n' + sent.pop()\n"
        "            return {'probe': '', 'turn': '1000\\n', 'restTime': 1000}.get(name)\n"
        "        return enter\n"
    )
    monkeypatch.setattr(engine_module, "find_library", lambda: Library(fake))
    place.tool("Write", lambda _: "x", reads=False)
    for frame in NONSENSE:
        ran = await asyncio.wait_for(place.run(frame), 30)
        assert ran.status == "worker_died", (frame, ran.text)
    assert place.calls == []


async def test_a_spare_that_cannot_start_is_an_error_only_when_one_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "find_library", lambda: Library(tmp_path))
    engine = Engine(replace(QUICK))
    engine.warm()
    await asyncio.sleep(0.3)
    with pytest.raises(EngineUnusableError):
        await engine.take()
    await engine.close()


def test_return_codes_are_named() -> None:
    assert describe_code(-9) == "SIGKILL"
    assert describe_code(-resource.RLIMIT_NOFILE - 190) == f"signal {resource.RLIMIT_NOFILE + 190}"
    assert describe_code(3) == "exit code 3"
    assert describe_code(128 + 24) == "SIGXCPU"  # as a sandbox tells of it
    assert describe_code(255) == "exit code 255"
    assert issubclass(WorkerFaultError, Exception)
