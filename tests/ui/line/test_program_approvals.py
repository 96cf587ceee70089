"""Approvals of calls that a program makes, in a real pseudo-terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ui.line.terminal import ENTER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.line.terminal import Terminal


def written(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("out/*.txt"))


def asked_about(terminal: Terminal, count: int) -> None:
    """Have a program ask for so many writes; a draft keeps the first from being shown before the last has come."""
    terminal.type(f"program {count}" + ENTER)
    terminal.wait_for_log(message=...)
    terminal.type("wait")
    terminal.wait_for_log(asked="Write", count=count)
    terminal.wait_for_draft("wait")
    terminal.type("\x15")
    terminal.wait_for("approve?")


def test_several_writes_of_a_program_are_listed_and_allowed_with_one_word(
    terminal: Terminal, tmp_path: Path
) -> None:
    asked_about(terminal, 3)
    text = "\n".join(terminal.everything())
    assert 'the program "writes some files", call ' in text
    assert "Allow these 3 calls once" in text
    assert text.count("with it: Write call ") == 2
    for number in (1, 2, 3):
        assert f"number {number}" in text
    assert "Allow edits under out/ until this program ends" in text
    terminal.type("batch" + ENTER)
    terminal.wait_for_log(decided="batch", count=3)
    terminal.wait_for("ok, 3 calls")
    assert written(tmp_path) == ["1.txt", "2.txt", "3.txt"]


def test_stop_denies_the_call_and_ends_the_program(terminal: Terminal, tmp_path: Path) -> None:
    asked_about(terminal, 2)
    terminal.type("stop not into that folder" + ENTER)
    terminal.wait_for_log(decided="stop")
    terminal.wait_for("stopped by user")
    assert written(tmp_path) == []


def test_the_pattern_for_the_program_lets_the_others_go_too(terminal: Terminal, tmp_path: Path) -> None:
    asked_about(terminal, 2)
    terminal.type("program" + ENTER)
    terminal.wait_for_log(decided="rule")
    terminal.wait_for("ok, 2 calls")
    assert written(tmp_path) == ["1.txt", "2.txt"]
