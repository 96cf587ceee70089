"""Results are cut to size for the model, head and tail, and say where the whole is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.pipeline.fit import fit, with_notes

if TYPE_CHECKING:
    from pathlib import Path


def test_a_text_within_the_limit_is_left_alone_and_nothing_is_written(tmp_path: Path) -> None:
    def refuse(_: str) -> Path:
        raise AssertionError("nothing needs to be kept")

    assert fit("short", 100, refuse) == "short"


def test_a_long_text_keeps_whole_lines_of_both_ends_and_names_the_file(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(10_000))
    whole = tmp_path / "whole.txt"

    def keep(content: str) -> Path:
        whole.write_text(content)
        return whole

    shown = fit(text, 3_000, keep)
    assert shown.startswith("line 0\nline 1\n")
    assert shown.endswith("line 9998\nline 9999")
    assert str(whole) in shown
    assert len(shown) < 3_300
    assert whole.read_text() == text
    head, _, rest = shown.partition("\n[… ")
    left_out, _, tail = rest.partition(" characters left out")
    assert len(text) == len(head) + int(left_out) + len(tail.partition("…]\n")[2])


def test_notes_stand_behind_whatever_was_cut() -> None:
    assert (
        with_notes("result", ("the file changed", "by a hook")) == "result\n\nthe file changed\n\nby a hook"
    )
    assert with_notes("result", ()) == "result"
