"""Copying by the system's program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.ui.tui.clipboard import clipboard_program, copy_beside, copy_by_program
from tests.stage import turns
from tests.ui.tui.screen import screen

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def program(directory: Path, name: str, body: str) -> None:
    file = directory / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def machine(directory: Path) -> dict[str, str]:
    return {"PATH": f"{directory}:/usr/bin:/bin", "HOME": str(directory), "WAYLAND_DISPLAY": "wayland-0"}


async def test_a_text_is_handed_to_the_program(tmp_path: Path) -> None:
    program(tmp_path, "wl-copy", 'cat > "$HOME/taken"')
    assert await copy_by_program("für dich\n漢字", machine(tmp_path)) == "wl-copy"
    assert (tmp_path / "taken").read_text("utf-8") == "für dich\n漢字"


async def test_it_is_said_what_was_done_and_not_that_it_worked(tmp_path: Path) -> None:
    told: list[str] = []
    program(tmp_path, "wl-copy", "cat > /dev/null")
    await copy_beside("text", machine(tmp_path), told.append)
    program(tmp_path, "wl-copy", "exit 1")
    await copy_beside("text", machine(tmp_path), told.append)
    assert told == ["sent to the terminal and given to wl-copy (Shift+drag selects past mcode)"]
    async with screen(tmp_path, turns("The answer."), environment={"PATH": "/nowhere"}) as on:
        await on.type("ask\n")
        await on.finished()
        await on.type("/copy\n")
        await on.until(lambda: "Sent 11 characters of an answer to the terminal" in on.shown)
        assert "/copy file writes" in " ".join(on.shown.split())
        assert "sent to the terminal (Shift+drag" in on.rows[-1]


async def test_a_program_that_fails_has_copied_nothing(tmp_path: Path) -> None:
    program(tmp_path, "wl-copy", "exit 1")
    assert await copy_by_program("text", machine(tmp_path)) is None


async def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcode.ui.tui.clipboard.LIMIT", 0.2)
    program(tmp_path, "wl-copy", "exec sleep 60")
    assert await copy_by_program("text", machine(tmp_path)) is None


async def test_without_a_program_nothing_is_done(tmp_path: Path) -> None:
    assert await copy_by_program("text", {"PATH": str(tmp_path)}) is None


def test_over_ssh_the_clipboard_would_be_the_wrong_one(tmp_path: Path) -> None:
    program(tmp_path, "wl-copy", "true")
    assert clipboard_program(machine(tmp_path)) == (str(tmp_path / "wl-copy"),)
    assert clipboard_program({**machine(tmp_path), "SSH_TTY": "/dev/pts/1"}) is None
    assert clipboard_program({"PATH": str(tmp_path)}) is None


def test_a_program_that_lies_in_the_project_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "wl-copy", "true")
    monkeypatch.chdir(tmp_path)
    assert clipboard_program({"PATH": str(tmp_path), "WAYLAND_DISPLAY": "wayland-0"}) is None
