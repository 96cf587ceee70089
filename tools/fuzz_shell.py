"""Random shell lines: what bash makes of them against what the parser of `permissions/shell.py` says.

Every line that reads as plain is given to bash twice, as it came and as mcode renders it, with programs that only
write down their arguments. Both must be the commands that were judged, word for word. Patterns are not expanded.
Run `python -m tools.fuzz_shell` for 200,000 lines; `--lines` and `--seed` choose others.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.permissions.shell.reading import Form, read_shell, render
from tools.guard_cases import cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.permissions.shell.reading import Reading

LINES = 200_000
SEED = 20_261_130
BATCH = 400
TIMEOUT = 120

PROGRAMS = ("t", "f", "u2", "git", "ls", "echo", "cd", "pwd", "cat", "npm")
"""What is a function in the shell below; `f` fails, all others succeed."""

_PIECES = (
    *PROGRAMS,
    *"a b x1 -n --long=v src/a.py HEAD~1 a=b %1 +5 @x ^y , : . .. / naïve 日本 é 2 10".split(),  # noqa: SIM905
    *(
        "'",
        '"',
        "''",
        '""',
        "'a b'",
        '"a b"',
        "'a;b'",
        '"it\'s"',
        "'\"'",
        "'\\'",
        '"a&&b"',
        "'\n'",
        '"\n"',
        "'#'",
    ),
    *(
        " ",
        "  ",
        "\t",
        "\n",
        "\\\n",
        " \\\n ",
        "\\",
        "\\ ",
        ";",
        ";;",
        "&&",
        "||",
        "|",
        "|&",
        "&",
        "#",
        " # c",
        "!",
    ),
    *(
        "$",
        "$x",
        "${x}",
        "$(t)",
        "`t`",
        "$'a'",
        '$"a"',
        "$((1))",
        "(",
        ")",
        "{",
        "}",
        "{a,b}",
        "[",
        "]",
        "[[",
        "]]",
    ),
    *(
        ">",
        ">/dev/null",
        "2>/dev/null",
        "2>&1",
        "&>/dev/null",
        ">&2",
        "2> /dev/null",
        "<",
        "<<E",
        "<<<",
        ">|",
        "1>",
    ),
    *(
        "~",
        "~/x",
        "=~",
        ":~",
        "*",
        "?",
        "*.py",
        "a*",
        "=",
        "CI=1",
        "NODE_ENV='a b'",
        "X=1",
        "TZ=~",
        "\r",
        "\v",
        "\f",
        "\xa0",
    ),
    *(
        "time",
        "if",
        "then",
        "fi",
        "do",
        "done",
        "case",
        "esac",
        "function",
        "coproc",
        "in",
        "!",
        "[[ a ]]",
        "\u200b",
        "\u2028",
    ),
)

# One write for each command, so that those of a pipeline do not mix: a newline would end a write too early.
_SHELL = r"""
set -f
exec 9>&1 >/dev/null 2>&1 </dev/null
write_down__() { printf '%s\0' "${@//$'\n'/$'\3'}" $'\1' >&9; }
for name in t u2 git ls echo cd pwd cat npm; do builtin eval "$name() { write_down__ $name \"\$@\"; }"; done
f() { write_down__ f "$@"; return 1; }
command_not_found_handle() { write_down__ "$@"; return 127; }
for line in "$@"; do builtin eval -- "$line"; printf '\2\0' >&9; done
"""


@dataclass(slots=True)
class Tally:
    """What a run found."""

    lines: int = 0
    plain: int = 0
    compared: int = 0
    """Plain lines that bash was given; the others name a builtin or a path, or redirect to a file."""
    differences: list[str] = field(default_factory=list[str])


class Generator:
    """Random lines: pieces put together, listed lines with pieces put in, taken out or doubled."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._listed = [case.line for name in ("hostile", "everyday") for case in cases(name)]

    def line(self) -> str:
        kind = self._random.random()
        if kind < 0.45:
            return self._sentence()
        if kind < 0.75:
            return "".join(self._random.choices(_PIECES, k=self._random.randint(1, 12)))
        return self._mutated(self._random.choice(self._listed))

    def _sentence(self) -> str:
        """Mostly well formed, so that many lines are plain."""
        pieces: list[str] = []
        for _ in range(self._random.randint(1, 4)):
            pieces.append(self._random.choice(PROGRAMS))
            for _ in range(self._random.randint(0, 4)):
                pieces.append(self._random.choice((" ", " ", " ", "  ", "\t", " \\\n ", "")))
                pieces.append("".join(self._random.choices(_PIECES, k=self._random.choice((1, 1, 1, 2, 3)))))
            pieces.append(self._random.choice((" && ", "||", "; ", "\n", " | ", "|", ";", " &&\n", "")))
        return "".join(pieces)

    def _mutated(self, line: str) -> str:
        for _ in range(self._random.randint(1, 3)):
            place = self._random.randint(0, len(line))
            match self._random.randint(0, 2):
                case 0:
                    line = line[:place] + self._random.choice(_PIECES) + line[place:]
                case 1:
                    line = line[:place] + line[place + self._random.randint(1, 4) :]
                case _:
                    line = line[:place] + line[max(0, place - 5) :]
        return line


