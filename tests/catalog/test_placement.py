"""Where tools sit: each rule, its order, and its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcode.catalog.placement import Placed, PlacementRules, place
from mcode.catalog.placement_settings import read_catalogue_settings
from mcode.tool import Placement
from tests.catalog.stand_ins import ServerTool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.tool import Tool

R, D, P, T = Placement.RESIDENT, Placement.DEFERRED, Placement.PROGRAM_ONLY, Placement.TOP_LEVEL_ONLY


def own(name: str, placement: Placement = R) -> ServerTool:
    tool = ServerTool("core", name, "Does it.", placement=placement)
    tool.name = name
    return tool


def server(name: str, count: int, **others: Any) -> list[ServerTool]:
    return [ServerTool(name, f"t{n}", "Does it.", **others) for n in range(count)]


DOORS = (own("tool_search", T), own("call_tool", T), own("run_code", T))
CORE = (own("Read"), own("Bash"), own("AskUserQuestion", T), own("WebFetch", D), *DOORS)


def placed(tools: Sequence[Tool], size: int = 100, **rules: Any) -> dict[str, Placed]:
    given: dict[str, Any] = {"threshold": 1_000, "programs": "beside", **rules}
    return place((*CORE, *tools), PlacementRules(**given), lambda _: size)


def of_servers(decided: dict[str, Placed]) -> dict[str, set[Placement]]:
    found: dict[str, set[Placement]] = {}
    for name, each in decided.items():
        if name.startswith("mcp__"):
            found.setdefault(name.split("__")[1], set()).add(each.placement)
    return found


def test_core_tools_are_resident_and_seldom_needed_ones_deferred() -> None:
    decided = placed(())
    assert [decided[name].placement for name in ("Read", "Bash", "AskUserQuestion", "WebFetch")] == [
        R,
        R,
        T,
        D,
    ]
    assert "core tool" in decided["Read"].reason


def test_servers_within_the_limit_are_resident() -> None:
    decided = placed([*server("a", 4), *server("b", 6)])
    assert of_servers(decided) == {"a": {R}, "b": {R}}
    assert "1,000 tokens, within the limit of 1,000" in decided["mcp__a__t0"].reason


def test_the_largest_servers_go_first_until_the_rest_fits() -> None:
    decided = placed([*server("small", 3), *server("large", 9), *server("middle", 5)])
    assert of_servers(decided) == {"small": {R}, "large": {D}, "middle": {R}}
    assert "large has 900 tokens" in decided["mcp__large__t0"].reason
    assert "800 in all" in decided["mcp__small__t0"].reason


def test_counting_ends_where_a_server_alone_is_over_the_limit() -> None:
    counted: list[str] = []

    def count(tool: Tool) -> int:
        counted.append(tool.name)
        return 400

    place((*CORE, *server("huge", 3_000)), PlacementRules(threshold=1_000), count)
    assert len(counted) == 3


@pytest.mark.parametrize(
    ("others", "servers", "expected"),
    [
        ({}, frozenset[str](), D),
        ({"always_load": True}, frozenset[str](), R),
        ({}, frozenset({"big"}), R),
        ({"meta": {"anthropic/alwaysLoad": True}}, frozenset[str](), R),
        ({"always_load": True, "meta": {"anthropic/alwaysLoad": False}}, frozenset({"big"}), D),
    ],
)
def test_always_load_of_a_tool_goes_before_that_of_its_server(
    others: dict[str, Any], servers: frozenset[str], expected: Placement
) -> None:
    decided = placed(server("big", 20, **others), always_loaded=servers)
    assert of_servers(decided) == {"big": {expected}}


def test_what_is_always_loaded_does_not_count_against_the_limit() -> None:
    decided = placed([*server("big", 20, always_load=True), *server("small", 5)])
    assert of_servers(decided) == {"big": {R}, "small": {R}}


def test_the_settings_go_first_the_tool_before_its_server() -> None:
    pins = {
        "big": "resident",
        "mcp__big__t1": "hidden",
        "mcp__other": "deferred",
        "Read": "deferred",
        "Bash": "hidden",
    }
    decided = placed([*server("big", 20), *server("other", 1)], pins=pins)
    assert decided["mcp__big__t0"].placement is R
    assert decided["mcp__big__t1"].hidden
    assert decided["mcp__other__t0"].placement is D
    assert decided["Read"].placement is D
    assert decided["Bash"].hidden
    assert decided["Read"].reason == "`mcode.placement` says deferred for Read"


def test_what_only_the_model_may_call_stays_whatever_is_set() -> None:
    assert placed((), pins={"AskUserQuestion": "deferred"})["AskUserQuestion"].placement is T


def test_always_and_never_need_no_counting() -> None:
    def no_count(tool: Tool) -> int:
        raise AssertionError(tool.name)

    for mode, expected in (("always", D), ("never", R)):
        rules = PlacementRules(mode=mode)  # pyright: ignore[reportArgumentType] -- words of a table
        decided = place((*CORE, *server("a", 1)), rules, no_count)
        assert of_servers(decided) == {"a": {expected}}
    assert decided["WebFetch"].placement is R
    assert decided["tool_search"].hidden, "nothing is deferred"


def test_a_denied_search_leaves_nothing_deferred() -> None:
    decided = placed(server("big", 20), searchable=False)
    assert of_servers(decided) == {"big": {R}}
    assert "denies tool_search" in decided["mcp__big__t0"].reason


def test_the_doors_stand_only_where_they_lead_somewhere() -> None:
    nothing = (own("Read"), *DOORS)
    rules = PlacementRules(programs="beside")

    def doors(rules: PlacementRules, tools: Sequence[Tool] = nothing) -> list[bool]:
        decided = place(tools, rules, lambda _: 1)
        return [not decided[name].hidden for name in ("tool_search", "call_tool")]

    assert doors(rules) == [False, False]
    assert doors(replace(rules, expects_servers=True)) == [True, True]
    assert doors(rules, CORE) == [True, True]
    assert doors(replace(rules, way="append"), CORE) == [True, False]
    assert doors(replace(rules, programs="first"), CORE) == [True, False]


def test_programs_first_takes_everything_that_programs_can_call() -> None:
    decided = placed(server("small", 2), programs="first", pins={"Read": "resident"})
    where = {name: (each.placement, each.direct) for name, each in decided.items()}
    assert where["Read"] == (R, True)
    assert where["Bash"] == (P, False)
    assert where["AskUserQuestion"] == (T, True)
    assert where["WebFetch"] == (D, False)
    assert where["mcp__small__t0"] == (P, False)
    off = place((own("Bash"),), PlacementRules(programs="first"), lambda _: 1)
    assert off["Bash"].placement is R, "without run_code there are no programs"


def test_program_only_without_programs_is_deferred() -> None:
    decided = placed((), programs="off", pins={"Bash": "program-only"})
    assert decided["Bash"].placement is D
    assert decided["run_code"].hidden


@pytest.mark.parametrize(
    ("variable", "setting", "mode", "threshold"),
    [
        (None, None, "auto", 10_000),
        ("true", None, "always", 10_000),
        ("false", "auto:5", "never", 10_000),
        ("auto:20", None, "auto", 40_000),
        (None, "auto:2", "auto", 4_000),
        (None, {"threshold": 700}, "auto", 700),
        (None, {"mode": True}, "always", 10_000),
        ("nonsense", None, "auto", 10_000),
        ("auto:101", None, "auto", 10_000),
    ],
)
def test_the_variable_goes_before_the_setting(
    variable: str | None, setting: Any, mode: str, threshold: int
) -> None:
    read = read_catalogue_settings(setting, {}, None, variable, 200_000)
    assert (read.mode, read.threshold) == (mode, threshold)
    assert bool(read.problems) is (variable in ("nonsense", "auto:101"))


def test_the_limit_follows_the_window() -> None:
    assert read_catalogue_settings(None, {}, None, None, 32_000).threshold == 3_200


def test_what_cannot_be_used_is_named() -> None:
    read = read_catalogue_settings(
        {"loading": "pigeon", "threshold": -1}, {"jira": "nowhere"}, "perhaps", None, 1_000
    )
    assert read.pins == {}
    assert read.programs == "beside"
    assert [problem.split()[0] for problem in read.problems] == [
        "mcode.toolSearch.threshold",
        "mcode.toolSearch.loading",
        "mcode.placement.jira",
        "mcode.programs",
    ]
