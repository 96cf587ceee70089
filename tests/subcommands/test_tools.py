"""`mcode tools`: the tools of a folder from the shell, without a model and without leaving a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcode.subcommands.tools import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any settings, in an empty folder."""
    for name in ("MCODE_CONFIG_DIR", "ENABLE_TOOL_SEARCH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_list_has_every_tool_and_leaves_no_session(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    states = {row["name"]: row["state"] for row in json.loads(told(capsys, "list", "--json"))}
    assert states["Bash"] == "RESIDENT"
    assert states["WebFetch"] == "DEFERRED"
    assert "WebFetch" in told(capsys, "list", "deferred")
    assert not list(home.rglob("*.jsonl")) or all(
        path.parent.name == "logs" for path in home.rglob("*.jsonl")
    )


def test_search_runs_the_real_search(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(told(capsys, "search", "fetch", "a web page", "--json"))
    assert found["hits"][0]["name"] == "WebFetch"
    assert json.loads(told(capsys, "search", "select:NotebookEdit", "--json"))["hits"][0]["exact"]


def test_why_and_show_speak_of_one_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert "seldom needed" in told(capsys, "why", "WebFetch")
    settings = json.dumps({"mcode": {"placement": {"WebFetch": "resident"}}})
    assert "`mcode.placement` says resident" in told(capsys, "why", "WebFetch", "--settings", settings)
    assert json.loads(told(capsys, "show", "WebFetch", "--json"))["name"] == "WebFetch"
    assert main(["show", "Nosuch"]) == 1
