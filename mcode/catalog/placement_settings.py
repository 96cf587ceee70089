"""Reads what the settings and the environment say of placement and loading."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcode.catalog.placement import PINS, LoadingWay, Pin, PlacementRules, ProgramsMode, SearchMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcode.jsontext import JsonObject, JsonValue

VARIABLE = "ENABLE_TOOL_SEARCH"
"""Goes before the setting `mcode.toolSearch`, and takes the same words."""

SHARE = 10
"""Percent of the window that definitions of servers may have where nothing else is said."""

MOST = 10_000
"""Tokens that they may have at most where nothing else is said."""

WAYS: tuple[LoadingWay, ...] = ("reference", "call", "append")
PROGRAMS: tuple[ProgramsMode, ...] = ("off", "beside", "first")


@dataclass(frozen=True, slots=True)
class CatalogueSettings:
    """What is set, checked."""

    mode: SearchMode
    threshold: int
    because: str
    pins: Mapping[str, Pin]
    ways: Mapping[str, LoadingWay]
    """Ways of loading by endpoint (its name, host and port); `*` for all others."""
    programs: ProgramsMode
    problems: tuple[str, ...] = ()
    """What could not be used, a sentence each."""

    def rules(self) -> PlacementRules:
        """The rules as far as settings make them."""
        return PlacementRules(
            mode=self.mode,
            threshold=self.threshold,
            because=self.because,
            pins=self.pins,
            programs=self.programs,
        )

    def way_for(self, endpoint: str, otherwise: LoadingWay) -> LoadingWay:
        """How tools are loaded at an endpoint, by its name; `otherwise` is what its profile says."""
        host = endpoint.partition("/")[0]
        return self.ways.get(endpoint) or self.ways.get(host) or self.ways.get("*") or otherwise


@dataclass(slots=True)
class _Reading:
    """What is read, and what is wrong with it."""

    window: int
    mode: SearchMode = "auto"
    threshold: int = 0
    because: str = ""
    problems: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.threshold = min(self.window * SHARE // 100, MOST)
        self.because = f"{SHARE} % of the window of {self.window:,} tokens, at most {MOST:,}"

    def take(self, value: JsonValue, where: str) -> None:
        """Take in `true`, `false`, `auto` or `auto:N`."""
        text = str(value).strip().lower() if isinstance(value, str | bool | int) else ""
        share = text.removeprefix("auto:")
        if text in {"true", "1", "always"}:
            self.mode, self.because = "always", f"{where} is {text}"
        elif text in {"false", "0", "never"}:
            self.mode, self.because = "never", f"{where} is {text}"
        elif text.startswith("auto:") and share.isdecimal() and int(share) <= 100:
            self.mode, self.threshold = "auto", self.window * int(share) // 100
            self.because = f"{share} % of the window of {self.window:,} tokens, as {where} says"
        elif text == "auto":
            self.mode = "auto"
        else:
            self.problems.append(
                f"{where} takes true, false, auto or auto:N with N from 0 to 100, not {value!r}; it is ignored"
            )


def read_catalogue_settings(
    tool_search: JsonValue, placement: JsonObject, programs: JsonValue, variable: str | None, window: int
) -> CatalogueSettings:
    """
    Check `mcode.toolSearch`, `mcode.placement` and `mcode.programs`, and ENABLE_TOOL_SEARCH as `variable`.

    `toolSearch` is a word as the variable takes it, or an object: `mode` (such a word), `threshold` in tokens,
    `loading` (a way, or ways by endpoint).
    """
    reading = _Reading(window)
    ways: dict[str, LoadingWay] = {}
    if isinstance(tool_search, dict):
        _read_object(cast("JsonObject", tool_search), reading, ways)
    elif tool_search is not None:
        reading.take(tool_search, "mcode.toolSearch")
    if variable:
        reading.take(variable, VARIABLE)
    pins: dict[str, Pin] = {}
    for name, said in placement.items():
        if said in PINS:
            pins[name] = said
        else:
            known = ", ".join(PINS)
            reading.problems.append(
                f"mcode.placement.{name} takes one of {known}, not {said!r}; it is ignored"
            )
    return CatalogueSettings(
        reading.mode,
        reading.threshold,
        reading.because,
        pins,
        ways,
        _programs(programs, reading),
        tuple(reading.problems),
    )


def _read_object(value: JsonObject, reading: _Reading, ways: dict[str, LoadingWay]) -> None:
    if "mode" in value:
        reading.take(value["mode"], "mcode.toolSearch.mode")
    threshold = value.get("threshold")
    if isinstance(threshold, int) and not isinstance(threshold, bool) and threshold >= 0:
        reading.threshold, reading.because = threshold, "mcode.toolSearch.threshold"
    elif threshold is not None:
        reading.problems.append(
            f"mcode.toolSearch.threshold takes a number of tokens, not {threshold!r}; it is ignored"
        )
    loading = value.get("loading")
    by_endpoint = cast("JsonObject", loading) if isinstance(loading, dict) else {"*": loading}
    for endpoint, way in by_endpoint.items():
        if way in WAYS:
            ways[endpoint] = way
        elif way is not None:
            reading.problems.append(
                f"mcode.toolSearch.loading takes {', '.join(WAYS)}, or these by endpoint, not {way!r}; it is ignored"
            )


def _programs(value: JsonValue, reading: _Reading) -> ProgramsMode:
    said = {True: "beside", False: "off"}.get(value, value) if isinstance(value, bool) else value
    mode = cast("JsonObject", said).get("mode") if isinstance(said, dict) else said
    if mode is None:
        return "beside"
    for known in PROGRAMS:
        if mode == known:
            return known
    reading.problems.append(
        f"mcode.programs takes one of {', '.join(PROGRAMS)}, not {value!r}; it is ignored"
    )
    return "beside"
