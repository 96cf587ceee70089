"""Background jobs: commands that keep running beside the conversation, each with its output in a private file."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.builtins.refusal import RefusalError
from mcode.errors import StorageError
from mcode.process.leash import Leash
from mcode.process.run import ProcessResult, run_process

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from mcode.process.run import ProcessSpec

RUNNING_LIMIT = 20
"""Jobs that may run at once."""
ENDED_KEPT = 100
"""Ended jobs that are still listed."""
FIRST_LOOK = 0.15
"""Seconds in which a job that fails at once is told with its start."""


@dataclass(slots=True)
class Job:
    """One command in the background."""

    id: str
    """`b1`, `b2` ... over the session."""
    command: str
    file: Path
    """Private file with the whole output, up to its cap."""
    began: float = field(default_factory=time.monotonic)
    result: ProcessResult | None = None
    """None while it runs."""
    problem: str = ""
    """Why it could not be run."""
    stopped: bool = False
    """True where it was ended on purpose."""
    told: bool = False
    """True once the model knows that it has ended."""
    forgotten: bool = False
    """True where the model does not know that it began, as the conversation went back to before it."""
    read_to: int = 0
    """Bytes of the file that the model has seen."""
    task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self.result is None and not self.problem

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return self.result.duration if self.result is not None else time.monotonic() - self.began

    @property
    def state(self) -> str:
        """How it stands, in a few words: `running`, `exit 0`, `killed by SIGTERM`, `stopped` ..."""
        if self.problem:
            return "not started"
        if self.result is None:
            return "running"
        if self.stopped:
            return "stopped"
        if self.result.timed_out:
            return "timed out"
        return f"killed by {self.result.signal}" if self.result.signal else f"exit {self.result.exit_code}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said beside the state."""
        if self.result is None:
            return (self.problem,) if self.problem else ()
        notes: list[str] = []
        if self.result.shown.file_problem:
            notes.append(f"The output file is not complete: {self.result.shown.file_problem}.")
        if self.result.left_running:
            notes.append(f"{self.result.left_running} process(es) of it still run; they end with mcode.")
        return tuple(notes)


@dataclass(slots=True)
class _Foreground:
    """A command that somebody waits for, and that can be moved to the background."""

    command: str
    file: Path
    leash: Leash
    running: asyncio.Task[ProcessResult]
    moved: asyncio.Future[Job]
    began: float = field(default_factory=time.monotonic)


