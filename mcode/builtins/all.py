"""The built-in tools, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.builtins.ask_user_question import AskUserQuestion
from mcode.builtins.edit import Edit
from mcode.builtins.exit_plan_mode import ExitPlanMode
from mcode.builtins.glob import Glob
from mcode.builtins.grep import Grep
from mcode.builtins.job_tools import TaskOutput, TaskStop
from mcode.builtins.memory_note import MemoryNote
from mcode.builtins.notebook_edit import NotebookEdit
from mcode.builtins.read import Read
from mcode.builtins.search import Searcher
from mcode.builtins.todo_write import TodoWrite
from mcode.builtins.web_fetch import WebFetch
from mcode.builtins.write import Write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.builtins.exit_plan_mode import PlanControl
    from mcode.builtins.file_state import FileState
    from mcode.builtins.jobs import Jobs
    from mcode.call import Call
    from mcode.tool import Tool


def file_tools(files: FileState, keep_out: Callable[[Path], bool] | None = None) -> tuple[Tool, ...]:
    """The tools on files, sharing what the session knows of them.

    `keep_out` says which files must not show in what Glob and Grep find, such as those that a rule denies.
    """
    searcher = Searcher(keep_out=keep_out)
    return (
        Read(files),
        Edit(files),
        Write(files),
        Glob(files, searcher),
        Grep(files, searcher),
        NotebookEdit(files),
    )


def session_tools() -> tuple[Tool, ...]:
    """The tools that speak to the user or change the session."""
    return (TodoWrite(), AskUserQuestion())


def plan_tools(control: PlanControl, *, begins_in_plan: bool) -> tuple[Tool, ...]:
    """The tool that ends mode plan; in the first request only where the session begins in it."""
    return (ExitPlanMode(control, seldom=not begins_in_plan),)


def job_tools(jobs: Jobs) -> tuple[Tool, ...]:
    """The tools on background jobs."""
    return (TaskOutput(jobs), TaskStop(jobs))


def web_tools(
    is_approved: Callable[[Call], bool], names_host: Callable[[str, Call], bool]
) -> tuple[Tool, ...]:
    """The tools on the web; see `WebFetch` for the two questions."""
    return (WebFetch(is_approved=is_approved, names_host=names_host),)


def memory_tools(files: FileState, user: Path) -> tuple[Tool, ...]:
    """The tool on files of instructions; `user` is the directory of the user's own."""
    return (MemoryNote(files, user),)
