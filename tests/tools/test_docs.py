"""The pages say what the program knows: every key of the settings, every event, every file that is linked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcode.config.hook_entries import RUN_EVENTS
from mcode.config.known_keys import KEYS, MODES_THAT_RESTRICT
from mcode.run_code.limits import limits_from

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def cells(page: str, column: int) -> list[list[str]]:
    """The words in code of one column of all tables, row by row."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", row[column]) for row in rows]


def test_the_page_of_settings_has_every_key_once_with_who_may_set_it() -> None:
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    listed: dict[str, str] = {}
    for line in page.splitlines():
        row = line.strip("| ").split(" | ")
        if line.startswith("| `") and len(row) == 3:
            for key in re.findall(r"`([^`]+)`", row[0]):
                assert key not in listed, f"{key} is listed twice"
                listed[key] = row[2]
    assert listed.keys() == KEYS.keys()
    words = {"anyone": "anyone", "trusted": "trusted", "user": "you"}
    wrong = {key: who for key, who in listed.items() if not who.startswith(words[KEYS[key].reach])}
    assert wrong == {}
    modes = set(re.findall(r"`(\w+)`", listed["permissions.defaultMode"]))
    assert modes == MODES_THAT_RESTRICT - {"manual"}  # another word for default


def test_the_limits_of_programs_are_all_there() -> None:
    page = (ROOT / "docs/settings.md").read_text("utf-8").partition("### Limits of a program")[2]
    named = {key for row in cells(page.partition("##")[0], 0) for key in row}
    _, problems = limits_from({"nothing like it": 1})
    known = problems[0].partition("known are ")[2].rstrip(".").split(", ")
    assert named == set(known)


def test_the_page_of_hooks_has_every_event() -> None:
    page = (ROOT / "docs/hooks.md").read_text("utf-8").partition("| Event |")[2]
    assert {event for row in cells(page, 0) for event in row} == RUN_EVENTS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    missing = [each for each in targets if not each.startswith("http") and not (page.parent / each).exists()]
    assert missing == []
