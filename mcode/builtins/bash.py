"""Bash: run one command line in a fresh shell, with bounded output; processes that it leaves running are reported."""

from __future__ import annotations

import asyncio
import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.bash_report import report, report_aside, report_job, report_moved, room_for_output
from mcode.builtins.description import read_description
from mcode.builtins.jobs import Job
from mcode.builtins.refusal import RefusalError, failed
from mcode.call import FailureKind, Origin
from mcode.process.environment import find_program
from mcode.process.run import ProcessResult, ProcessSpec, run_process
from mcode.tool import Access, Effect, Preview, Tool, ToolResult, object_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from mcode.builtins.jobs import Jobs
    from mcode.call import Call
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolServices, Workspace

    class Confines(Protocol):
        """The sandbox, as Bash sees it."""

        def confine(self, spec: ProcessSpec, call: Call, workspace: Workspace) -> ProcessSpec:
            """The same process inside the sandbox; unchanged where this call is not confined."""
            ...

        def note(self, call: Call, workspace: Workspace) -> str:
            """What the model should know where a command of this call has failed; empty if nothing."""
            ...


DEFAULT_TIMEOUT = 120_000
"""Milliseconds."""

MAXIMUM_TIMEOUT = 600_000
"""Milliseconds."""

DATA_LIMIT = 16 * 1024 * 1024
"""Bytes of each stream that programs and hooks get whole."""

JOB_TEXT = 2_000
"""Characters of output that are told with the start of a job that has ended already."""

_BEFORE_THE_TEXT = Path(__file__).with_name("bash_start.sh")

_PROGRESS_PAUSE = 0.1
"""Seconds between two lines of progress."""


