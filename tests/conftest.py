"""What holds for the whole suite: how many workers there are, what no busy machine may fail, and that Python's
compiled files are kept and shared.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.surroundings import isolate

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

HERE = Path(__file__).parent
TOP = HERE.parent
PACKAGE = TOP / "mcode"
PROGRAMS = ("git",)
"""What tests start besides Python and what every system has."""

LIMITS = (
    "mcode.agent.tracked_changes.LIMIT",
    "mcode.mcp.connection.LOSS_TIME",
    "mcode.mcp.limits.START",
    "mcode.mcp.stdio.PROBE_TIME",
    "mcode.pipeline.hook_round._END_TIME",
    "mcode.pipeline.run.HOOKS_AFTER_INTERRUPT",
    "mcode.process.tree._KILL_TIME",
    "mcode.ui.clipboard_image.LIMIT",
    "mcode.ui.file_names._SECONDS",
    "mcode.ui.tui.clipboard.LIMIT",
    "mcode.wiring.status_line.LIMIT",
)
"""Seconds that others get for something, few enough that a machine with much to do exceeds them."""

FIXTURE = "fixture_project"
"""A project for mcode to work in; its tests are none of ours."""

# Without compiled files each worker compiles every test file and each child all of mcode: minutes a run.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# An example may take its time on a busy machine, and every run tries the same ones: what fails here fails everywhere.
settings.register_profile(
    "same everywhere",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same everywhere")


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: much of the suite waits for processes, terminals and servers."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Where tests run, nothing counts that happens to be set here; before a test file looks at the variables."""
    runs_tests = hasattr(config, "workerinput") or config.getoption("dist", "no") == "no"
    if runs_tests:
        isolate()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """What a fixture needs and this machine has not is the reason to skip."""
    with skipped_without_programs():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """What a test needs and this machine has not is the reason to skip."""
    with skipped_without_programs():
        return (yield)


@contextlib.contextmanager
def skipped_without_programs() -> Generator[None]:
    """Skip where a test, not mcode, has started a program that is nowhere to be found."""
    try:
        yield
    except FileNotFoundError as fault:
        passed = {Path(frame.filename) for frame in traceback.extract_tb(fault.__traceback__)}
        if fault.filename in PROGRAMS and not any(file.is_relative_to(PACKAGE) for file in passed):
            pytest.skip(f"{fault.filename} is not installed")
        raise


@pytest.fixture(scope="session", autouse=True)
def an_empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from, and nothing written to, the home directory of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def sessions_search_by_words_alone() -> Iterator[None]:
    """As without the extra `semantic`: working out vectors costs a session seconds that no result waits for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mcode.catalog.meaning.missing", lambda: "numpy, for these tests")
        yield


@pytest.fixture(scope="session", autouse=True)
def limits_that_no_busy_machine_reaches() -> Iterator[None]:
    """A test that is about one of these limits sets it to what it needs; in all others nothing is late."""
    with pytest.MonkeyPatch.context() as patch:
        for name in LIMITS:
            patch.setattr(name, 60.0)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a fresh copy the workers compile a part of the test files each, not every worker every file."""
    gc.disable()
    given: dict[str, object] = getattr(session.config, "workerinput", {})
    worker, workers = str(given.get("workerid", "")).removeprefix("gw"), given.get("workercount")
    if isinstance(workers, int) and worker.isdigit():
        load_from(int(worker) / workers, modules(session.config.args))


def pytest_collection_finish() -> None:
    """The thousands of collected tests stay to the end, so the collector need not look through them again and again."""
    gc.freeze()
    gc.enable()


def modules(arguments: Sequence[str]) -> list[str]:
    """The test modules that pytest's arguments name, in the order in which it collects them."""
    files: list[Path] = []
    for place in (TOP / argument.partition("::")[0] for argument in arguments):
        files += sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    inside = (
        file.relative_to(TOP) for file in files if file.is_relative_to(HERE) and FIXTURE not in file.parts
    )
    return [".".join(file.with_suffix("").parts) for file in inside]


def load_from(part: float, names: Sequence[str]) -> None:
    """Import them in a circle that begins at `part` of the list; what cannot be imported, the collection tells."""
    first = int(part * len(names))
    for name in (*names[first:], *names[:first]):
        with contextlib.suppress(Exception, pytest.skip.Exception, pytest.fail.Exception):
            importlib.import_module(name)
