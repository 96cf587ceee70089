"""What the command line says of itself and what it refuses, before anything is started."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from mcode.cli import run
from mcode.subcommands import SUBCOMMANDS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("asked", ["--help", "help"])
def test_the_help_lists_every_subcommand_with_what_it_is_for(
    capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    assert run([asked]) == 0
    shown = capsys.readouterr().out
    for name, about in SUBCOMMANDS.items():
        assert find_spec(f"mcode.subcommands.{name}") is not None
        assert any(line.split() == [name, *about.split()] for line in shown.splitlines())


@pytest.mark.parametrize(
    "demo", [["--demo"], ["--tour"], ["--demo-latency", "5"], ["--demo-fail-every", "2"]]
)
def test_the_guide_does_not_answer_for_an_endpoint_that_was_named(
    capsys: pytest.CaptureFixture[str], demo: list[str]
) -> None:
    assert run([*demo, "--base-url", "http://127.0.0.1:9", "-p", "hi"]) == 2
    assert f"--base-url does not go with {demo[0]}" in capsys.readouterr().err


def test_help_with_a_subcommand_shows_that_ones_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "report"]) == 0
    assert capsys.readouterr().out.startswith("usage: mcode report")
    assert run(["help", "mcp", "add"]) == 0
    assert capsys.readouterr().out.startswith("usage: mcode mcp add")


@pytest.mark.parametrize("subcommand", ["mcp", "permissions", "programs", "run", "tools"])
def test_a_subcommand_that_needs_a_word_shows_its_use_as_an_error_without_one(
    capsys: pytest.CaptureFixture[str], subcommand: str
) -> None:
    assert run([subcommand]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.splitlines()[0][: len(subcommand) + 13]) == (
        "",
        f"usage: mcode {subcommand}",
    )
    assert run([subcommand, "--help"]) == 0
    assert capsys.readouterr().out == shown.err


@pytest.mark.parametrize(
    ("subcommand", "wrong", "said"),
    [
        ("mcp", "lst", "the nearest is list. Nothing was done"),
        ("permissions", "chek", "the nearest is check. Nothing was judged"),
        ("programs", "lists", "the nearest is list. Nothing was done"),
        ("tools", "frobnicate", "there are: list, show, search, why, test. Nothing was done"),
    ],
)
def test_a_word_that_a_subcommand_does_not_have_names_the_nearest(
    capsys: pytest.CaptureFixture[str], subcommand: str, wrong: str, said: str
) -> None:
    assert run([subcommand, wrong]) == 2
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)
    assert f"There is no `mcode {subcommand} {wrong}`; {said}" in shown.err
    assert run([subcommand, "help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: mcode {subcommand}")


@pytest.mark.parametrize("arguments", [["--modle", "x"], ["--modle=x"], ["doctor", "--jsn"]])
def test_an_option_that_nobody_knows_names_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run(arguments) == 2
    assert f"Did you mean {'--json' if 'doctor' in arguments else '--model'}?" in capsys.readouterr().err


def test_an_empty_list_of_programs_is_no_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run(["programs", "list"]) == 0
    assert capsys.readouterr().out == "No program has run in any session of this folder.\n"
    assert run(["programs", "show", "1"]) == 2


def test_a_message_on_the_command_line_is_not_lost_beside_messages_on_standard_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["-p", "hi", "--input-format", "stream-json"]) == 2
    assert "`hi` stands on the command line" in capsys.readouterr().err
