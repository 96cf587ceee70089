"""Values that programs keep for one another, within their limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.run_code.kept import KeptValues
from tests.run_code.workplace import QUICK

if TYPE_CHECKING:
    from tests.run_code.workplace import Workplace


async def test_15_what_one_program_stores_the_next_one_loads_also_after_an_error(place: Workplace) -> None:
    ran = await place.run("store('found', {list: [1, 2], s: 'é\\0'}); throw new Error('after storing')")
    assert ran.status == "exception"
    assert ran.audit[-1]["stored"] == ["found"]
    ran = await place.run(
        "const f = load('found'); f.list.push(3); return [f, load('found').list, load('other') === undefined]"
    )
    assert ran.value == '[{"list":[1,2,3],"s":"é\\u0000"},[1,2],true]'
    await place.run("store('found', undefined)")
    assert (await place.run("typeof load('found')")).value == "undefined"


async def test_the_number_of_keys_is_limited(place: Workplace) -> None:
    place.limits = replace(QUICK, stored_keys=3)
    code = "for (const k of ['a', 'b', 'a', 'c']) store(k, 1);\nstore('a', undefined);\nstore('d', 1);\nstore('e', 1)"
    ran = await place.run(code)
    assert ran.status == "exception"
    assert "at most 3 keys" in ran.text
    assert (await place.run("['a', 'b', 'c', 'd', 'e'].map(k => load(k) ?? 0)")).value == "[0,1,1,1,0]"


async def test_values_that_cannot_be_kept_say_why(place: Workplace) -> None:
    place.limits = replace(QUICK, stored_value=1000, stored_together=2500)
    cases = {
        "store('k', new Map())": "is Map(0), which JSON cannot carry",
        "store('k', 'x'.repeat(2000))": "2002 characters is over the limit of 1000 for one value",
        "for (const k of 'abc') store(k, 'x'.repeat(900))": "all values together may have 2500 characters",
        "store('', 1)": "the key must be text",
        "store(5, 1)": "the key must be text",
    }
    for code, why in cases.items():
        ran = await place.run(code)
        assert ran.status == "exception"
        assert why in ran.text
    assert (
        await place.run("[load('a').length, load('b').length, typeof load('c')]")
    ).value == '[900,900,"undefined"]'


def test_the_agent_counts_once_more_whatever_the_engine_says() -> None:
    kept = KeptValues(replace(QUICK, stored_value=10, stored_together=15))
    assert kept.put("a", "1234567890")
    assert not kept.put("b", "12345678901")
    assert not kept.put("b", "123456")
    assert kept.put("a", "1")
    assert kept.put("b", "123456")
    assert kept.size == 7
    assert kept.put("a", None)
    assert dict(kept.texts) == {"b": "123456"}
