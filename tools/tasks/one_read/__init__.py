"""One value of one small file: a program here is a detour, and counts as wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.tasks.task import ANSWER, Task, save

if TYPE_CHECKING:
    from pathlib import Path

    from tools.tasks.task import Outcome


def prepare(project: Path) -> None:
    (project / "service.toml").write_text('name = "web"\n\n[listen]\nhost = "localhost"\nport = 8472\n')


def check(outcome: Outcome) -> str:
    if outcome.called("run_code"):
        return "a program was written to read one small file"
    return "" if outcome.answer() == {"port": 8472} else f"{outcome.answer()}"


TASK = Task(
    question=f'On which port does service.toml listen? Write {{"port": NUMBER}} to {ANSWER}.',
    prepare=prepare,
    steps=(lambda seen: [("Read", {"file_path": "service.toml"})], lambda seen: [save({"port": 8472})]),
    check=check,
)
