"""The evaluation: recall by group, its baselines, and the halves that tuning may not see."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.catalog.test_search_cli import catalogue_file
from tools.bench_search import entries, measure
from tools.eval_search import (
    Asked,
    Found,
    NamesOnly,
    PlainBM25,
    figures_of,
    half_of,
    half_tasks,
    office_task,
    our_search,
    outcomes,
    read_task,
    recall,
)

if TYPE_CHECKING:
    from pathlib import Path

QUERIES: tuple[tuple[str, str, str, list[list[str]]], ...] = (
    ("merge a pull request", "kw", "en", [["forge/merge_pull_request"]]),
    ("take back a payment", "para", "en", [["shop/create_refund"]]),
    ("删除文件", "zh", "zh", [["disk/delete_file"]]),
    ("click, then take a picture", "multi", "en", [["pages/click_element"], ["pages/take_screenshot"]]),
    ("knit a woollen scarf", "none", "en", []),
    ("uses a tool that is not there", "kw", "en", [["nowhere/nothing"]]),
)


def query_file(directory: Path) -> Path:
    rows = [
        {"id": f"q{number}", "set": "small", "kind": kind, "lang": lang, "query": query, "need": need}
        for number, (query, kind, lang, need) in enumerate(QUERIES)
    ]
    path = directory / "queries.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def found(*ranks: int, none: bool = False) -> Found:
    return Found(Asked("q", "kw", "en", "s", (), 0), ranks, none)


def test_recall_is_the_share_of_needs_met_averaged_over_queries() -> None:
    row = figures_of([found(1), found(4), found(1, 9), found(11), found(none=True), found(2, none=True)])
    assert row["recall@1"] == pytest.approx((1 + 0 + 0.5 + 0 + 0) / 5)
    assert row["recall@5"] == pytest.approx((1 + 1 + 0.5 + 0 + 1) / 5)
    assert row["recall@10"] == pytest.approx((1 + 1 + 1 + 0 + 1) / 5)
    assert row["none_detected"] == 1
    assert row["false_no_match"] == pytest.approx(1 / 5)


def test_ours_and_the_baselines_answer_the_same_queries(tmp_path: Path) -> None:
    task = read_task(catalogue_file(tmp_path), [query_file(tmp_path)])
    assert len(task.asked) == len(QUERIES) - 1, "the query for a tool that is not there is left out"
    ours = figures_of(outcomes([task], our_search()))
    assert ours["recall@5"] == 1
    assert ours["none_detected"] == 1
    for baseline in (PlainBM25, NamesOnly):
        theirs = figures_of(outcomes([task], baseline))
        assert 0 < theirs["recall@5"] < 1


def test_a_server_is_in_one_half_only(tmp_path: Path) -> None:
    row = {"id": "q", "need": [["forge/a"]]}
    assert half_of(row) == half_of({"id": "other", "need": [["forge/b"], ["shop/c"]]})
    task = read_task(catalogue_file(tmp_path), [query_file(tmp_path)])
    halves = [half_tasks([task], half)[0].asked for half in (0, 1)]
    assert sorted(each.query for half in halves for each in half) == sorted(each.query for each in task.asked)


def test_the_program_prints_a_table_and_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.eval_search", "--set", str(catalogue_file(tmp_path))]
    command.append(str(query_file(tmp_path)))
    table = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert "small, kind zh" in table
    printed = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed)["figures"]["ours"]["set small"]["recall@5"] == 1


def test_the_benchmark_measures_made_up_tools() -> None:
    tools = entries([], 60)
    assert len({tool.name for tool in tools}) == 60
    figures = measure(tools)
    assert 0 < figures["median"] <= figures["p95"]


def test_the_shipped_queries_are_answered_better_than_by_the_baselines_in_every_language() -> None:
    task = office_task()
    assert len({asked.query for asked in task.asked}) == len(task.asked) == 48
    assert {asked.lang for asked in task.asked} == {"en", "zh", "de", "fr", "es", "ja"}
    ours, bm25, names = (recall(outcomes([task], make), 5) for make in (our_search(), PlainBM25, NamesOnly))
    assert ours >= 0.88
    assert ours > bm25 > names
