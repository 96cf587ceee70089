"""Runs git for mcode itself, without running anything that a repository's configuration names."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcode.permissions.git.config import obstacle
from mcode.permissions.git.table import INERT_RUN
from mcode.process.environment import child_environment, find_program
from mcode.process.run import ProcessSpec, run_process
from mcode.text import Kind, clean, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_INERT = (*INERT_RUN.split(), "-c", "submodule.recurse=false", "-c", "diff.relative=false")

_REASON_CELLS = 300


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What came of one run of git."""

    data: bytes = b""
    """What it wrote; nothing where it failed."""
    fault: str = ""
    """Why it failed, as part of a sentence; empty where it did not."""
    is_whole: bool = True
    """Whether `data` is all that it wrote."""

    @property
    def text(self) -> str:
        """The data as text; bytes that are not UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class InertGit:
    """The program, and the environment that it is run in."""

    program: Path
    environment: Mapping[str, str]

    @classmethod
    def outside(cls, roots: Sequence[Path], environment: Mapping[str, str]) -> InertGit | None:
        """The first git on the PATH that is in none of the roots; None where there is none.

        `environment`: mcode's own.
        """
        own = child_environment(environment)
        program = find_program("git", own["PATH"], roots)
        return cls(program, own) if program is not None else None

    async def answer(
        self,
        directory: Path,
        *words: str,
        timeout: float | None = None,
        output_limit: int = 512 * 1024,
        grace: float = 2.0,
    ) -> GitAnswer:
        """Run a subcommand in a directory, where nothing hinders that; its `words` begin with its name.

        The limits are those of ProcessSpec. Cancelling ends git.
        """
        hindrance = await asyncio.to_thread(obstacle, str(directory))
        if hindrance:
            return GitAnswer(fault=f"git is not run unasked there: {hindrance}")
        argv = (str(self.program), *_INERT, *words)
        spec = ProcessSpec(
            argv, directory, self.environment, timeout=timeout, output_limit=output_limit, grace=grace
        )
        try:
            result = await run_process(spec)
        except OSError as error:
            return GitAnswer(fault=f"git could not be run in {directory}: {error.strerror or error}")
        if result.timed_out:
            return GitAnswer(fault=f"git {words[0]} was ended after {timeout:g} s")
        if result.exit_code == 0:
            return GitAnswer(result.stdout.data, is_whole=result.stdout.is_whole)
        said = result.stderr.text.strip().splitlines()
        reason = shorten(clean(said[-1], Kind.LINE), _REASON_CELLS) if said else "no reason given"
        return GitAnswer(fault=f"git {words[0]} failed: {reason}")
