"""The ledger against the stand-in endpoint, whose own counter says how large each request was."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from mcode.agent.ledger import LedgerBook, Loaded, RequestEntry, read_ledger, server_of, shared
from mcode.agent.savings import ProgramFacts, work_out
from mcode.commands.ledger_page import page
from mcode.commands.ledger_reading import ledger_of
from mcode.commands.ledger_tables import report_text
from mcode.model.script.values import reply, script_of, use
from mcode.model.usage import RequestSize, Usage
from mcode.session.records import Record
from tests.stage import stage, turns
from tools.ledger_sessions import play

if TYPE_CHECKING:
    from pathlib import Path

NOISE = 40
"""Tokens by which a part may differ from one request to the next since it is scaled to what was reported."""

SESSIONS = 12
"""Random sessions in the suite; `python -m tools.bench --full` plays 500."""


PRICES = {"scripted-1": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}

SILENT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


@pytest.mark.parametrize("seed", range(SESSIONS))
async def test_the_parts_of_each_request_add_up_to_what_the_provider_counted(
    seed: int, tmp_path: Path
) -> None:
    played = await play(tmp_path, seed)
    requests = played.ledger["requests"]
    assert played.wrong == 0
    assert [each["input_tokens"] for each in requests] == played.counted
    for each in requests:
        assert sum(each["definitions_by_tool"].values()) == each["definitions"]
        assert sum(each["results_by_tool"].values()) == each["results"]
        assert each["reported"]
    assert played.furthest <= 0.05
    last = played.shown[-1]
    assert (last.definitions, last.results) == (requests[-1]["definitions"], requests[-1]["results"])


@pytest.mark.parametrize("loading", ["call", "append"])
async def test_a_tool_that_came_into_the_requests_no_longer_counts_as_left_out(
    loading: str, tmp_path: Path
) -> None:
    settings = {"mcode": {"toolSearch": {"loading": loading}}}
    script = script_of(use("tool_search", {"queries": ["select:WebFetch"]}), reply("Found."))
    async with stage(tmp_path, script, settings=settings) as here:
        await here.say("look")
        ledger = ledger_of(here.agent)
    first, second = ledger["requests"]
    came_in = second["definitions"] - first["definitions"]
    assert first["deferred"] - second["deferred"] == pytest.approx(came_in, abs=NOISE)
    assert (came_in > NOISE) == (loading == "append")


async def test_a_session_without_figures_of_the_provider_is_estimated_and_says_so(tmp_path: Path) -> None:
    silent: dict[str, Any] = {
        "blocks": ["Done."],
        "stop_reason": "end_turn",
        "usage": dict.fromkeys(SILENT, 0),
    }
    async with stage(tmp_path, turns(silent)) as here:
        await here.say("hello")
        ledger = ledger_of(here.agent)
    assert ledger["totals"]["estimated"] == 1
    assert ledger["totals"]["input_tokens"] == 0
    assert ledger["totals"]["input"] > 1_000
    assert "estimated" in report_text(ledger)
    assert ledger["totals"]["cost"] is None


async def test_the_ledger_of_a_resumed_session_is_that_of_the_first(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("one")) as here:
        await here.say("first")
        before, session = ledger_of(here.agent), here.agent.session.id
    async with stage(tmp_path, turns("two"), source="resume", reference=session) as here:
        assert ledger_of(here.agent) == before
        await here.say("second")
        after = ledger_of(here.agent)
    assert after["requests"][0] == before["requests"][0]
    assert len(after["requests"]) == 2


def test_requests_of_a_subagent_count_in_the_sums_and_not_as_round_trips() -> None:
    usage = {"input_tokens": 100, "output_tokens": 10}
    prefix: dict[str, Any] = {"model": "m", "system": "be kind", "tools": [], "reason": "start"}
    said: dict[str, Any] = {
        "message": {"content": [{"type": "text", "text": "so"}], "usage": usage},
        "complete": True,
    }

    def inner(kind: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return "subagent", {"call": "toolu_1", "type": kind, "body": body}

    asked: dict[str, Any] = {"content": "go", "text": "go", "turn": 1}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("user", asked),
        ("prefix", prefix),
        inner("user", asked),
        inner("prefix", prefix),
        inner("assistant", said),
    ]
    records = [Record(at, kind, body, "") for at, (kind, body) in enumerate([*rows, ("assistant", said)], 1)]
    book = read_ledger(records, {})
    assert [entry.agent for entry in book.requests] == ["toolu_1", ""]
    assert book.usage.total_input == 200
    assert book.last is book.requests[1]
    assert sum(entry.is_own for entry in book.counted) == 1


async def test_prices_make_a_cost_of_the_reported_tokens(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("one"), settings={"mcode": {"prices": PRICES}}) as here:
        await here.say("first")
        ledger = ledger_of(here.agent)
        assert here.agent.meter.totals.cost == ledger["totals"]["cost"] != 0
    (request,) = ledger["requests"]
    assert f"${request['cost']:.4f}" in report_text(ledger)


async def test_the_page_holds_the_same_numbers_and_asks_nothing_of_a_network(tmp_path: Path) -> None:
    script = script_of(use("Grep", {"pattern": "</script><b>"}), reply("done"))
    async with stage(tmp_path, script, settings={"mcode": {"prices": PRICES}}) as here:
        await here.say("look")
        ledger = ledger_of(here.agent)
    ledger["definitions_by_server"] = {"core": 300, "office": 20}
    written = page(ledger)
    data = written.split('id="ledger">')[1].split("</script>")[0]
    assert json.loads(data) == ledger
    compared = 3 if ledger["savings"]["deferral"]["without"] else 0
    assert written.count("<rect") == 4 * len(ledger["requests"]) + compared
    if compared:
        assert f">{ledger['savings']['deferral']['without']:,}</text>" in written
    totals, *by_tool, requests = Tables.of(written)
    assert {name: figure(count) for name, count in by_tool.pop(1)} == ledger["definitions_by_server"]
    assert [figure(count) for _, count in totals] == [
        ledger["totals"][name.replace(" ", "_")] for name, _ in totals
    ]
    for table, part in zip(by_tool, ("definitions", "results"), strict=True):
        assert [(tool, server, figure(count)) for tool, server, count in table] == [
            (each["tool"], each["server"], each["tokens"]) for each in ledger[part]
        ]
    assert [[figure(cell) for cell in row[:-2]] for row in requests] == [
        [each[name] for name in REQUEST_COLUMNS] for each in ledger["requests"]
    ]
    assert [row[-2] for row in requests] == [f"${each['cost']:.4f}" for each in ledger["requests"]]
    for bar, each in zip(
        re.findall(r"<title>request \d+: (.*?)</title>", written), ledger["requests"], strict=True
    ):
        assert [figure(count) for count in re.findall(r"[\d,]*\d", bar)] == [
            each[name] for name in (*REQUEST_COLUMNS[1:5], "cache_read")
        ]
    assert "prefers-color-scheme: dark" in written
    assert "http" not in written.replace("http-equiv", "")


REQUEST_COLUMNS = (
    "number",
    "definitions",
    "system",
    "messages",
    "results",
    "input",
    "cache_read",
    "cache_written",
    "output_tokens",
)


def figure(text: str) -> int:
    return int(text.replace(",", ""))


class Tables(HTMLParser):
    """The cells of a page's tables, row by row, without headings."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[list[str]]] = []
        self._in_cell = False

    @classmethod
    def of(cls, text: str) -> list[list[list[str]]]:
        parser = cls()
        parser.feed(text)
        return [[row for row in table if row] for table in parser.found]

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag == "td":
            self.found[-1][-1].append("")
            self._in_cell = True

    @override
    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag != "td"

    @override
    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.found[-1][-1][-1] += data


