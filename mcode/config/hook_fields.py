"""The optional fields of one hook entry; a wrong value is reported and counts as not given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.known_keys import describe, is_number

if TYPE_CHECKING:
    from mcode.config.report import Report
    from mcode.jsontext import JsonObject

LONGEST = 86_400
"""Seconds that a hook may be given at most."""


class HookFields:
    def __init__(self, entry: JsonObject, key: str, report: Report) -> None:
        self._entry = entry
        self._key = key
        self._report = report

    def flag(self, name: str) -> bool:
        value = self._entry.get(name, False)
        if isinstance(value, bool):
            return value
        self._wrong(name, "true or false")
        return False

    def text(self, name: str) -> str | None:
        value = self._entry.get(name)
        if value is None or isinstance(value, str):
            return value or None
        self._wrong(name, "text")
        return None

    def seconds(self, name: str) -> float | None:
        value = self._entry.get(name)
        if value is None:
            return None
        if is_number(value) and 0 < value <= LONGEST:
            return float(value)
        self._wrong(name, f"seconds, more than 0 and at most {LONGEST}")
        return None

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of the choices; the first where none is given."""
        value = self._entry.get(name, choices[0])
        if isinstance(value, str) and value in choices:
            return value
        self._wrong(name, "one of " + ", ".join(f'"{one}"' for one in choices))
        return choices[0]

    def _wrong(self, name: str, expected: str) -> None:
        got = describe(self._entry[name])
        self._report.add(
            f"{self._key}.{name}", f"expected {expected}, got {got}; the value is ignored", "error"
        )
