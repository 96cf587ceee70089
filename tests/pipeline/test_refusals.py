"""Every refusal says what it is about, why, what is unchanged and what to do next: each kind is provoked and read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from mcode.events import ToolFinished
from mcode.wiring.options import Options
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcode.call import Outcome

UNCHANGED = re.compile(
    r"(?i)nothing (else )?(was|is|has been|of it)|did not run|(is|are|stays?|file) (left )?unchanged"
    r"|was not (run|written|changed)|no file was|content is not shown"
)
NEXT = re.compile(
    r"(?i)\b(do not repeat|go another way|say what|use|read|give|load it|call it|write|choose|try|leave (it )?out"
    r"|look|ask|add|start|take|correct|repeat|did you mean|finds others|make|tell the user|copy|check)\b"
)


@dataclass(frozen=True)
class Case:
    """A call that is refused, and what the text must name."""

    call: dict[str, Any]
    about: str
    """The object: a path, a command, a tool."""
    why: str
    """What tells the reason: a rule, a mode, a limit, a state."""


@dataclass(frozen=True)
class Scene:
    """A session in which calls are refused for like reasons."""

    name: str
    cases: tuple[Case, ...]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    answer: tuple[str, str] | None = None
    """What the user answers to every question; None where nobody is there."""
    options: Options = field(default_factory=Options)
    inner: bool = False
    """The calls are made by programs, one each."""


def hook(event: str, command: str, **more: Any) -> dict[str, Any]:
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command, **more}]}]}}


def program(code: str) -> dict[str, Any]:
    return use("run_code", code=code)


TOUCH = use("Bash", command="touch made")
EDIT = use("Edit", file_path="known.txt", old_string="one", new_string="two")
RULES = {
    "permissions": {
        "deny": ["Bash(rm *)", "Read(secret/**)", "WebFetch(domain:evil.example)"],
        "allow": ["Edit", "Read"],
    }
}

SCENES = (
    Scene(
        "rules",
        (
            Case(use("Bash", command="rm x"), "rm x", "Bash(rm *)"),
            Case(use("Bash", command="ls; env rm x"), "ls; env rm x", "Bash(rm *)"),
            Case(use("Read", file_path="secret/a"), "secret/a", "Read(secret/**)"),
            Case(use("Write", file_path="secret/new", content="x"), "secret/new", "Read(secret/**)"),
            Case(
                use("WebFetch", url="https://evil.example/x", prompt="x"),
                "evil.example",
                "domain:evil.example",
            ),
        ),
        RULES,
    ),
    Scene(
        "nobody to ask",
        (
            Case(TOUCH, "touch made", "Nobody can be asked"),
            Case(use("Bash", command="echo x > made"), "made", "redirection"),
            Case(use("Bash", command="echo $(rm x)"), "echo $(rm x)", "Nobody can be asked"),
            Case(use("Bash", command="echo \u200b"), "echo", "U+200B"),
            Case(use("Read", file_path="/etc/hostname"), "/etc/hostname", "outside"),
            Case(use("Read", file_path=".env"), ".env", "credentials"),
            Case(use("Write", file_path=".git/config", content="x"), ".git/config", "protected"),
            Case(use("Bash", command="rm -rf /"), "rm -rf /", "critical"),
            Case(use("Bash", command="git log --output=x"), "git log --output=x", "--output"),
        ),
    ),
    Scene("dontAsk", (Case(TOUCH, "touch made", "dontAsk"),), options=Options(mode="dontAsk")),
    Scene(
        "plan",
        (
            Case(use("Write", file_path="new.txt", content="x"), "new.txt", "plan"),
            Case(TOUCH, "touch made", "plan"),
        ),
        options=Options(mode="plan"),
    ),
    Scene(
        "limits",
        (Case(use("Bash", command="; ".join(["true"] * 60)), "true; true", "more than 50 commands"),),
        RULES,
        options=Options(skip_permissions=True),
    ),
    Scene("no", (Case(TOUCH, "touch made", "the user said no"),), answer=("deny", "")),
    Scene(
        "no, with a word",
        (Case(TOUCH, "touch made", "in the other folder"),),
        answer=("deny", "in the other folder"),
    ),
    Scene(
        "a hook", (Case(TOUCH, "touch made", "not today"),), hook("PreToolUse", "echo not today >&2; exit 2")
    ),
    Scene(
        "a hook that fails",
        (Case(TOUCH, "touch made", "set to block"),),
        hook("PreToolUse", "exit 7", onFailure="block"),
    ),
    Scene(
        "a hook before the question",
        (Case(TOUCH, "touch made", "not this one"),),
        hook(
            "PermissionRequest",
            """echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest","""
            """ "decision": {"behavior": "deny", "message": "not this one"}}}'""",
        ),
    ),
    Scene(
        "calls that cannot be meant",
        (
            Case(use("Reed", file_path="x"), "Reed", "no tool called"),
            Case(use("Read"), "Read", "file_path"),
            Case(use("Read", file_path="a\0b"), "Read", "NUL"),
        ),
    ),
    Scene(
        "calls of a program",
        (
            Case(program("await tools.Bash({command: 'touch made'})"), "touch made", "Nobody can be asked"),
            Case(
                program("await tools.AskUserQuestion({questions: []})"), "AskUserQuestion", "from a program"
            ),
            Case(program("await tools.Read({file_path: 'folder'})"), "folder", "directory"),
            Case(
                program("await tools.Bash({command: 'true', run_in_background: true})"),
                "run_in_background",
                "waits",
            ),
        ),
        {"permissions": {"allow": ["Bash(true)"]}},
        inner=True,
    ),
    Scene(
        "files",
        (
            Case(
                use("Edit", file_path="never.txt", old_string="a", new_string="b"),
                "never.txt",
                "not been read",
            ),
            Case(use("Write", file_path="never.txt", content="b"), "never.txt", "not been read"),
            Case(use("Read", file_path="gone.txt"), "gone.txt", "does not exist"),
            Case(use("Read", file_path="folder"), "folder", "directory"),
            Case(use("Read", file_path="pipe"), "pipe", "FIFO"),
            Case(use("Edit", file_path="folder", old_string="a", new_string="b"), "folder", "directory"),
            Case(
                use("Edit", file_path="gone.txt", old_string="a", new_string="b"),
                "gone.txt",
                "does not exist",
            ),
            Case(use("Grep", pattern="("), "(", "pattern"),
            Case(use("Read", file_path="picture.bin"), "picture.bin", "binary"),
        ),
        {"permissions": {"allow": ["Read", "Edit"]}},
    ),
    Scene(
        "edits of what was read",
        (
            Case(use("Edit", file_path="known.txt", old_string="zzz", new_string="b"), "known.txt", "0"),
            Case(use("Edit", file_path="known.txt", old_string="o", new_string="b"), "known.txt", "2"),
            Case(use("Edit", file_path="known.txt", old_string="one", new_string="one"), "known.txt", "same"),
        ),
        {"permissions": {"allow": ["Read", "Edit"]}},
    ),
)


