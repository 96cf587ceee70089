"""`mcode --demo --tour`: the demo plays by itself, headless and on a terminal of usual size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.binary import Machine
from tests.ui.tui.terminal import ScreenTerminal

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tour_runs_without_key_terminal_or_network_and_ends_with_the_ledger(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    ran = machine.run("--tour", "-p", "--output-format", "json")
    assert ran.code == 0, ran.err
    played, context = ran.lines
    assert "Both answers are right" in played["result"]
    assert (
        "nothing was changed" in played["result"]
    )  # nobody was there to allow the one call that changes something
    assert [denial["tool_name"] for denial in played["permission_denials"]] == [
        "mcp__office__flag_for_review"
    ]
    savings = context["mcode"]["ledger"]["savings"]
    assert savings["deferral"]["deferred_tools"] > 60
    assert savings["deferral"]["net"] > 0
    assert savings["kept_out"] > 10_000
    assert "without deferral this session would have sent" in context["result"]


def test_the_tour_on_a_small_terminal_asks_once_and_shows_each_mechanism_and_the_ledger(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path / "home", tmp_path / "project")
    machine.home.mkdir()
    machine.project.mkdir()
    with ScreenTerminal(machine, "--tour", columns=80, rows=24) as terminal:
        terminal.choose("Allow once", "mcp__office__flag_for_review wants approval")
        terminal.wait_for_row_with("without deferral this session would have sent")
        terminal.wait_for_row_with("saved up to 13 round trips")
        assert terminal.quit() == 0
    written = terminal.written.decode("utf-8", "replace")
    for mechanism in ("Deferral.", "Search.", "The audit by direct calls.", "The same audit by one program."):
        assert mechanism in written, mechanism
