"""How much one program may use, each a setting under `mcode.runCode`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue

KILO = 1024
MEGA = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a program. What waits for a tool or for the user is never charged."""

    cpu: float = 10.0
    """CPU seconds of the engine."""
    cpu_grace: float = 3.0
    """CPU seconds after `cpu` at which the kernel ends the worker, where the engine did not stop."""
    watch_extra: float = 10.0
    """Wall seconds, beside three times `cpu`, that a worker which owes an answer may be silent."""
    memory: int = 256 * MEGA
    """Bytes of the engine's heap."""
    code: int = 256 * KILO
    """Bytes of the program's text."""
    calls: int = 500
    at_once: int = 8
    """Read-only calls that run side by side."""
    timers: float = 600.0
    """Seconds that all timers together may wait."""
    call_result: int = 16 * MEGA
    """Bytes of JSON that one call brings into the program."""
    argument: int = 4 * MEGA
    """Characters of JSON that one call takes as its argument."""
    result: int = 16 * MEGA
    """Characters that a program returns at most; the rest of what is over `result_shown` goes to a file."""
    result_shown: int = 20_000
    """Characters of the result that the model gets."""
    result_least: int = 200
    """Characters of the result that the model may cut it to."""
    result_most: int = 100_000
    """Characters of the result that the model may ask for."""
    log: int = 1_000_000
    """Characters of console output that are kept at all."""
    log_shown: int = 8_000
    """Characters of console output that the model gets."""
    shown_together: int = 40_000
    """Characters of result and console output together, where the model did not ask for more."""
    stored_value: int = MEGA
    """Characters of JSON of one value that `store` keeps."""
    stored_together: int = 8 * MEGA
    stored_keys: int = 10_000
    denials: int = 3
    """Denials by the user in a row that stop the program; 0 for never."""
    after_failure: float = 5.0
    """Seconds that running calls still have when their program has failed."""

    @property
    def watch(self) -> float:
        """Wall seconds after which a worker that owes an answer is ended."""
        return 3 * self.cpu + self.watch_extra


_SETTINGS: dict[str, tuple[str, float, float, float]] = {
    "cpuSeconds": ("cpu", 1, 0.1, 600),
    "memoryMb": ("memory", MEGA, 16, 4096),
    "codeKb": ("code", KILO, 1, 4096),
    "calls": ("calls", 1, 1, 100_000),
    "callsAtOnce": ("at_once", 1, 1, 64),
    "timerSeconds": ("timers", 1, 0, 86_400),
    "callResultMb": ("call_result", MEGA, 1, 48),
    "resultChars": ("result_shown", 1, 200, 100_000),
    "logChars": ("log_shown", 1, 0, 100_000),
    "deniedInARow": ("denials", 1, 0, 1_000),
}
"""By the key of the setting: the field, what one of it is in the field's unit, the least and the most."""


def limits_from(settings: JsonObject) -> tuple[Limits, tuple[str, ...]]:
    """The limits that `mcode.runCode` sets, and a sentence for each entry that cannot be used."""
    changes: dict[str, float] = {}
    problems: list[str] = []
    for key, value in settings.items():
        known = _SETTINGS.get(key)
        if known is None:
            problems.append(f"mcode.runCode.{key} is not known; known are {', '.join(_SETTINGS)}.")
            continue
        field, unit, least, most = known
        amount = _number(value)
        if amount is None or not least <= amount <= most:
            problems.append(
                f"mcode.runCode.{key} must be a number from {least:g} to {most:g}; the usual one is used."
            )
            continue
        changes[field] = amount * unit if field in {"cpu", "timers"} else round(amount * unit)
    return replace(Limits(), **changes), tuple(problems)  # pyright: ignore[reportArgumentType] -- numbers of the field's own type


def _number(value: JsonValue) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
