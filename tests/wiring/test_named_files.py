"""Files that the command line names: what cannot be read ends the start, lest a rule in it be lost unnoticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.cli import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MCODE_CONFIG_DIR", raising=False)
    (tmp_path / "project" / "broken.json").write_text('{"permissions": ')
    (tmp_path / "project" / "list.json").write_text("[]")
    return tmp_path / "project"


FAULTS = [
    ("none.json", "is not there"),
    ("broken.json", "is not valid JSON"),
    ("list.json", "expected an object"),
    (".", "cannot be read"),
    ("{oops", "The text behind"),
]


@pytest.mark.parametrize("option", ["--settings", "--mcp-config"])
@pytest.mark.parametrize(("given", "told"), FAULTS)
def test_a_named_file_that_cannot_be_used_ends_the_start(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str, given: str, told: str
) -> None:
    assert run(["-p", "--demo", "hello", option, given]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert told in shown.err
    assert option in shown.err
    assert "Nothing was started" in shown.err
    assert not (tmp_path / ".mcode" / "projects").exists()


@pytest.mark.parametrize("words", [("doctor", "--offline"), ("permissions", "check")])
def test_the_subcommands_refuse_it_as_well(capfd: pytest.CaptureFixture[str], words: tuple[str, str]) -> None:
    behind = ["--", "ls"] if words[0] == "permissions" else []
    assert run([*words, "--settings", "broken.json", *behind]) == 2
    assert "--settings names is not valid JSON" in capfd.readouterr().err