def prepare(project: Path) -> None:
    (project / "folder").mkdir()
    (project / "secret").mkdir()
    for name in ("never.txt", "known.txt", "secret/a"):
        (project / name).write_text("one and so\n")
    (project / ".env").write_text("A=1\n")
    (project / "picture.bin").write_bytes(b"\0\1\2" * 100)
    os.mkfifo(project / "pipe")


async def refused(scene: Scene, directory: Path) -> list[Outcome]:
    """What came of the scene's calls, one message each, a read of the known file first."""
    first = use("Read", "toolu_first", file_path="known.txt")
    calls = [{**case.call, "id": f"toolu_{at}"} for at, case in enumerate(scene.cases)]
    script = turns(first, *calls, "done")
    async with stage(directory, script, settings=dict(scene.settings), options=scene.options) as opened:
        prepare(opened.project)
        if scene.answer is not None:
            opened.answer(*scene.answer)
        await opened.say("go")
        ended = [event.outcome for event in opened.of(ToolFinished)][1:]
        return [outcome for outcome in ended if (outcome.call.parent is not None) is scene.inner]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_0_1_0_2_a_refusal_names_its_object_the_reason_what_is_unchanged_and_what_to_do(
    scene: Scene, tmp_path: Path
) -> None:
    outcomes = await refused(scene, tmp_path)
    assert len(outcomes) == len(scene.cases)
    faults: list[str] = []
    for case, outcome in zip(scene.cases, outcomes, strict=True):
        text = outcome.text
        missing = [
            label
            for label, there in (
                ("it is an error", outcome.is_error),
                (f"the object {case.about!r}", case.about in text),
                (f"the reason {case.why!r}", case.why in text),
                ("what is unchanged", UNCHANGED.search(text)),
                ("what to do next", NEXT.search(text)),
            )
            if not there
        ]
        if missing:
            faults.append(f"{', '.join(missing)} missing in: {text}")
    assert not faults, "\n\n".join(faults)
    assert not (tmp_path / "project" / "made").exists()
    assert (tmp_path / "project" / "known.txt").read_text() == "one and so\n"
