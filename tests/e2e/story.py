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