def fuzz(count: int, seed: int) -> Tally:
    """Make lines and compare; differences are told as text."""
    generator, tally, batch = Generator(seed), Tally(), list[tuple[str, "Reading"]]()
    builtins = _builtins()
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(count):
            line = generator.line()
            tally.lines += 1
            reading = read_shell(line)
            if reading.form is not Form.PLAIN:
                continue
            tally.plain += 1
            if _can_be_run(reading, builtins):
                batch.append((line, reading))
            if len(batch) >= BATCH:
                _compare(batch, directory, tally)
                batch.clear()
        _compare(batch, directory, tally)
    return tally


def _can_be_run(reading: Reading, builtins: frozenset[str]) -> bool:
    return not any(
        command.files or "/" in command.program or command.program in builtins for command in reading.commands
    )


def _builtins() -> frozenset[str]:
    listed = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True)
    return frozenset(listed.stdout.split()) - set(PROGRAMS)


def _compare(batch: Sequence[tuple[str, Reading]], directory: str, tally: Tally) -> None:
    if not batch:
        return
    rendered = [render(reading.commands) for _, reading in batch]
    as_given = _run_by_bash([line for line, _ in batch], directory)
    as_rendered = _run_by_bash(rendered, directory)
    for index, (line, reading) in enumerate(batch):
        tally.compared += 1
        judged = _expected(reading, rendered=False)
        if _normal(as_given[index]) != _normal(judged):
            tally.differences.append(f"bash runs {line!r} as {as_given[index]!r}, judged were {judged!r}")
        judged = _expected(reading, rendered=True)
        if _normal(as_rendered[index]) != _normal(judged):
            tally.differences.append(
                f"rendered {rendered[index]!r} runs as {as_rendered[index]!r}, not {judged!r}"
            )


def _expected(reading: Reading, *, rendered: bool) -> list[list[str]]:
    """The commands that run where each succeeds but `f` and programs that are not there."""
    found: list[list[str]] = []
    worked, runs = True, True
    for command in reading.commands:
        if command.operator in ("", ";"):
            runs = True
        elif command.operator != "|":
            runs = worked if command.operator == "&&" else not worked
        if not runs:
            continue
        words = [word.value for word in command.words]
        if rendered:
            words = [word.rendered if word.glob else word.value for word in command.words]
        found.append(words)
        worked = words[0] in PROGRAMS and words[0] != "f"
    return found


def _normal(commands: list[list[str]]) -> list[list[str]]:
    """In a fixed order: the commands of a pipeline run at the same time."""
    return sorted(commands)


def _run_by_bash(lines: Sequence[str], directory: str) -> list[list[list[str]]]:
    """For each line the commands that bash ran."""
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", _SHELL, "bash", *lines],
        cwd=directory,
        env={"PATH": "/nowhere", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        executable="/bin/bash",
    )
    found: list[list[list[str]]] = []
    commands: list[list[str]] = []
    words: list[str] = []
    for piece in ran.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        if piece == "\2":
            found.append(commands)
            commands = []
        elif piece == "\1":
            commands.append(words)
            words = []
        else:
            words.append(piece.replace("\3", "\n"))
    if len(found) != len(lines):
        raise RuntimeError(f"bash ended after {len(found)} of {len(lines)} lines: {ran.stderr[-300:]!r}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    began = time.monotonic()
    tally = fuzz(given.lines, given.seed)
    print(f"seed {given.seed}: {tally.lines} lines, {tally.plain} plain, {tally.compared} compared with bash")
    print(f"{len(tally.differences)} differences in {time.monotonic() - began:.0f} s")
    for text in tally.differences[:20]:
        print(f"  {text}")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
