"""The three modes on the scripted audit, as the issue promises them, and the parts of the table."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tools.eval_modes import (
    compare,
    load,
    markdown,
    read_runs,
    run_once,
    table,
    task_names,
    title_of,
)
from tools.messages_server import running_server
from tools.tasks.task import Outcome


def test_there_are_a_dozen_tasks_each_with_a_question_a_checker_and_a_policy() -> None:
    names = task_names()
    assert len(names) >= 12
    for name in names:
        task = load(name)
        assert task.question
        assert task.steps
        assert task.servers or not task.queries


async def test_search_and_programs_cut_what_the_audit_costs_at_the_same_right_answer(tmp_path: Path) -> None:
    everything, search, programs = [
        await run_once("travel_audit", mode) for mode in ("everything", "search", "programs")
    ]
    assert [run.wrong for run in (everything, search, programs)] == ["", "", ""]
    assert search.opening <= 0.15 * everything.opening
    assert programs.input <= 0.15 * everything.input
    assert programs.input <= 0.15 * search.input
    assert programs.requests <= 3
    shown = table([everything, search, programs], "title")
    assert shown.startswith("title\n")
    assert shown.count("travel_audit") == 3
    of_today = [
        line for line in markdown([everything, search, programs], "").splitlines() if "travel audit" in line
    ]
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    in_readme = [line for line in readme.splitlines() if line.startswith("| travel audit")]
    for today, told in zip(of_today, in_readme, strict=True):
        assert _figures(told) == pytest.approx(_figures(today), rel=0.05), (
            "renew it: tools.eval_modes --markdown"
        )
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"runs": [asdict(everything)]}))
    assert "+0.0%" in compare(read_runs(file), [everything])


async def test_a_model_behind_a_url_is_asked_over_the_wire_and_checked_by_the_same_checker() -> None:
    task = load("misleading_name")
    with running_server(task.script("search")) as server:
        run = await run_once("misleading_name", "search", ("some-model", server.url))
        assert {body["model"] for body in server.bodies} == {"some-model"}
        assert run.requests == len(server.bodies)
    assert run.wrong == ""
    assert run.input > 0
    assert "some-model at" in title_of(("some-model", server.url))
    assert "Scripted" in title_of(None)


@pytest.mark.parametrize("name", task_names())
def test_each_checker_sees_that_nothing_was_done(name: str, tmp_path: Path) -> None:
    task = load(name)
    task.prepare(tmp_path)
    assert task.check(Outcome(tmp_path, (), "It is all done, and the answer is right."))


async def test_a_wrong_outcome_is_seen_by_the_checker() -> None:
    task = load("one_read")
    assert "program" in task.check(Outcome(_nowhere(), (("run_code", {}, True),), "The port is 8472."))
    assert task.check(Outcome(_nowhere(), (), "The port is 8472.")) == "None"


def _figures(row: str) -> list[int]:
    return [int(cell.replace(",", "").split()[0]) for cell in row.strip("| ").split(" | ")[1:]]


def _nowhere() -> Path:
    return Path("/nonexistent")