def test_shares_add_up_whatever_the_total() -> None:
    assert shared({"a": 3, "b": 3, "c": 1}, 100) == {"a": 44, "b": 42, "c": 14}
    assert shared({}, 7) == {"(unknown)": 7}
    assert shared({}, 0) == {}
    assert [server_of(name) for name in ("mcp__office__list", "Read")] == ["office", "core"]


def test_searches_that_loaded_everything_or_cost_more_than_they_saved_are_named() -> None:
    entry = RequestEntry(
        number=1,
        turn=1,
        model="m",
        size=RequestSize(2_000, 200, 300, 900),
        usage=Usage(),
        reported=False,
        answered=True,
        definitions={"tool_search": 400, "Read": 1_600},
        results={"tool_search": 900},
        deferred=1_000,
        calls=("tool_search",),
    )

    def verdict(loaded: int, requests: int, deferred: int = 1_000) -> tuple[str, ...]:
        entries = tuple(replace(entry, deferred=deferred) for _ in range(requests))
        loads = (Loaded("search", loaded, 10 * loaded),)
        return work_out(LedgerBook(entries, 10, deferred, loads, {}), ()).did_not_pay

    (all_of_them,) = verdict(loaded=9, requests=2)
    assert "loaded 9 of 10 deferred tools anyway" in all_of_them
    (too_dear,) = verdict(loaded=1, requests=1)
    assert "cost 300 tokens more than it saved" in too_dear
    assert verdict(loaded=1, requests=1, deferred=9_000) == ()
    assert work_out(LedgerBook((), 0, 0, (), {}), ()).did_not_pay == ()


def test_programs_that_did_not_pay_are_named() -> None:
    book = read_ledger((), {})

    def facts(**changes: Any) -> ProgramFacts:
        usual: dict[str, Any] = {
            "id": "p",
            "title": "audit",
            "status": "ok",
            "code": "return 1;",
            "calls": 20,
        }
        given: dict[str, Any] = {**usual, "steps": 3, "bytes_in": 90_000, "chars_out": 400, **changes}
        return ProgramFacts(**given)

    good, all_of_it, failed, idle = work_out(
        book,
        (
            facts(),
            facts(chars_out=88_000),
            facts(status="exception"),
            facts(steps=1, calls=1, bytes_in=40, chars_out=20, code="return await tools.x({});\n" * 9),
        ),
    ).programs
    assert (good.kept_out, good.round_trips, good.verdict) == (22_400, 2, "")
    assert "about the same" in all_of_it.verdict
    assert "failed (exception)" in failed.verdict
    assert "saved no round trip" in idle.verdict
