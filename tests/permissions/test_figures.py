"""Small versions of the fuzzer and the bench; the full ones are programs in tools/."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.bench_guard import measure
from tools.fuzz_shell import fuzz

if TYPE_CHECKING:
    from pathlib import Path

SEED = 41


def test_p_09_bash_reads_random_lines_as_they_were_judged() -> None:
    tally = fuzz(2_500, SEED)
    assert tally.differences == [], f"seed {SEED}: {tally.differences[:5]}"
    assert tally.compared > 200


def test_the_figures_of_the_guard(tmp_path: Path) -> None:
    figures = measure(tmp_path, 2, hostile=False)
    assert figures.everyday_asked == ()
    assert figures.median < 20, "ten times the figure, for the sake of machines that do much else"
