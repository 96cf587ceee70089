"""The search as the scorer drives it: one JSON line in, one out."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.catalog.shelf import SHELF, found, shelf, short

if TYPE_CHECKING:
    from pathlib import Path


def catalogue_file(directory: Path) -> Path:
    rows = [
        {
            "id": short(entry.name),
            "server": entry.server,
            "name": entry.bare_name,
            "description": entry.description,
            "input_schema": entry.input_schema,
        }
        for entry in SHELF
        if entry.server
    ]
    path = directory / "catalogue.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_it_answers_each_line_with_the_ranking_that_the_tool_has(tmp_path: Path) -> None:
    queries = ["merge pull request", "删除文件", "create_issue", "knit a woollen scarf"]
    ran = subprocess.run(
        [sys.executable, "-m", "mcode.catalog.search_cli", str(catalogue_file(tmp_path))],
        input="".join(json.dumps({"query": query, "k": 4}, ensure_ascii=False) + "\n" for query in queries),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(queries)
    index = shelf()
    index.replace_server("", [])
    for query, answer in zip(queries, answers, strict=True):
        assert answer["results"] == found(index, query, 4)
        assert answer["no_match"] == index.search(query, 4).no_match
    assert answers[3]["no_match"]