class Bash(Tool):
    """Runs a command line. Its data is {stdout, stderr, exit_code, timed_out, interrupted, isImage}.

    `exit_code` is 128 + the signal's number where a signal ended the shell. A command that ends with a code
    other than 0 has worked as a call; one that a signal or the time limit ended has not, and still has data.
    """

    name = "Bash"
    effects = frozenset({Effect.RUNS_COMMANDS})
    input_schema = object_schema(
        {
            "command": {"type": "string", "minLength": 1},
            "description": {"type": "string", "description": "What it does, in a few words for the user"},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAXIMUM_TIMEOUT,
                "description": f"Milliseconds; default {DEFAULT_TIMEOUT}",
            },
            "run_in_background": {"type": "boolean"},
        },
        required=["command"],
    )
    input_examples: tuple[JsonObject, ...] = ({"command": "npm run dev", "run_in_background": True},)

    def __init__(
        self,
        environment_for: Callable[[Call], Mapping[str, str]],
        *,
        output_limit: int = 30_000,
        jobs: Jobs | None = None,
        secrets: tuple[tuple[bytes, bytes], ...] = (),
        sandbox: Confines | None = None,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        """`environment_for` gives the whole environment of a call; the user may let asked ones see more.

        `jobs` take what runs in the background. `secrets` are replaced in files with output, each by its mark.
        `mask` takes out what looks like one. `sandbox` confines what runs.
        """
        self.description = read_description("bash")
        self._environment_for = environment_for
        self.output_limit = output_limit
        self._jobs = jobs
        self._secrets = secrets
        self._sandbox = sandbox
        self._mask = mask
        self._bash: Path | None = None

    @override
    def access(self, arguments: JsonObject, workspace: Workspace) -> Access:
        del workspace
        return Access(command=arguments["command"])

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        del workspace
        command: str = arguments["command"]
        first, *more = command.strip().splitlines() or [""]
        title = f"{first} …" if more else first
        return Preview(f"{title} (in the background)" if _in_background(arguments) else title, command)

    @override
    async def run(self, arguments: JsonObject, services: ToolServices) -> ToolResult:
        """Run the command. A CancelledError that leaves here has the ToolResult so far as its argument."""
        command: str = arguments["command"]
        workspace = services.workspace
        refusal = _refuse(command) or self._refuse_job(arguments, services.call) or self._find_bash(workspace)
        if refusal:
            return _failure(refusal)
        seconds = min(arguments.get("timeout", DEFAULT_TIMEOUT), MAXIMUM_TIMEOUT) / 1000
        notes = _return_if_gone(workspace)
        spec = ProcessSpec(
            argv=(str(self._bash), "--noprofile", "--norc", "-c", command),
            cwd=workspace.current,
            env={**self._environment_for(services.call), **_report_directory()},
            timeout=seconds,
            output_limit=DATA_LIMIT,
            shown_limit=room_for_output(self.output_limit),
            spill=services.spill_path(".txt"),
            secrets=self._secrets,
            mask=self._mask,
            extra_variable="MCODE_DIRECTORY_REPORT",
        )
        spec = self._confined(spec, services)
        if self._jobs is not None and _in_background(arguments):
            return await self._start_job(self._jobs, arguments, spec, services, notes)
        try:
            result = await self._wait_for(arguments["command"], spec, services)
        except asyncio.CancelledError as cancelled:
            match cancelled.args:
                case (ProcessResult() as so_far,):
                    cancelled.args = (report(so_far, seconds, self.output_limit, notes),)
                case _:
                    pass
            raise
        except (OSError, ValueError) as error:
            return _failure(_explain(error, spec))
        if isinstance(result, Job):
            return await asyncio.to_thread(report_moved, result, JOB_TEXT, notes)
        notes += _follow(result.extra, workspace)
        if (
            result.exit_code != 0
            and self._sandbox is not None
            and (note := self._sandbox.note(services.call, workspace))
        ):
            notes += (note,)
        return await report_aside(result, seconds, self.output_limit, notes)

    async def _wait_for(self, command: str, spec: ProcessSpec, services: ToolServices) -> ProcessResult | Job:
        """Run the command to its end, or until the user moves it to the background. For programs it simply waits."""
        progress = _Progress(services.progress)
        if self._jobs is None or _is_inner(services.call):
            return await run_process(spec, progress)
        return await self._jobs.run_here(command, spec, progress)

    def _refuse_job(self, arguments: JsonObject, call: Call) -> str:
        """Why nothing can run in the background for this call; nothing where it can."""
        if not _in_background(arguments):
            return ""
        if _is_inner(call):
            return (
                "run_in_background is not for programs: a program simply waits for a long command, and its own "
                "time stands still meanwhile. Leave it out, or start the job outside the program."
            )
        return "" if self._jobs is not None else "Nothing can run in the background here."

    async def _start_job(
        self,
        jobs: Jobs,
        arguments: JsonObject,
        spec: ProcessSpec,
        services: ToolServices,
        notes: tuple[str, ...],
    ) -> ToolResult:
        """Let the command go on by itself: no limit of time but a given one, and every byte in its file."""
        seconds = spec.timeout if "timeout" in arguments else None
        environment = self._environment_for(services.call)
        spec = replace(
            spec,
            env={name: text for name, text in spec.env.items() if name in environment},
            timeout=seconds,
            output_limit=0,
            shown_limit=JOB_TEXT,
            spill_always=True,
            guarded=True,
            extra_variable="",
        )
        try:
            job = await jobs.start(arguments["command"], spec)
        except RefusalError as error:
            return failed(error)
        jobs.tell(job)
        return report_job(job, JOB_TEXT, notes)

    def _confined(self, spec: ProcessSpec, services: ToolServices) -> ProcessSpec:
        if self._sandbox is None:
            return spec
        return self._sandbox.confine(spec, services.call, services.workspace)

    def _find_bash(self, workspace: Workspace) -> str:
        """Find the shell once, outside the workspace; returns why not, or nothing."""
        if self._bash is None:
            self._bash = find_program("bash", os.environ.get("PATH", ""), workspace.roots)
        return "" if self._bash else "bash was not found in any directory of PATH outside the workspace."


class _Progress:
    """Shows the last line of the output now and then."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._shown = 0.0

    def __call__(self, chunk: bytes) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._shown < _PROGRESS_PAUSE:
            return
        lines = chunk[-1000:].decode("utf-8", "ignore").replace("\r", "\n").rstrip().rsplit("\n", 1)
        if lines[-1].strip():
            self._shown = now
            self._show(lines[-1])


def _is_inner(call: Call) -> bool:
    """True for a call of a program or a sub-agent."""
    return call.origin is Origin.PROGRAM or call.parent is not None


def _in_background(arguments: JsonObject) -> bool:
    return bool(arguments.get("run_in_background"))


def _report_directory() -> dict[str, str]:
    """Variables that make bash report its last directory; they are gone before the command begins.

    The path goes through a second variable because bash expands the value of BASH_ENV.
    """
    return {"BASH_ENV": "$MCODE_BASH_START", "MCODE_BASH_START": str(_BEFORE_THE_TEXT)}


def _refuse(command: str) -> str:
    """Why the system could not be given this text; nothing where it can."""
    if "\0" in command:
        return "The command contains a NUL character, which no argument can hold."
    try:
        os.fsencode(command)
    except UnicodeEncodeError as error:
        return f"Character {error.start + 1} of the command is half of a surrogate pair, which is not text."
    return ""


def _return_if_gone(workspace: Workspace) -> tuple[str, ...]:
    """Go back to the start directory where the current one has vanished; says so."""
    gone = workspace.current
    if gone.is_dir() or gone == workspace.start:
        return ()
    workspace.current = workspace.start
    return (f"The directory {gone} no longer exists; this command ran in {workspace.start}.",)


def _follow(reported: bytes, workspace: Workspace) -> tuple[str, ...]:
    """Take over the directory in which the shell ended, if it is inside the workspace; says so if not.

    Nothing is reported by a shell that was killed or replaced itself: the directory then stays as it was.
    """
    if not reported:
        return ()
    path = Path(os.fsdecode(reported.removesuffix(b"\n")))
    if path.is_absolute() and path.is_dir() and _is_inside(path, workspace.roots):
        workspace.current = path
        return ()
    workspace.current = workspace.start
    where = f"{path}, which is outside the workspace" if path.is_absolute() else "a directory that is gone"
    return (f"The command ended in {where}; the next one starts in {workspace.start}.",)


def _is_inside(path: Path, roots: tuple[Path, ...]) -> bool:
    """Compare by identity, since a file system may know a directory by several spellings."""
    places = (path.resolve(), *path.resolve().parents)
    return any(root.samefile(place) for root in roots if root.is_dir() for place in places)


def _explain(error: OSError | ValueError, spec: ProcessSpec) -> str:
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        size = len(os.fsencode(spec.argv[-1]))
        return (
            f"The command has {size} bytes, more than the system passes on. Nothing was run. Put it into a file "
            "and run that."
        )
    if isinstance(error, OSError) and not spec.cwd.is_dir():
        return f"The directory {spec.cwd} does not exist any more. Nothing was run. Start mcode again in one that does."
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"bash could not be started in {spec.cwd}: {reason}. Nothing was run. Tell the user."


def _failure(reason: str) -> ToolResult:
    return ToolResult(f"{reason} Nothing was run.", failure=FailureKind.TOOL_ERROR, summary="not started")
