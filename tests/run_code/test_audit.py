"""The audit of a program: a plain record at its start, for each call as it ends, and at its end."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.call import FailureKind, Status
from tests.run_code.workplace import QUICK, Failed

if TYPE_CHECKING:
    from tests.run_code.workplace import Workplace

CODE = """\
// Look for it
const r = await tools.Read({file_path: 'a', secret: 'hush'});
await tools.Write({b: 1, a: [true, null]});
await tools.Edit({});
store('key', 1);
console.log('logged');
return r.value.length"""


async def test_r_07_the_audit_holds_program_calls_and_end_masked(place: Workplace) -> None:
    place.tool("Read", lambda _: "x" * 100)
    place.tool("Write", lambda _: "written", reads=False)
    place.tool("Edit", lambda _: Failed(FailureKind.DENIED, "no", Status.DENIED), reads=False)
    ran = await place.run(CODE)
    start, read, write, edit, end = ran.audit
    assert start["type"] == "start"
    assert start["program"] == "p1"
    assert start["title"] == "Look for it"
    assert start["sha256"] == hashlib.sha256(CODE.encode()).hexdigest()
    assert start["code"] == CODE.replace("hush", "(masked)")
    assert start["tools"] == ["Edit", "Read", "Write"]
    assert start["limits"]["calls"] == 500
    assert (read["index"], read["id"], read["tool"], read["line"], read["state"]) == (
        1,
        "p1_1",
        "Read",
        2,
        "ok",
    )
    assert json.loads(read["arguments"]) == {"file_path": "a", "secret": "(masked)"}
    canonical = json.dumps({"a": [True, None], "b": 1}, separators=(",", ":"), sort_keys=True)
    assert write["arguments_sha256"] == hashlib.sha256(canonical.encode()).hexdigest()
    body = json.dumps({"ok": True, "text": "x" * 100}, separators=(",", ":")).encode()
    assert read["result_bytes"] == len(body)
    assert read["result_sha256"] == hashlib.sha256(body).hexdigest()
    assert (edit["state"], edit["kind"], edit["summary"]) == ("denied", "denied", "no")
    assert end["status"] == "ok"
    assert end["calls"] == {"ok": 2, "denied": 1}
    assert (end["not_awaited"], end["most_in_flight"], end["stored"]) == (0, 1, ["key"])
    assert (end["chars_out"], end["chars_logged"], end["value"]) == (9, 6, "100")
    assert end["bytes_in"] == sum(record["result_bytes"] for record in (read, write, edit))
    json.dumps(ran.audit)


async def test_long_arguments_are_cut_after_masking(place: Workplace) -> None:
    place.tool("Write", lambda _: "x", reads=False)
    ran = await place.run("await tools.Write({text: 'y'.repeat(2030) + 'hush' + 'z'.repeat(100_000)})")
    kept = ran.calls[0]["arguments"]
    assert len(kept) == 2048
    assert "hush" not in kept
    assert "hus" not in kept


async def test_a_program_that_fails_has_its_end_in_the_audit_too(place: Workplace) -> None:
    place.limits = replace(QUICK, cpu=0.1)
    for code, status in (
        ("while (true) {}", "cpu_limit"),
        ("let = 1; =", "syntax"),
        ("throw 1", "exception"),
    ):
        ran = await place.run(code)
        assert [record["type"] for record in ran.audit] == ["start", "end"]
        assert ran.audit[-1]["status"] == status
