"""Output and input at the same time, in a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import signal
import stat
import termios
from typing import TYPE_CHECKING

import pytest

from tests.ui.line.obedient import GATE
from tests.ui.line.terminal import BACK_TAB, CONTROL_C, CONTROL_D, ENTER, ESCAPE, TAB, UP, Terminal

if TYPE_CHECKING:
    from pathlib import Path

OWN = re.compile(rb"\x1b\[[0-9;]*[ABCDJKm]|\x1b\[\?(?:1|7|12|25|2004)[hl]")
"""Sequences that draw the prompt: the cursor moves, rows are erased and coloured, modes are set."""

COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def test_scenario_25_each_streamed_line_stands_once_while_a_draft_is_typed_and_then_an_approval_waits(
    terminal: Terminal,
) -> None:
    terminal.type("gate; stream 300; ask" + ENTER)
    terminal.wait_for(GATE)
    terminal.type("a draft ")
    terminal.wait_for_draft("a draft")
    terminal.open_gate()
    terminal.wait_for("line 0003")
    terminal.type("that must stay", pause=0.02)
    terminal.wait_for_log(asked="Bash")
    terminal.wait_for_draft("a draft that must stay")
    terminal.pump(1.6)
    assert terminal.draft() == "a draft that must stay"
    assert "approve?" not in str(terminal)
    terminal.type(ENTER)
    terminal.wait_for("approve?")
    terminal.wait_for("then Enter; ")
    terminal.type("once" + ENTER)
    terminal.wait_for_log(decided="once")
    terminal.wait_for_log(message="a draft that must stay")
    streamed = [row for row in terminal.everything() if row.startswith("line ")]
    assert streamed == [f"line {number:04d} of the answer" for number in range(1, 301)]


def test_escape_interrupts_and_draft_and_queue_stay(terminal: Terminal) -> None:
    terminal.type("stream 3; work" + ENTER)
    terminal.wait_for("line 0003")
    terminal.type("queued words" + ENTER)
    terminal.wait_for("queued 1:  queued words")
    terminal.type("half a draft")
    terminal.wait_for_draft("half a draft")
    terminal.type(ESCAPE)
    terminal.wait_for_log(turn="interrupted")
    terminal.wait_for("interrupted")
    terminal.wait_until_gone("Interrupting.")
    terminal.wait_for_draft("half a draft")
    terminal.wait_for("queued 1:  queued words")
    terminal.type(ENTER)
    assert terminal.wait_for_log(message="queued words")


def test_control_c_interrupts_then_clears_the_draft_then_quits_at_the_second_press(
    terminal: Terminal,
) -> None:
    terminal.type("stream 3; work" + ENTER)
    terminal.wait_for("line 0003")
    terminal.type("a draft")
    terminal.type(CONTROL_C)
    terminal.wait_for_log(turn="interrupted")
    terminal.wait_for_draft("a draft")
    terminal.type(CONTROL_C)
    terminal.wait_for_draft("")
    terminal.type(CONTROL_C)
    terminal.wait_for("Ctrl+C again quits")
    terminal.type(CONTROL_C)
    assert terminal.wait_for_end() == 0
    assert terminal.log(closed="prompt_input_exit")


def test_a_message_that_nothing_came_of_is_put_back_into_the_draft(terminal: Terminal) -> None:
    terminal.type("think 60" + ENTER)
    terminal.wait_for_log(message="think 60")
    terminal.wait_for_draft("")
    terminal.type(ESCAPE)
    terminal.wait_for_log(turn="interrupted")
    terminal.wait_for_draft("think 60")


def test_up_takes_back_the_last_queued_message_and_then_goes_through_the_history(terminal: Terminal) -> None:
    terminal.type("stream 3; work" + ENTER)
    terminal.wait_for("line 0003")
    terminal.type("first" + ENTER)
    terminal.wait_for("queued 1:  first")
    terminal.type("second" + ENTER)
    terminal.wait_for("queued 2:  second")
    terminal.type(UP)
    terminal.wait_until_gone("queued 2:")
    terminal.wait_for_draft("second")
    terminal.type(CONTROL_C)
    terminal.wait_for_log(turn="interrupted")
    terminal.type(CONTROL_C)
    terminal.wait_for_draft("")
    terminal.type(UP)
    terminal.wait_for_draft("first")
    terminal.wait_until_gone("queued 1:")
    terminal.type(CONTROL_C)
    terminal.wait_for_draft("")
    terminal.type(UP + UP)
    terminal.wait_for_draft("second")


def test_a_new_line_comes_by_control_j_and_by_a_backslash_before_enter(terminal: Terminal) -> None:
    terminal.type("one\ntwo\\")
    terminal.until(lambda: terminal.shows("two\\"), "the backslash")
    terminal.type(ENTER)
    terminal.type("three")
    terminal.until(lambda: terminal.shows("three"), "the third line")
    assert not terminal.log(message=...)
    terminal.type(ENTER)
    assert terminal.wait_for_log(message="one\ntwo\nthree")


def test_a_marked_paste_is_never_sent_by_itself_whatever_its_line_ends(terminal: Terminal) -> None:
    terminal.type("\x1b[200~one\rtwo\r\nthree\n\x1b[201~")
    terminal.until(lambda: terminal.shows("three"), "the third line")
    terminal.pump(0.5)
    assert not terminal.log(message=...)
    terminal.type(ENTER)
    assert terminal.wait_for_log(message="one\ntwo\nthree\n")


def test_an_unmarked_paste_of_several_lines_is_not_sent_by_its_line_ends(terminal: Terminal) -> None:
    terminal.type("first line\rsecond line\rthird line\r")
    terminal.wait_for("Pasted without paste mode")
    terminal.pump(0.3)
    assert not terminal.log(message=...)
    terminal.type(ENTER)
    assert terminal.wait_for_log(message="first line\nsecond line\nthird line\n")


def test_shift_tab_goes_through_the_modes_that_ask(terminal: Terminal) -> None:
    for mode in ("acceptEdits", "plan", "default"):
        terminal.type(BACK_TAB)
        terminal.wait_for_row(f" scripted-1  {mode}")


def test_an_exclamation_mark_runs_a_shell_command_and_escape_ends_it(terminal: Terminal) -> None:
    terminal.type("!echo one; echo two" + ENTER)
    terminal.wait_for_log(finished="Bash", origin="user", status="ok")
    terminal.wait_for_row("two")
    terminal.wait_for_log(turn="end")
    terminal.type("!echo begun; exec sleep 60" + ENTER)
    terminal.wait_for("...     Bash")
    terminal.type(ESCAPE)
    terminal.wait_for_log(finished="Bash", status="cancelled")


def test_a_sign_alone_is_explained_and_not_sent(terminal: Terminal) -> None:
    terminal.type("!" + ENTER)
    terminal.wait_for("`!` stands before a shell command of your own")
    terminal.type("/")
    terminal.until(lambda: terminal.shows("/help  "), "the list of commands")
    terminal.type(ESCAPE)
    terminal.wait_for_draft("/")
    terminal.type(ENTER)
    terminal.wait_for("`/` begins a command")
    assert not terminal.log(message=...)


def test_a_mentioned_file_is_named_and_its_content_is_not_printed(terminal: Terminal) -> None:
    (terminal.project / "notes.md").write_text("the plan\n")
    terminal.type("see @notes.md" + ENTER)
    terminal.wait_for_log(turn="end")
    terminal.wait_for("(you mentioned it)")
    assert "Read  notes.md" in str(terminal)
    assert "the plan" not in str(terminal)


def test_the_first_screen_breaks_between_words_in_a_narrow_terminal(tmp_path: Path) -> None:
    with Terminal(tmp_path, "--quick", columns=60) as terminal:
        terminal.wait_for("A remark.")
        assert any(row.endswith("your own shell") for row in terminal.screen())
        terminal.type("ask" + ENTER)
        terminal.wait_for("Enter; Esc back")


def offered(terminal: Terminal) -> set[str]:
    return {row.strip(" >") for row in terminal.screen() if "parser" in row and "@parser" not in row}


def test_completion_offers_commands_and_the_files_that_are_not_ignored(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in (
        "src/parser.py",
        "src/parser_notes.md",
        "build/parser.o",
        "with blank/parser two.py",
        ".git/parser",
    ):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (project / ".gitignore").write_text("build/\n")
    (tmp_path / "parser_outside.py").touch()
    (project / "link").symlink_to(tmp_path)
    with Terminal(tmp_path) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("/per")
        terminal.wait_for("the rules in order of precedence")
        terminal.type(TAB + " exp")
        terminal.wait_for("  explain")
        terminal.type(TAB)
        terminal.wait_for_row("\u203a /permissions explain")
        terminal.type(CONTROL_C + "@parser")
        terminal.wait_for("src/parser_notes.md")
        expected = {"src/parser.py", "src/parser_notes.md", "with blank/parser two.py"}
        terminal.until(lambda: offered(terminal) == expected, "the files that are not ignored")
        terminal.type("_n")
        terminal.wait_until_gone("src/parser.py")
        terminal.type(TAB)
        terminal.wait_for_row("\u203a @src/parser_notes.md")


def test_the_history_comes_back_in_the_next_session_with_secrets_masked(tmp_path: Path) -> None:
    secret = "sk-" + "ant-" + "Zx81" * 8
    with Terminal(tmp_path) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("the older one" + ENTER)
        terminal.wait_for_log(message="the older one")
        terminal.type(f"use {secret} please" + ENTER)
        terminal.wait_for_log(message=..., count=2)
        terminal.type("never sent")
        terminal.wait_for_draft("never sent")
        os.kill(terminal.pid, signal.SIGHUP)
        assert terminal.wait_for_end() == 129
    history = tmp_path / "state" / "history.jsonl"
    assert secret not in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    with Terminal(tmp_path) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type(UP)
        terminal.wait_for_draft("never sent")
        terminal.type(UP)
        terminal.wait_for("\u203a use \u2039secret:")
        terminal.type(UP)
        terminal.wait_for_draft("the older one")


def test_control_r_searches_the_history(terminal: Terminal) -> None:
    for count, text in enumerate(("fix the parser", "write the tests"), 1):
        terminal.type(text + ENTER)
        terminal.wait_for_log(turn="end", count=count)
    terminal.type("\x12pars")
    terminal.until(lambda: terminal.shows("search"), "the search")
    terminal.type(ENTER)
    terminal.wait_until_gone("search")
    terminal.wait_for_draft("fix the parser")
    terminal.type(ENTER)
    assert terminal.wait_for_log(message="fix the parser", count=2)


def test_the_editor_gets_the_draft_and_lines_streamed_meanwhile_are_complete(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "EDITOR HAS IT"\nsleep 1\nprintf "added line\\n" >> "$1"\n')
    editor.chmod(0o700)
    with Terminal(tmp_path, environment={"VISUAL": str(editor)}) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("stream 100" + ENTER)
        terminal.wait_for("line 0002")
        terminal.type("my draft\x07")
        terminal.wait_for("EDITOR HAS IT")
        terminal.wait_for("line 0100")
        terminal.wait_for("added line")
        streamed = [row for row in terminal.everything() if row.startswith("line ")]
        assert streamed == [f"line {number:04d} of the answer" for number in range(1, 101)]
        terminal.type(ENTER)
        assert terminal.wait_for_log(message="my draft\nadded line")


def test_an_interrupt_typed_in_the_editor_does_not_end_mcode(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ntrap "exit 1" INT\necho "EDITOR RUNS"\nsleep 60 & wait\n')
    editor.chmod(0o700)
    with Terminal(tmp_path, environment={"VISUAL": str(editor)}) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("my draft\x07")
        terminal.wait_for("EDITOR RUNS")
        terminal.type(CONTROL_C)
        terminal.wait_for("the draft is unchanged")
        terminal.wait_for_draft("my draft")


def test_a_message_of_the_command_line_is_sent_first_and_a_resumed_session_shows_what_was_said(
    tmp_path: Path,
) -> None:
    with Terminal(tmp_path, "--quick", "--say=stream 2; ask") as terminal:
        terminal.wait_for("then Enter; ")
        terminal.type("deny not now" + ENTER)
        terminal.wait_for_log(turn="end")
        terminal.type(CONTROL_D)
        assert terminal.wait_for_end() == 0
    with Terminal(tmp_path, "--resume") as terminal:
        terminal.wait_for("goes on from here.")
        rows = terminal.everything()
        for row in ("\u203a stream 2; ask", "line 0001 of the answer", "line 0002 of the answer"):
            assert rows.count(row) == 1, terminal
        assert any(row.startswith("  denied  Bash  touch deployed") for row in rows), terminal


def test_clear_begins_a_session_and_resume_goes_back_to_the_other(terminal: Terminal) -> None:
    terminal.type("the first words" + ENTER)
    terminal.wait_for_log(turn="end")
    terminal.type("/rename work one" + ENTER)
    terminal.wait_for("now called")
    terminal.type("/clear" + ENTER)
    terminal.wait_for_log(closed="clear")
    terminal.type("other words" + ENTER)
    terminal.wait_for_log(turn="end", count=2)
    terminal.type('/resume "work one"' + ENTER)
    terminal.wait_for_log(closed="resume")
    terminal.wait_for('"work one" goes on from here.')
    terminal.wait_for("You said: the first words", count=2)
    terminal.type("third words" + ENTER)
    terminal.wait_for_log(turn="end", count=3)
    terminal.type('/resume "work one"' + ENTER)
    terminal.wait_for("is the one that is open; nothing was done.")


def test_a_fault_in_the_core_becomes_a_sentence_and_the_prompt_lives_on(terminal: Terminal) -> None:
    terminal.type("/nosuchthing" + ENTER)
    terminal.wait_for("There is no command /nosuchthing; nothing was done.")
    terminal.type('/resume "open' + ENTER)
    terminal.wait_for("a quote that is not closed")
    assert "Traceback" not in str(terminal)
    terminal.type("still here" + ENTER)
    assert terminal.wait_for_log(message="still here")


def test_a_resize_keeps_the_draft_and_the_scrollback(terminal: Terminal) -> None:
    terminal.type("stream 20" + ENTER)
    terminal.wait_for_log(turn="end")
    terminal.type("a draft")
    terminal.wait_for_draft("a draft")
    for columns, rows in ((60, 20), (100, 40)):
        before = len(terminal.written)
        terminal.resize(columns, rows)
        terminal.until(
            lambda before=before: len(terminal.written) > before and terminal.draft() == "a draft",
            "the draft, drawn anew",
        )
    terminal.type(ENTER)
    assert terminal.wait_for_log(message="a draft")


def test_control_d_quits_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        before = termios.tcgetattr(terminal.descriptor)
        terminal.wait_for_draft("")
        assert termios.tcgetattr(terminal.descriptor) != before
        terminal.type(CONTROL_D)
        terminal.wait_for("mcode --resume")
        assert terminal.wait_for_end() == 0
        assert termios.tcgetattr(terminal.descriptor) == before
        assert terminal.written.count(b"\x1b[?2004h") == terminal.written.count(b"\x1b[?2004l") == 1
        assert terminal.written.rindex(b"\x1b[?2004l") > terminal.written.rindex(b"\x1b[?2004h")


def test_j_08_being_cancelled_restores_the_terminal_and_closes_the_session(terminal: Terminal) -> None:
    terminal.type("work" + ENTER)
    terminal.wait_for_log(message="work")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.wait_for_end() == 143
    assert terminal.log(closed="other")
    assert terminal.written.rindex(b"\x1b[?2004l") > terminal.written.rindex(b"\x1b[?2004h")


@pytest.mark.parametrize("option", ["", "--ignore-hangup"])
def test_j_08_a_terminal_that_goes_away_ends_the_program(tmp_path: Path, option: str) -> None:
    with Terminal(tmp_path, option) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("work" + ENTER)
        terminal.wait_for_log(message="work")
        terminal.hang_up()
        assert terminal.wait_for_end() == 129
        assert terminal.log(closed="other")


def test_going_on_after_a_stop_takes_the_terminal_again(terminal: Terminal) -> None:
    terminal.type("before")
    terminal.wait_for_draft("before")
    raw = termios.tcgetattr(terminal.descriptor)
    os.kill(terminal.pid, signal.SIGSTOP)
    cooked = list(raw)
    cooked[3] |= termios.ECHO | termios.ICANON
    termios.tcsetattr(terminal.descriptor, termios.TCSANOW, cooked)
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.until(lambda: not termios.tcgetattr(terminal.descriptor)[3] & termios.ICANON, "its own mode")
    terminal.type(" and after")
    terminal.wait_for_draft("before and after")


def test_nothing_is_written_while_nothing_happens(terminal: Terminal) -> None:
    terminal.type("hello" + ENTER)
    terminal.wait_for("You said: hello")
    terminal.wait_for_log(turn="end")
    terminal.settle(1.3)


def test_t_01_hostile_text_reaches_the_terminal_through_no_block(tmp_path: Path) -> None:
    with Terminal(tmp_path, "--quick") as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("hostile; ask hostile" + ENTER)
        terminal.wait_for("approve?")
        terminal.type(ESCAPE)
        terminal.wait_for("Tab asks")
        terminal.type(ESCAPE)
        terminal.wait_for_log(turn="interrupted")
        terminal.pump(0.3)
        written = terminal.written
    assert b"EVIL" in written
    for sequence in (
        b"\x1b]",
        b"\x1bP",
        b"\x1b[2J",
        b"\x1b[6n",
        b"\x1bc",
        b"\x1b_",
        "\x9b".encode(),
        b"\x00",
    ):
        assert sequence not in written, sequence
    assert written.count(b"\x07") <= 2, "only our own bell"
    assert not set(re.findall(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|.)", OWN.sub(b"", written)))


def test_without_colour_no_colour_is_written(tmp_path: Path) -> None:
    with Terminal(tmp_path, "--quick", environment={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("F1: keys")
        terminal.type("ask" + ENTER)
        terminal.wait_for("approve?")
        assert set(COLOUR.findall(terminal.written)) <= {b"\x1b[0m", b"\x1b[m", b"\x1b[0;1m", b"\x1b[0;7m"}


def test_without_decoration_nothing_but_text_is_written_and_every_block_says_whose_it_is(
    tmp_path: Path,
) -> None:
    with Terminal(tmp_path, "--no-decoration", "--quick", environment={"TERM": "dumb"}) as terminal:
        terminal.wait_for("You:")
        terminal.type("gate; stream 5; ask" + ENTER)
        terminal.wait_for(GATE)
        terminal.type("no", pause=0.02)
        terminal.open_gate()
        terminal.wait_for_log(asked="Bash")
        terminal.type("\x7f\x7f", pause=0.02)
        terminal.wait_for("approve?")
        terminal.type("deny not today" + ENTER)
        entry = terminal.wait_for_log(finished="Bash", status="denied")[0]
        assert "not today" in entry["text"]
        terminal.wait_for("Tool: denied Bash touch deployed")
        terminal.wait_for_log(turn="end")  # while it runs the first Ctrl+D asks for another one
        rows = terminal.everything()
        assert "You: gate; stream 5; ask" in rows
        assert "Assistant: line 0001 of the answer" in rows
        assert rows.count("line 0005 of the answer") == 1
        terminal.type(CONTROL_D)
        assert terminal.wait_for_end() == 0
        assert b"\x1b" not in terminal.written
        assert terminal.written.count(b"Approval: ") == 1
