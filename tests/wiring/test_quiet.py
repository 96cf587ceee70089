"""An ordinary session, as it was recorded: nothing in it asks a question that a user would find needless."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from mcode.events import ApprovalRequested, QuestionAsked
from mcode.wiring.options import Options
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

MAKEFILE = "test:\n\t@grep -q 'return a + b' src/sums.py && echo 1 passed\n"
SUMS = "def add(a, b):\n    return a - b\n"

RULES = {"permissions": {"allow": ["Bash(make test)", "Bash(make lint *)"]}}

LOOK = (
    "git status --short && git diff --stat",
    "git log --oneline -5",
    "ls -la && cat Makefile | head -20",
    "grep -rn 'def ' --include='*.py' src | head",
    "find . -name '*.py' -not -path './.git/*' | wc -l",
)
AFTERWARDS = (
    "make test 2>&1 | tail -5",
    "git diff -- src/sums.py",
    "mkdir -p tests && touch tests/__init__.py",
    "cd src && ls",
    "git show --stat HEAD",
)


def repository(project: Path) -> None:
    (project / "src").mkdir(parents=True)
    (project / "src" / "sums.py").write_text(SUMS)
    (project / "Makefile").write_text(MAKEFILE)
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "Sums")):
        subprocess.run(["git", *words], cwd=project, check=True)


async def test_an_ordinary_session_asks_nothing(tmp_path: Path) -> None:
    """A bug is looked for, found, mended in mode acceptEdits and tested by an allowed rule; a program reads too."""
    looks = [use("Bash", f"toolu_look{at}", command=line) for at, line in enumerate(LOOK)]
    later = [use("Bash", f"toolu_later{at}", command=line) for at, line in enumerate(AFTERWARDS)]
    code = "const t = await tools.Read({file_path: 'src/sums.py'}); return JSON.stringify(t).length"
    script = turns(
        looks,
        [use("Glob", pattern="**/*.py"), use("Grep", pattern="return", output_mode="content")],
        use("Read", file_path="src/sums.py"),
        use("Edit", file_path="src/sums.py", old_string="a - b", new_string="a + b"),
        use("Write", file_path="src/note.md", content="Mended.\n"),
        use("TodoWrite", todos=[{"content": "Test", "status": "in_progress", "activeForm": "Testing"}]),
        use("run_code", code=code),
        later,
        "It is mended.",
    )
    options = Options(mode="acceptEdits")
    repository(tmp_path / "project")
    async with stage(tmp_path, script, settings=RULES, options=options) as opened:
        opened.agent.desk.attach()
        assert (await opened.say("add(1, 2) gives -1. Mend it.")).reason == "end"
        asked = [each.call.arguments for each in opened.of(ApprovalRequested)]
        assert asked == []
        assert opened.of(QuestionAsked) == []
        failed = [outcome.text for outcome in opened.outcomes if outcome.is_error]
        assert failed == []
        tested = next(each for each in opened.outcomes if each.call.id == "toolu_later0")
        assert "1 passed" in tested.text
