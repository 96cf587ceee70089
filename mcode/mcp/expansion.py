"""Variables in server entries: `${NAME}` and `${NAME:-default}`. Nothing is ever run to find a value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode.process.environment import MODEL_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(slots=True)
class Expander:
    """Replaces references, and remembers what it met."""

    environment: Mapping[str, str]
    trusted: bool = True
    """False for an entry of a project: it never gets the key of the model's endpoint."""
    unset: dict[str, None] = field(default_factory=dict[str, None])
    """Names without value and without default; they stay as they are written."""
    withheld: dict[str, None] = field(default_factory=dict[str, None])
    """Names of the model's keys that were asked for by an entry which may not have them."""

    def text(self, written: str) -> str:
        """The text with each reference replaced once; what comes out is not looked at again.

        A default counts where the variable is not set or empty, as in the shell.
        """
        return REFERENCE.sub(self._value, written)

    def texts(self, written: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.text(one) for one in written)

    def mapping(self, written: Mapping[str, str]) -> dict[str, str]:
        """Names stay as they are; only values are expanded."""
        return {name: self.text(value) for name, value in written.items()}

    def _value(self, found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in MODEL_KEYS and not self.trusted:
            self.withheld[name] = None
            return found[0] if default is None else default
        value = self.environment.get(name)
        if default is not None:
            return value or default
        if value is None:
            self.unset[name] = None
            return found[0]
        return value


def variables_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the variables that texts refer to, each once, in order."""
    return tuple(dict.fromkeys(found[1] for text in texts for found in REFERENCE.finditer(text)))
