"""The worker process: a JavaScript engine and nothing else, behind two pipes.

`engine.py` runs this file as a script, isolated, with the arguments of `main`. It imports nothing of mcode. What
crosses between Python and the engine is JSON text, in flat strings, both ways: other values are mishandled by the
binding. Frames are a length in four bytes, the highest first, and that many bytes of UTF-8.
"""

from __future__ import annotations

import math
import os
import resource
import select
import sys
import time

TYPE_CHECKING = (
    False  # what `typing` would say: importing it, pathlib or contextlib doubles the time of the start
)
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

PRELUDE = ("values.js", "source.js", "helpers.js", "prelude.js")
"""The files of the prelude, in the order in which they need one another."""

OWN_LINES = 100_000
"""Empty lines before the prelude: what an error's stack reports from there on is not the program's."""

STACK_BYTES = 512 * 1024
FRAME_LIMIT = 64 * 1024 * 1024
_SPARE_ADDRESSES = 512 * 1024 * 1024
_OPEN_FILES = 16
_READ = 1 << 16
"""Bytes that are read at once: what a pipe holds, and little enough that making room for it costs nothing."""

_FOR_THE_REST = 0.2
_LOOK_AGAIN = 0.002
"""Seconds for which the CPU time that was used counts as known: asking the system takes longer than a short entry."""

_JOBS = 64
_OVER = -3
_ENDINGS: dict[float, str] = {_OVER: "", -2: "stalled"}
"""What the prelude says of a program that waits for nothing, and how it has ended then."""


class Ended(Exception):  # noqa: N818 -- the end of a program is not an error of ours
    """The program is over: the kind of failure and a detail, each possibly empty."""


class Channel:
    """The two pipes to the agent, moved away from where code would look for them."""

    def __init__(self) -> None:
        self._reading, self._writing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.close(nothing)
        self._held = bytearray()

    def receive(self, seconds: float | None) -> str | None:
        """The next frame; None where none has begun after `seconds`. Ends the process where the agent is gone."""
        if seconds is not None and not self._held and not select.select((self._reading,), (), (), seconds)[0]:
            return None
        size = int.from_bytes(self._take(4), "big")
        return self._take(size).decode()

    def send(self, *texts: str) -> None:
        parts: list[bytes] = []
        for text in texts:
            raw = text.encode()
            parts += (len(raw).to_bytes(4, "big"), raw)
        data = memoryview(b"".join(parts))
        while data:
            data = data[os.write(self._writing, data) :]

    def _take(self, size: int) -> bytes:
        while len(self._held) < size:
            part = os.read(self._reading, _READ)
            if not part:
                os._exit(0)
            self._held += part
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken


class Engine:
    """One context with its prelude and the CPU time that its program may use."""

    def __init__(self, library: str, memory: int, budget: float) -> None:
        """Raises ImportError, and Ended where the engine is not fit for use."""
        sys.path.append(library)
        binding: Any = __import__("_quickjs")
        sys.path.remove(library)
        self._failure: type[Exception] = binding.JSException
        self._context: Any = binding.Context()
        self._context.set_memory_limit(memory)
        self._context.set_max_stack_size(STACK_BYTES)
        self._memory = memory
        self._budget = budget
        self._began = time.process_time()
        self._looked = self._used = 0.0
        parts = [_read(os.path.join(os.path.dirname(__file__), name)) for name in PRELUDE]  # noqa: PTH118, PTH120 -- see TYPE_CHECKING
        source = "\n" * OWN_LINES + '(function () { "use strict";\n' + "\n".join(parts) + "\n})()"
        try:
            self._enter: Callable[..., Any] = self._context.eval(source)
            problem = self._enter("probe") or self._rope_problem()
        except self._failure as error:
            problem = str(error).strip().replace("\n", " ")
        if problem:
            raise Ended("engine_unusable", problem)

    def _rope_problem(self) -> str:
        """What the prelude's way of handing over long strings makes of one built with `+`."""
        try:
            text = self._context.eval('("a".repeat(5000) + "b".repeat(5000)).slice(0)')
        except TypeError as error:
            return f"it does not hand over long strings: {error}"
        return "" if text == "a" * 5000 + "b" * 5000 else "it changes long strings"

    @property
    def used(self) -> float:
        """CPU seconds since the program began."""
        return time.process_time() - self._began

    @property
    def lately_used(self) -> float:
        """The same as of a moment ago: asking the system takes longer than a short entry."""
        return self._used

    def begin(self, grace: float) -> None:
        """Start the clock; the kernel ends the process where the engine's own limit does not bite."""
        self._began = time.process_time()
        seconds = math.ceil(self._began + self._budget + grace)
        _limit(resource.RLIMIT_CPU, seconds, seconds + 1)

    def enter(self, name: str, *given: str) -> Any:
        """Call one of the prelude's functions; raises Ended where that did not come back."""
        return self._guarded(self._enter, name, *given)

    def rest(self) -> Iterator[str]:
        """What a program that was ended had still to say, as far as it can be had in a moment."""
        self._budget = self.used + _FOR_THE_REST
        self._looked = 0.0
        try:
            while text := self.enter("takeRest"):
                yield text
        except Ended:
            return

    def run_jobs(self) -> None:
        """Run what promises have made ready; the engine's limit covers one entry, so each is armed anew.

        What a program that is over has left behind may go on for ever, and is left alone.
        """
        while self._guarded(self._some_jobs):
            if self.enter("restTime") == _OVER:
                return

    def _some_jobs(self) -> bool:
        """False where none is left."""
        run = self._context.execute_pending_job
        for _ in range(_JOBS):
            if not run():
                return False
            self._arm()
        return True

    def _arm(self) -> None:
        """Give the engine, for its next entry, what is left of the program's time."""
        now = time.perf_counter()
        if now - self._looked > _LOOK_AGAIN:  # what was left then is what is left now, nearly
            self._used = self.used
            rest = self._budget - self._used
            if rest <= 0:
                raise Ended("cpu_limit", "")
            self._context.set_time_limit(rest)
            self._looked = now

    def _guarded(self, function: Callable[..., Any], *given: str) -> Any:
        self._arm()
        try:
            return function(*given)
        except MemoryError:
            raise Ended("memory_limit", "") from None
        except self._failure as error:
            raise self._reason(str(error)) from None
        except (TypeError, SystemError, UnicodeError) as error:
            raise Ended("exception", f"the engine handed over what cannot be read: {error}"[:300]) from None

    def _reason(self, text: str) -> Ended:
        if self.used >= self._budget - 0.005:
            return Ended("cpu_limit", "")
        if text.startswith("null") or "out of memory" in text:
            return Ended("memory_limit", "")
        return Ended("exception", text.strip().split("\n")[0][:300])


