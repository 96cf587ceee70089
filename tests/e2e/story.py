"""The story of the fixture project: its failing test is found, mended and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcode.model.script import parse_script
from tests.stage import use

if TYPE_CHECKING:
    from mcode.model.script import Script

RUN_TESTS = "python3 -m pytest -q -p no:cacheprovider"

FIXED = "return sum(values) / len(values)"

READ = use("Read", "toolu_read", file_path="averages.py")
FAILS = use("Bash", "toolu_fails", command=RUN_TESTS)
EDIT = use(
    "Edit",
    "toolu_edit",
    file_path="averages.py",
    old_string="return sum(values) / (len(values) - 1)",
    new_string=FIXED,
)
PASSES = use("Bash", "toolu_passes", command=RUN_TESTS)

LAST_WORD = "mean() divided by one less than the number of values; the tests pass now."


def turn(*blocks: Any) -> dict[str, Any]:
    """One reply of the script that asks for calls."""
    return {"reply": {"blocks": list(blocks), "stop_reason": "tool_use"}}


ALLOW_TESTS = ("--allowedTools", f"Bash({RUN_TESTS})")

ALLOW_KILLED = ("--allowedTools", "Bash(sleep 60)", "Edit(averages.py)")
"""What `killed_story` needs to run unasked."""


def denied_story() -> Script:
    """Write a file, which the user is to deny; then read, edit and run the tests."""
    return parse_script(
        {
            "turns": [
                turn("I would rather rewrite it.", use("Write", file_path="new.py", content="print(1)\n")),
                turn("As you wish.", READ),
                turn(EDIT),
                turn(PASSES),
                {"reply": LAST_WORD},
            ]
        },
        "story with a denial",
    )


def killed_story() -> Script:
    """Read, then run a command for as long as it takes to be killed, then edit."""
    return parse_script(
        {
            "turns": [
                turn(READ),
                turn("Now the tests.", use("Bash", "toolu_slow", command="sleep 60")),
                turn(EDIT),
                {"reply": LAST_WORD},
            ]
        },
        "killed story",
    )


def story() -> Script:
    """Run the tests, read, edit, run the tests again, say what it was."""
    return parse_script(
        {
            "turns": [
                turn("I will see what fails.", FAILS),
                turn(READ),
                turn("The divisor is wrong.", EDIT),
                turn(PASSES),
                {"reply": LAST_WORD},
            ]
        },
        "fixture story",
    )
