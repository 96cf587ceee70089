"""A test fails: find the bug and mend it, in the code and not in the test. No program is called for."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tools.tasks.task import Task

if TYPE_CHECKING:
    from pathlib import Path

    from tools.tasks.task import Outcome

CODE = '''"""Splitting a bill."""


def shares(cents, people):
    """Whole cents for each person; the first ones pay what is left over."""
    each = cents // people
    rest = cents % people
    return [each + (1 if at <= rest else 0) for at in range(people)]
'''
TEST = """from bill import shares

assert shares(10, 3) == [4, 3, 3], shares(10, 3)
assert shares(9, 3) == [3, 3, 3], shares(9, 3)
print("all right")
"""


def prepare(project: Path) -> None:
    (project / "bill.py").write_text(CODE)
    (project / "test_bill.py").write_text(TEST)


def check(outcome: Outcome) -> str:
    if (outcome.project / "test_bill.py").read_text() != TEST:
        return "the test was changed"
    ran = subprocess.run(
        [sys.executable, "test_bill.py"], cwd=outcome.project, capture_output=True, check=False
    )
    return "" if ran.returncode == 0 else "the test still fails"


RUN = ("Bash", {"command": "python3 test_bill.py", "description": "Run the test"})
TASK = Task(
    question="`python3 test_bill.py` fails. Find out why and mend the code; the test is right.",
    prepare=prepare,
    steps=(
        lambda seen: [RUN],
        lambda seen: [("Read", {"file_path": "bill.py"})],
        lambda seen: [
            ("Edit", {"file_path": "bill.py", "old_string": "at <= rest", "new_string": "at < rest"})
        ],
        lambda seen: [RUN],
    ),
    check=check,
)
