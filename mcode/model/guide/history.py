"""What the guide knows: nothing but the conversation, so that a resumed session goes on where it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from mcode.model.guide.reading import listed_paths, went_wrong

if TYPE_CHECKING:
    from mcode.model.script import RequestView, Result

STEPS = 6
"""Steps that show a newcomer around."""

SCRATCH_STEM = "mcode-guide-scratch"
SCRATCH_NAME = re.compile(rf"{SCRATCH_STEM}(-\d+)?\.txt\Z")

FIRST_WORDS = "Tea or coffee? Not decided yet."
"""The line of the scratch file that the edit changes."""

_STEP_HEADING = re.compile(r"\bStep (\d) of 6\b")
_REMOVAL = re.compile(r"rm (\S+)\Z")


@dataclass(frozen=True, slots=True)
class Scratch:
    """The guide's own file, as it last wrote it."""

    name: str
    line: str
    """The line that the next edit would change."""


def step_reached(view: RequestView) -> int:
    """The last step that was begun before this message; 0 for none."""
    for words in view.texts_before_turn():
        found = _STEP_HEADING.findall(words)
        if found:
            return int(found[-1])
    return 0


def is_first_answer(view: RequestView) -> bool:
    """True where the guide has not said anything yet."""
    return not any(message.get("role") == "assistant" for message in view.messages)


def own_scratch(view: RequestView) -> Scratch | None:
    """The scratch file that the guide wrote in this session and has not removed."""
    scratch: Scratch | None = None
    for result in view.all_results:
        if went_wrong(result):
            continue
        name = PurePath(str(result.arguments.get("file_path", ""))).name
        if result.tool == "Write" and SCRATCH_NAME.match(name):
            scratch = Scratch(name, FIRST_WORDS)
        elif result.tool == "Edit" and scratch is not None and name == scratch.name:
            scratch = Scratch(name, str(result.arguments.get("new_string", "")))
        elif scratch is not None and removed_name(result) == scratch.name:
            scratch = None
    return scratch


def removed_name(result: Result) -> str | None:
    """The file that a Bash result of ours has removed."""
    found = _REMOVAL.match(str(result.arguments.get("command", ""))) if result.tool == "Bash" else None
    return None if found is None else found[1]


def known_files(view: RequestView) -> tuple[str, ...]:
    """The files of the guide's last general listing."""
    for result in reversed(view.all_results):
        if result.tool == "Glob" and not result.is_error and result.arguments.get("pattern") in ("*", "**/*"):
            return listed_paths(result.text)
    return ()
