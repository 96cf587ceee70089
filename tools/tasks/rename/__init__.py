"""A function is renamed in all files that use it, and nowhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tools.tasks.task import Seen, Task

if TYPE_CHECKING:
    from pathlib import Path

    from tools.tasks.task import Outcome

FILES = 12


def text(number: int, name: str) -> str:
    filler = "".join(f"def helper_{number}_{at}(value):\n    return value * {at}\n\n\n" for at in range(30))
    use = f"def use_{number}():\n    return {name}({number}) + {name}(1)  # not load_items_slowly\n"
    return f"from core import {name}\n\n\n{filler}{use}"


def prepare(project: Path) -> None:
    (project / "core.py").write_text("def load_items(count):\n    return count\n")
    for number in range(FILES):
        (project / f"part_{number:02}.py").write_text(text(number, "load_items"))


def check(outcome: Outcome) -> str:
    if (outcome.project / "core.py").read_text() != "def load_entries(count):\n    return count\n":
        return "core.py is not as it should be"
    wrong = [
        n
        for n in range(FILES)
        if (outcome.project / f"part_{n:02}.py").read_text() != text(n, "load_entries")
    ]
    return f"{len(wrong)} files are not as they should be" if wrong else ""


def files(seen: Seen) -> list[str]:
    return sorted(set(re.findall(r"[\w/]+\.py", seen.of("Grep")[0][1])))


def edits(seen: Seen) -> Any:
    changes = ("load_items(", "load_entries("), ("import load_items\n", "import load_entries\n")
    return [
        ("Edit", {"file_path": file, "old_string": old, "new_string": new, "replace_all": True})
        for file in files(seen)
        for old, new in (changes if file != "core.py" else changes[:1])
    ]


TASK = Task(
    question=(
        "Rename the function load_items of core.py to load_entries, there and in every file that imports or calls it. "
        "Leave other names and comments as they are."
    ),
    prepare=prepare,
    steps=(
        lambda seen: [("Grep", {"pattern": r"\bload_items\b", "head_limit": 100})],
        lambda seen: [("Read", {"file_path": file}) for file in files(seen)],
        edits,
    ),
    program="""\
// rename in all files
const paths = await must(tools.Grep({pattern: "\\\\bload_items\\\\b", head_limit: 100}));
const change = async (file_path, old_string, new_string) =>
  must(tools.Edit({file_path, old_string, new_string, replace_all: true}));
for (const path of paths) {
  await must(tools.Read({file_path: path}));
  await change(path, "load_items(", "load_entries(");
  if (!path.endsWith("core.py")) await change(path, "import load_items\\n", "import load_entries\\n");
}
return `${paths.length} files`;
""",
    check=check,
)
