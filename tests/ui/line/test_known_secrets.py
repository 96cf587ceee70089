"""What is known to be secret is not printed into the terminal's scrollback when a call waits for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ui.line.obedient import ASKED
from tests.ui.line.terminal import ENTER, Terminal

if TYPE_CHECKING:
    from pathlib import Path


def test_an_approval_masks_the_value_of_a_secret_variable_and_the_command_runs_as_it_is(
    tmp_path: Path,
) -> None:
    secret = ASKED.split()[-1]
    with Terminal(tmp_path, environment={"DEPLOY_TOKEN": secret}) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("ask" + ENTER)
        terminal.wait_for("then Enter; ")
        shown = "\n".join(terminal.everything())
        block = shown[shown.index("Approval: Bash") : shown.index("decides nothing")]
        assert "\u2039secret:env:" in block
        assert secret not in block
        terminal.type("once" + ENTER)
        terminal.wait_for_log(decided="once")
        terminal.until((terminal.project / secret).exists, "the file that the command makes")
