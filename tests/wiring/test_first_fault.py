"""Without a key what is wrong with the command line itself is told first: it would be wrong with a key, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.cli import run

if TYPE_CHECKING:
    from pathlib import Path

KEY = "No key was found"


@pytest.fixture(autouse=True)
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home in which nothing is set, and standard input that is at its end."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "MCODE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What mcode complains of."""
    assert run(list(arguments)) == 2
    return capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-p",), "There is no message"),
        (("-p", " "), "There is no message"),
        (("-p", "--resume", "nosuch", "go on"), "No session of this folder has the id or name `nosuch`"),
        (("-p", "--resume"), "There is no message"),
        (("-p", "go on", "--resume"), "--resume takes the id or name of a session"),
        (("-p", "--continue", "go on"), "There is no earlier session"),
        (("docter",), "docter is no subcommand of mcode; the nearest is `mcode doctor`"),
    ],
)
def test_the_fault_itself_is_told_and_not_the_missing_key(
    arguments: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found = told(capfd, *arguments)
    assert words in found
    assert KEY not in found


def test_a_lone_word_that_is_no_subcommand_is_said_to_be_a_message(
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = told(capfd, "frobnicate")
    assert KEY in found
    assert "frobnicate was taken for a message: subcommands are acp, doctor" in found


def test_a_word_behind_p_is_a_message_whatever_it_looks_like(capfd: pytest.CaptureFixture[str]) -> None:
    found = told(capfd, "-p", "docter")
    assert KEY in found
    assert "subcommand" not in found
