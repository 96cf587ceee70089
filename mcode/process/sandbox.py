"""The sandbox, a second wall around commands: writing in the workspace alone, and the network on or off.

It is a wall beside the questions, not in place of them. Reading stays free, so what a command may show is still a
matter of the rules. bubblewrap makes it where it is installed, else Landlock (Linux), else sandbox-exec (macOS,
untested).
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.process.environment import child_environment, find_program

if TYPE_CHECKING:
    from collections.abc import Sequence

BUBBLEWRAP = "bubblewrap"
LANDLOCK = "Landlock"
SANDBOX_EXEC = "sandbox-exec"

READ_ONLY = (".git", ".mcode", ".claude", ".mcp.json")
"""Names in a writable directory that stay as they are: git would run what stands there, mcode would believe it."""

LEAST_LANDLOCK = 3
"""Versions of Landlock before this one let every file be emptied."""

_CHILD = Path(__file__).with_name("sandbox_child.py")
_MACOS = Path("/usr/bin/sandbox-exec")
_PATIENCE = 10
"""Seconds that a trial may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Availability:
    """What this system offers."""

    method: str
    """`bubblewrap`, `Landlock`, `sandbox-exec`; empty where there is nothing."""
    why_not: str = ""
    """Why there is nothing, in a sentence."""
    limits: tuple[str, ...] = ()
    """What the method leaves open here, one sentence each."""
    program: Path | None = None
    namespace: bool = False
    """Landlock is helped by namespaces of users, mounts and network."""

    @property
    def available(self) -> bool:
        return bool(self.method)

    @property
    def described(self) -> str:
        """One line for people."""
        return "; ".join((self.method, *self.limits)) if self.method else f"none: {self.why_not}"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The bounds of commands, and what puts them in place."""

    found: Availability
    writable: tuple[Path, ...]
    network: bool

    @property
    def described(self) -> str:
        """What it confines to, for the user."""
        net = "network on" if self.network else "network off"
        places = ", ".join(str(path) for path in self.writable)
        return f"{self.found.method}: writes only below {places} (not {READ_ONLY[0]} there), {net}"

    @property
    def short(self) -> str:
        """For a status line."""
        return "sandbox" if not self.network else "sandbox, network on"

    def wrap(self, argv: Sequence[str], cwd: Path, temporary: Path) -> tuple[str, ...]:
        """The arguments that run a program inside; `argv[0]` is a path. `temporary` can be written too."""
        writable = [path for path in dict.fromkeys((*self.writable, temporary)) if path.is_dir()]
        kept = [path / name for path in writable for name in READ_ONLY if (path / name).exists()]
        if self.found.method == BUBBLEWRAP:
            return (
                *_bubblewrap(self.found.program, writable, kept, self.network),
                "--chdir",
                str(cwd),
                "--",
                *argv,
            )
        if self.found.method == SANDBOX_EXEC:
            return (str(self.found.program), "-p", _profile(writable, kept, self.network), *argv)
        return (*_landlock(writable, kept, self.network, self.found.namespace), *argv)


def sandbox_availability(path: str = "", outside: Sequence[Path] = ()) -> Availability:
    """Find out by trial what works here; a few tenths of a second the first time, so not on the event loop.

    `path`: the PATH on which bubblewrap is looked for, `outside`: directories that are passed over (the workspace).
    """
    return _availability(path or os.environ.get("PATH", ""), tuple(outside))


@functools.lru_cache(maxsize=8)
def _availability(path: str, outside: tuple[Path, ...]) -> Availability:
    if sys.platform == "darwin":
        if _MACOS.exists():
            return Availability(SANDBOX_EXEC, program=_MACOS, limits=("mcode has not been tested with it",))
        return Availability("", f"{_MACOS} is missing")
    if sys.platform != "linux":
        return Availability("", f"mcode knows no sandbox for {sys.platform}")
    with tempfile.TemporaryDirectory(prefix="mcode-sandbox-") as name:
        scratch = Path(name).resolve()
        (scratch / "kept").mkdir()
        bubblewrap = find_program("bwrap", path, outside)
        if bubblewrap is not None:
            trial = _bubblewrap(bubblewrap, [scratch], [scratch / "kept"], network=False)
            if _works((*trial, "--"), scratch):
                return Availability(BUBBLEWRAP, program=bubblewrap)
        return _landlock_availability(scratch, bubblewrap)


def _landlock_availability(scratch: Path, bubblewrap: Path | None) -> Availability:
    """`bubblewrap`: there, but it does not work."""
    for namespace in (True, False):
        if _works(_landlock([scratch], [scratch / "kept"], network=False, namespace=namespace), scratch):
            break
    else:
        no_bwrap = f"{bubblewrap} does not work here" if bubblewrap else "bubblewrap (bwrap) is not installed"
        return Availability(
            "", f"{no_bwrap}, and the kernel offers no Landlock of version {LEAST_LANDLOCK} or later"
        )
    if namespace:
        return Availability(LANDLOCK, namespace=True)
    limits = (
        "without network only TCP is refused",
        "a directory with .git or settings of mcode in it takes no new files at its top",
    )
    return Availability(LANDLOCK, limits=limits)


def _works(prefix: tuple[str, ...], scratch: Path) -> bool:
    """Whether a command inside writes where it may and does not where it may not."""
    outside = scratch.with_name(f"{scratch.name}-out")
    script = (
        'echo x > "$1/in" || exit 3; (echo x > "$1/kept/f") 2>/dev/null && exit 4; '
        '(echo x > "$2") 2>/dev/null && exit 5; exit 0'
    )
    (scratch / "in").touch()
    try:
        done = subprocess.run(
            (*prefix, "/bin/sh", "-c", script, "sh", str(scratch), str(outside)),
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
            env=child_environment(os.environ),
        )
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        outside.unlink(missing_ok=True)
    return done.returncode == 0


def _bubblewrap(
    program: Path | None, writable: Sequence[Path], kept: Sequence[Path], network: bool
) -> tuple[str, ...]:
    arguments = [str(program), "--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc"]
    arguments += ["--cap-drop", "ALL"]  # root would simply unmount what is read-only
    arguments += [] if network else ["--unshare-net"]
    arguments += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for option, paths in (("--bind", writable), ("--ro-bind", kept)):
        for path in paths:
            arguments += [option, str(path), str(path)]
    return tuple(arguments)


def _landlock(
    writable: Sequence[Path], kept: Sequence[Path], network: bool, namespace: bool
) -> tuple[str, ...]:
    bounds = {
        "writable": [str(path) for path in writable],
        "read_only": [str(path) for path in kept],
        "network": network,
        "namespace": namespace,
    }
    return (sys.executable, "-I", "-S", str(_CHILD), json.dumps(bounds))


def _profile(writable: Sequence[Path], kept: Sequence[Path], network: bool) -> str:
    """The profile of sandbox-exec. A later line of it counts before an earlier one."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)", '(allow file-write* (subpath "/dev"))']
    lines += [
        f"(allow file-write* (subpath {json.dumps(str(path), ensure_ascii=False)}))" for path in writable
    ]
    lines += [f"(deny file-write* (subpath {json.dumps(str(path), ensure_ascii=False)}))" for path in kept]
    return "\n".join((*lines, *(() if network else ("(deny network*)",))))
