"""What the command line says of itself and what it refuses, before anything is started."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from mcode.cli import run
from mcode.subcommands import SUBCOMMANDS


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
