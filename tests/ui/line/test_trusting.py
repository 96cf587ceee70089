"""The question about a folder, before a session is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from mcode.ui.line.trusting import FolderAsker

if TYPE_CHECKING:
    import pytest


async def test_a_page_that_was_put_off_is_not_asked_about_again_in_the_same_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asker = FolderAsker()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("\r")
        assert await asker.ask("One rule.") == ""
        assert "One rule." in capsys.readouterr().out
        assert await asker.ask("One rule.") == ""  # as when a key was given, and a session opens anew
        assert capsys.readouterr().out == ""
        keys.send_text("trust\r")
        assert await asker.ask("Another rule.") == "trust"


async def test_a_word_that_is_no_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("3\rnever\r")
        assert await FolderAsker().ask("One rule.") == "never"
    assert "`3` is none of these answers." in capsys.readouterr().out
