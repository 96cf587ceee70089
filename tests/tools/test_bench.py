"""The one table of benches: what of a bench's output becomes a row, and what of a bench that fails."""

from __future__ import annotations

import json
from functools import partial
from importlib.util import find_spec
from threading import Barrier

from tools.bench import Errand, Row, Spent, Wanted, chosen, rows_of, run_all, run_bench, table
from tools.bench_list import BENCHES, Bench, of_guard, of_json, told
from tools.measure import Figure


def test_a_bench_that_prints_no_figures_is_a_row_that_fails() -> None:
    (row,) = run_bench(Bench("none", "tools.no_such_bench", (), (), "", of_json), Wanted())
    assert not row.holds
    assert "no_such_bench" in row.detail


def test_the_table_has_pass_or_fail_beside_each_figure_and_the_calibration() -> None:
    rows = [Row("a", "one", 1, 2, "s", True, "short"), Row("b", "two", 3, 2, "s", False, "")]
    text = table(rows, (0.1, 0.2), [Spent("a", 1, 2), Spent("b", 3, 4)], ["not all"])
    assert "calibration 0.100 s before and 0.200 s after; 6 s in all, 4 s of CPU" in text
    assert "not steady" in text
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["pass", "FAIL"]
    assert text.endswith("1 of 2 hold\nnot all")


def test_figures_are_read_from_a_report_with_the_size_of_the_short_run_beside_them() -> None:
    figure = {"name": "n", "value": 3.0, "limit": 2.0, "unit": "s", "detail": "d", "holds": False}
    printed = f"a table\n{json.dumps({'bench': 'x', 'figures': [figure]})}\n"
    assert rows_of("x", of_json(printed), "2 runs") == [Row("x", "n", 3.0, 2.0, "s", False, "d, 2 runs")]


def test_the_guards_figures_fail_where_a_hostile_line_runs() -> None:
    found = {
        "median": 1,
        "worst": 3,
        "everyday_unasked": 0.96,
        "hostile_unasked": ["SH1 in default with 0 rules"],
    }
    figures = of_guard(json.dumps(found))
    assert [figure.holds for figure in figures] == [False, True, True, True]


def test_figures_are_read_from_the_sentence_of_a_program_and_a_changed_sentence_is_a_failure() -> None:
    read = told(("lost", r"(\d+) problems", 0, "of them"), ("memory", r"([+-][\d.]+) MB", 30, "MB"))
    assert read("10 kills, 2 problems, +31.5 MB") == [
        Figure("lost", 2, 0, "of them"),
        Figure("memory", 31.5, 30, "MB"),
    ]
    assert read("10 kills, no problem, +31.5 MB") == []


def test_every_bench_that_is_listed_exists_and_a_short_one_says_what_it_leaves_out() -> None:
    for bench in BENCHES:
        assert find_spec(bench.module), bench.module
        assert bool(bench.size) == (bench.short != bench.full)
    assert [each.name for each in chosen("first", Wanted())] == ["first request"]


def test_what_measures_no_time_runs_side_by_side_and_the_rest_alone_in_the_order_of_the_list() -> None:
    at_work: list[str] = []
    together = Barrier(2, timeout=10)

    def alone(name: str) -> list[Row]:
        assert not at_work
        return rows_of(name, [Figure(name, 1, 1)])

    def beside(name: str) -> list[Row]:
        at_work.append(name)
        together.wait()  # passes only where both are at work
        return rows_of(name, [Figure(name, 1, 1)])

    kinds = {"a": beside, "b": alone, "c": beside, "d": alone}
    errands = [Errand(name, partial(run, name), run is alone) for name, run in kinds.items()]
    rows, spent = run_all(errands)
    assert [row.bench for row in rows] == ["a", "b", "c", "d"]
    assert [each.bench for each in spent] == ["b", "d", "a, c"]


def test_the_first_request_is_measured_and_within_its_budget() -> None:
    (errand,) = chosen("first request", Wanted())
    rows = errand.run()
    assert [row.holds for row in rows] == [True] * 2, rows
