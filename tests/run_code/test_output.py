"""What of a program's output reaches the model, and where the rest is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.run_code.workplace import QUICK

if TYPE_CHECKING:
    from tests.run_code.workplace import Ran, Workplace


def file_of(ran: Ran) -> Path:
    found = re.search(r"the whole text is in (\S+) …\]", ran.text)
    assert found, ran.text
    return Path(found[1])


async def test_a_result_over_the_budget_keeps_head_and_tail_and_the_file_has_all(place: Workplace) -> None:
    ran = await place.run("return Array.from({length: 9000}, (_, n) => `row ${n}`).join('\\n')")
    assert 19_000 < len(ran.text) < 21_000
    assert "row 0\nrow 1\n" in ran.text
    assert "row 8999" in ran.text
    assert "Filter or summarise before returning" in ran.text
    path = file_of(ran)
    assert path.read_text() == "\n".join(f"row {n}" for n in range(9000))
    assert path.stat().st_mode & 0o777 == 0o600
    assert "characters left out" in ran.text


async def test_the_log_has_a_budget_of_its_own(place: Workplace) -> None:
    ran = await place.run("for (let n = 0; n < 3000; n++) console.log('entry', n); return 'short'")
    head, _, log = ran.text.partition("\n\nConsole:\n")
    assert head == "ok: no calls\n\nshort"
    assert len(log) < 8_400
    assert "entry 2999" in log
    assert file_of(ran).read_text().count("\n") == 2999


async def test_the_model_may_ask_for_more_and_for_less(place: Workplace) -> None:
    code = "return 'x'.repeat(90_000)"
    ran = await place.run(code, max_output_chars=100_000)
    assert ran.value == "x" * 90_000
    ran = await place.run(code, max_output_chars=500)
    assert len(ran.text) < 1_000
    ran = await place.run(
        "console.log('y'.repeat(7_000)); return 'x'.repeat(90_000)", max_output_chars=95_000
    )
    assert "x" * 90_000 in ran.text
    assert "y" * 3_000 in ran.text


async def test_result_and_log_together_stay_under_their_common_budget(place: Workplace) -> None:
    place.limits = replace(QUICK, result_shown=20_000, log_shown=8_000, shown_together=22_000)
    ran = await place.run("console.log('y'.repeat(8_000)); return 'x'.repeat(20_000)")
    assert "x" * 20_000 in ran.text
    assert "y" * 1_200 in ran.text
    assert "y" * 1_500 not in ran.text


async def test_the_status_line_counts_what_happened(place: Workplace) -> None:
    place.tool("Read", lambda _: "x" * 3000)
    ran = await place.run("for (let n = 0; n < 30; n++) await tools.Read({n});\nreturn 'done'")
    assert ran.text == "ok: 30 calls\n\ndone"
    assert ran.result.summary == "ok, 30 calls, 91 KB in, 4 characters out"
    assert ran.result.data["bytes_in"] > 90_000
    assert ran.result.data["chars_out"] == 4
    assert ran.result.failure is None


async def test_a_program_that_used_up_its_calls_says_so_though_it_ended_well(place: Workplace) -> None:
    place.limits = replace(QUICK, calls=3)
    place.tool("Read", lambda _: "x")
    ran = await place.run("for (let n = 0; n < 9; n++) await tools.Read({n});\nreturn 1")
    assert ran.result.failure is None
    assert ran.result.summary.startswith("ok, 3 calls (its limit is 3), ")
    assert ran.result.summary.endswith(", 1 character out")