class Run:
    """One program, from its frame to its end."""

    def __init__(self, channel: Channel, engine: Engine) -> None:
        self._channel = channel
        self._engine = engine

    def begin(self, frame: str) -> NoReturn:
        """Start the program and carry it on until it is over; raises Ended then."""
        self._engine.enter("receive", frame)
        while True:
            self._engine.run_jobs()
            events, rest = self._turn()
            if rest in _ENDINGS:
                self._channel.send(*events)
                raise Ended(_ENDINGS[rest], "")
            if rest == 0:
                self._channel.send(*events)
                self._engine.enter("fire")
            else:
                self._wait(events, rest)

    def _turn(self) -> tuple[list[str], float]:
        """What has happened, in order, as frames, all sent but the last; and when to look again, in milliseconds."""
        events: list[str] = []
        while True:
            told = self._engine.enter("turn")
            if told is None:
                raise Ended("memory_limit", "")
            rest, _, text = told.partition("\n")
            if text:
                if len(text) > FRAME_LIMIT // 4 and len(text.encode()) > FRAME_LIMIT:
                    raise Ended("too_large", "")
                self._channel.send(*events)
                events = [text]
            if rest != "more":
                return events, float(rest)

    def _wait(self, events: list[str], rest: float) -> None:
        """Hand over what has happened, and wait for a reply or for the next timer, in `rest` ms (-1: none)."""
        before = f"{events.pop()[:-1]}," if events else "{"
        self._channel.send(*events, f'{before}"idle":[{self._engine.lately_used},{rest}]}}')
        frame = self._channel.receive(None if rest < 0 else rest / 1000)
        if frame is not None:
            self._engine.enter("receive", frame)


def main() -> None:
    """Arguments: the binding's directory, engine memory in bytes, CPU seconds of a program, seconds of grace."""
    library, memory, budget, grace = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
    channel = Channel()
    for what, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_AS, 3 * memory + _SPARE_ADDRESSES),
    ):
        _limit(what, amount, amount)
    used = 0.0
    try:
        engine = Engine(library, memory, budget)
        channel.send('{"ready":[]}')
        frame = channel.receive(None) or ""
        engine.begin(grace)
        try:
            Run(channel, engine).begin(frame)
        except Ended:
            used = engine.used
            channel.send(*engine.rest())
            raise
    except ImportError as error:
        ended = Ended("engine_unusable", str(error))
    except MemoryError:
        ended = Ended("memory_limit", "")
    except Ended as end:
        ended = end
    channel.send(_frame("end", *ended.args, used, _peak_memory()))
    channel.receive(None)


def _limit(what: int, soft: int, hard: int) -> None:
    """Set a limit where the system has it and the one in force is not lower."""
    try:
        resource.setrlimit(what, (soft, hard))
    except (ValueError, OSError):
        return


def _peak_memory() -> int:
    """Most bytes of memory that this process has held."""
    try:  # what Linux says below counts the process that started this one too
        lines = _read("/proc/self/status").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 -- see TYPE_CHECKING
        return file.read()


def _frame(name: str, *values: str | float) -> str:
    """A frame of plain ASCII text, without the json module, which is slow to load."""
    texts = [value if isinstance(value, (int, float)) else _quoted(value) for value in values]
    return f'{{"{name}":[{",".join(map(str, texts))}]}}'


def _quoted(text: str) -> str:
    safe = "".join(character if " " <= character <= "~" else "?" for character in text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    main()
