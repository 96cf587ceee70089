"""The search's test of itself on tools of all sorts, good and bad ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mcode
from mcode.catalog.entry import Entry
from mcode.catalog.self_test import queries_for, run_self_test
from mcode.demo.tables import TOOLS


def entry(name: str, description: str, server: str = "own", hint: str = "", **properties: object) -> Entry:
    schema = {"type": "object", "properties": properties}
    return Entry(f"mcp__{server}__{name}", server, "", description, schema, hint)


def office() -> list[Entry]:
    return [
        Entry(f"mcp__office__{t['name']}", "office", "", t["description"], t["inputSchema"]) for t in TOOLS
    ]


def test_good_tools_are_all_found() -> None:
    found = run_self_test(office())
    assert found.unfindable == ()
    assert found.thin == ()
    assert found.recall > 0.9


def test_tools_that_say_the_same_hide_each_other_and_hints_mend_what_nothing_finds() -> None:
    twins = [entry(f"do{number}", "Does the thing with the record.") for number in range(9)]
    found = run_self_test([*twins, *office()])
    assert any(pair.alike == 1.0 for pair in found.pairs)
    assert set(found.hints) <= {each.name for each in twins} | {each.hidden for each in found.pairs}
    assert found.mended <= len(found.unfindable)


def test_a_hint_that_only_repeats_a_short_name_is_not_offered() -> None:
    thin = entry("do_wx_it", "Run.")
    found = run_self_test([thin, *office()])
    assert found.thin == (thin.name,)
    assert thin.name not in found.hints


def test_a_tool_without_words_is_thin_and_gets_a_hint_of_its_own_words() -> None:
    thin = entry("x1", "Run.", server="plant", reactor_temperature={"type": "number"})
    found = run_self_test([thin, *office()])
    assert found.thin == (thin.name,)
    assert "reactor_temperature" in found.hints[thin.name]


def test_queries_are_made_of_what_a_tool_says_of_itself() -> None:
    one = entry("create_issue", "Creates an issue. More words.", hint="bug ticket", title={"type": "string"})
    assert queries_for(one) == [
        ("name", "create issue"),
        ("description", "Creates an issue"),
        ("parameters", "create issue title"),
        ("hint", "bug ticket"),
    ]


def test_the_subcommand_says_what_there_is_even_where_no_server_is(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "MCODE_CONFIG_DIR": str(tmp_path / ".mcode"),
        "PYTHONPATH": str(Path(mcode.__file__).parent.parent),
    }
    command = [sys.executable, "-m", "mcode", "tools", "test", "--json"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == {"tools": 0}
