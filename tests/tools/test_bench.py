"""The one table of benches: what of a bench's output becomes a row, and what of a bench that fails."""

from __future__ import annotations

from tools.bench import Bench, Row, run_bench, table


def test_a_bench_that_prints_no_figures_is_a_row_that_fails() -> None:
    (row,) = run_bench(
        Bench("none", "tools.no_such_bench", (), (), ""), full=False, catalogue=None, patience=60
    )
    assert not row.holds
    assert "no_such_bench" in row.detail


def test_the_table_has_pass_or_fail_beside_each_figure_and_the_calibration() -> None:
    rows = [Row("a", "one", 1, 2, "s", True, "short"), Row("b", "two", 3, 2, "s", False, "")]
    text = table(rows, (0.1, 0.2), 3.0)
    assert "calibration 0.100 s before and 0.200 s after" in text
    assert "not steady" in text
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["pass", "FAIL"]
    assert text.endswith("1 of 2 hold")
