"""Writes a file again and again in processes that are killed at random moments; prints what was found.

Arguments: directory, directory for records, rounds, seed. Run by test_replacement.py.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from mcode.builtins.change import look_at
from mcode.builtins.leftovers import MARK, remove_leftovers
from mcode.builtins.replacement import replace_content

SIZE = 5 * 1024 * 1024


def write(directory: Path, records: Path, letter: str) -> None:
    """Replace the file by one letter many times, by the steps of the tool."""
    path = directory / "f.txt"
    replace_content(path, look_at(path), letter.encode() * SIZE, records)


def seconds_of_a_write(directory: Path, records: Path) -> float:
    began = time.monotonic()
    write(directory, records, "a")
    return time.monotonic() - began


def killed_write(directory: Path, records: Path, letter: str, delay: float) -> bool:
    """Write in a child that is killed after a delay; True where it was killed before its end."""
    child = os.fork()
    if child == 0:
        try:
            write(directory, records, letter)
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main() -> None:
    directory, records = Path(sys.argv[1]), Path(sys.argv[2])
    rounds, dice = int(sys.argv[3]), random.Random(int(sys.argv[4]))
    path = directory / "f.txt"
    path.write_text("a" * SIZE)
    usual = min(seconds_of_a_write(directory, records) for _ in range(3))  # not one that was held up
    found = {"mixed": 0, "killed": 0, "left_over": 0, "not_removed": 0, "old": 0, "new": 0}
    current = "a"
    for _ in range(rounds):
        following = "b" if current == "a" else "a"
        found["killed"] += killed_write(directory, records, following, dice.uniform(0, usual * 1.2))
        content = path.read_text()
        if content == following * SIZE:
            found["new"] += 1
            current = following
        elif content == current * SIZE:
            found["old"] += 1
        else:
            found["mixed"] += 1
        found["left_over"] += any(MARK in name.name for name in directory.iterdir())
        remove_leftovers(records)
        found["not_removed"] += sum(name.name != "f.txt" for name in directory.iterdir())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