class Jobs:
    """The background jobs of one session. Used from the loop's thread."""

    def __init__(
        self,
        changed: Callable[[Job], None] | None = None,
        record: Callable[[JsonObject], None] | None = None,
        earlier: Iterable[JsonObject] = (),
    ) -> None:
        """`changed` is told of each job that has ended; `record` keeps in the session what becomes of jobs.

        `earlier` are the records of the session's earlier runs, whose jobs have all ended.
        """
        self._changed = changed
        self._record = record
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._earlier, self._count = _untold(earlier)
        self._is_closing = False
        self._foreground: list[_Foreground] = []

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._jobs.values()))

    @property
    def running(self) -> tuple[Job, ...]:
        return tuple(job for job in self._jobs.values() if job.running)

    def find(self, job_id: str) -> Job:
        """The job of this id; raises RefusalError that names those there are."""
        job = self._jobs.get(job_id.strip())
        if job is None:
            known = ", ".join(self._jobs) or "none"
            raise RefusalError(f"There is no background job {job_id!r} (jobs of this session: {known}).")
        return job

    async def start(self, command: str, spec: ProcessSpec) -> Job:
        """Start a command; a job that ends within a moment is returned ended. Raises RefusalError at the limit."""
        if len(self.running) >= RUNNING_LIMIT:
            raise RefusalError(
                f"{RUNNING_LIMIT} background jobs run already, which is the limit. Nothing was run. End one first."
            )
        if spec.spill is None:
            raise ValueError("a background job needs a file for its output")
        job = self._begin(command, spec.spill, run_process(spec))
        try:
            await self.wait(job, FIRST_LOOK)
        except asyncio.CancelledError:
            await self.stop(job)
            raise
        return job

    async def run_here(
        self, command: str, spec: ProcessSpec, on_output: Callable[[bytes], None]
    ) -> ProcessResult | Job:
        """Run a command and wait for its end, or until it is moved to the background: then it is a job.

        Raises and is cancelled as `run_process`.
        """
        if spec.spill is None:
            raise ValueError("a command that may become a background job needs a file for its output")
        leash = Leash()
        running = asyncio.create_task(_to_the_end(spec, on_output, leash))
        moved: asyncio.Future[Job] = asyncio.get_running_loop().create_future()
        here = _Foreground(command, spec.spill, leash, running, moved)
        self._foreground.append(here)
        try:
            await asyncio.wait({running, moved}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if moved.done():
                raise  # it goes on as a job
            await _end(running)
            raise asyncio.CancelledError(running.result()) from None
        finally:
            self._foreground.remove(here)
        return moved.result() if moved.done() else running.result()

    @property
    def movable(self) -> int:
        """How many commands are waited for, and could be moved to the background."""
        return sum(not each.running.done() and not each.moved.done() for each in self._foreground)

    def move(self) -> tuple[Job, ...]:
        """Move every command that is waited for to the background, as far as the limit allows; the new jobs."""
        jobs: list[Job] = []
        for each in self._foreground:
            if not each.running.done() and not each.moved.done() and len(self.running) < RUNNING_LIMIT:
                each.leash.release()
                job = self._begin(each.command, each.file, each.running, each.began)
                each.moved.set_result(job)
                jobs.append(job)
        return tuple(jobs)

    async def stop(self, job: Job) -> None:
        """End a job and everything that came from it; returns when that is done."""
        if job.task is not None and not job.task.done():
            job.stopped = True
            job.task.cancel()
            await asyncio.wait({job.task})

    async def wait(self, job: Job, seconds: float) -> None:
        """Wait until a job has ended, at most some seconds."""
        if job.task is not None:
            await asyncio.wait({job.task}, timeout=seconds)

    def tell(self, job: Job) -> None:
        """Note that the model knows of a job's end."""
        if not job.running and not job.told:
            job.told = True
            self._keep(job, "told")

    def forget(self, ids: Collection[str]) -> None:
        """The conversation went back to before these began: the model is not told of their ends."""
        for job_id in [each for each, _ in self._earlier if each in ids]:
            self._write({"id": job_id, "state": "told"})
        self._earlier = [each for each in self._earlier if each[0] not in ids]
        for job in self._jobs.values():
            if job.id in ids:
                job.forgotten = True
                self.tell(job)

    def announcements(self) -> tuple[str, ...]:
        """A sentence for the model about each job whose end it has not heard of; each is given once."""
        told, self._earlier = self._earlier, ()
        for job_id, _ in told:
            self._write({"id": job_id, "state": "told"})
        texts = [text for _, text in told]
        for job in self._jobs.values():
            if not job.running and not job.told:
                self.tell(job)
                texts.append(announcement(job))
        return tuple(texts)

    async def close(self) -> tuple[Job, ...]:
        """End all jobs; returns those that still ran. A resumed session tells the model what became of them."""
        running, self._is_closing = self.running, True
        await asyncio.gather(*(self.stop(job) for job in running))
        return running

    def _begin(
        self, command: str, file: Path, running: Awaitable[ProcessResult], began: float | None = None
    ) -> Job:
        self._count += 1
        job = Job(f"b{self._count}", command, file)
        job.began = job.began if began is None else began
        self._jobs[job.id] = job
        self._keep(job, "running")
        job.task = asyncio.create_task(self._run(job, running))
        return job

    async def _run(self, job: Job, running: Awaitable[ProcessResult]) -> None:
        try:
            job.result = await running
        except asyncio.CancelledError as cancelled:
            match cancelled.args:
                case (ProcessResult() as so_far,):
                    job.result = so_far
                case _:
                    job.problem = "it was stopped before it ran"
        except (OSError, ValueError) as error:
            job.problem = f"it could not be started: {getattr(error, 'strerror', None) or error}"
        if self._is_closing:
            return
        self._keep(job, job.state)
        if job.forgotten:
            self.tell(job)
        self._drop_old()
        if self._changed is not None:
            self._changed(job)

    def _drop_old(self) -> None:
        ended = [job for job in self._jobs.values() if not job.running and job.told]
        for job in ended[: max(0, len(ended) - ENDED_KEPT)]:
            del self._jobs[job.id]

    def _keep(self, job: Job, state: str) -> None:
        self._write({"id": job.id, "state": state, "command": job.command[:500], "file": str(job.file)})

    def _write(self, body: JsonObject) -> None:
        if self._record is not None:
            with contextlib.suppress(StorageError):  # the next record that matters says so
                self._record(body)


async def _to_the_end(spec: ProcessSpec, on_output: Callable[[bytes], None], leash: Leash) -> ProcessResult:
    """The result of a command, also of one that was ended by cancelling."""
    try:
        return await run_process(spec, on_output, leash)
    except asyncio.CancelledError as cancelled:
        match cancelled.args:
            case (ProcessResult() as so_far,):
                return so_far
            case _:
                raise


async def _end(running: asyncio.Task[ProcessResult]) -> None:
    """Cancel a run and wait for its end; being cancelled again meanwhile hurries it."""
    running.cancel()
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            running.cancel()


def announcement(job: Job) -> str:
    """What the model is told of a job that has ended."""
    text = f"Background job {job.id} (`{one_line(job.command)}`) has ended: {job.state} after {job.seconds:.0f} s."
    return " ".join((text, f"Its output is in {job.file}.", *job.notes))


def one_line(command: str, width: int = 80) -> str:
    """A command in one short line."""
    line = " ".join(command.split())
    return line if len(line) <= width else f"{line[: width - 1]}\u2026"


def _untold(records: Iterable[JsonObject]) -> tuple[Sequence[tuple[str, str]], int]:
    """What to say of jobs of earlier runs whose end the model has not heard of, and the highest number so far."""
    last: dict[str, JsonObject] = {}
    highest = 0
    for body in records:
        job_id = str(body.get("id", ""))
        if re.fullmatch(r"b\d{1,6}", job_id):
            highest = max(highest, int(job_id[1:]))
            last[job_id] = {**last.get(job_id, {}), **body}
    texts: list[tuple[str, str]] = []
    for job_id, body in last.items():
        state = str(body.get("state", ""))
        if state == "told":
            continue
        how = "was ended together with mcode" if state == "running" else f"had ended: {state}"
        where = f" Its output is in {body['file']}." if body.get("file") else ""
        command = one_line(str(body.get("command", "")))
        texts.append((job_id, f"Background job {job_id} (`{command}`) of the earlier run {how}.{where}"))
    return texts, highest
