"""The masker of a session: knows the secrets of its environment, and applies every pass."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcode.masking.assignments import mask_assignments, mask_flags
from mcode.masking.marks import mark
from mcode.masking.names import is_secret_value, is_secret_variable, strength_of_name
from mcode.masking.places import mask_addresses, mask_headers
from mcode.masking.shapes import mask_aws_pairs, mask_private_keys, mask_shapes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcode.jsontext import JsonValue

LITERAL_MINIMUM = 8
"""Characters that a value of the environment or a key needs to be masked wherever it stands."""

SLICE = 64 * 1024
"""Characters after which a long text is taken apart, at the end of a line: expressions hold up every thread while
they run, and memory is a multiple of what they look at."""

KEPT_FROM = 32 * 1024
"""Characters from which a masked text is kept for a while."""

KEPT = 6
KEPT_CHARACTERS = 8_000_000
"""Long texts that are kept, and their characters, but for the last one."""

_PEM_LIMIT = 64 * 1024

_PASSES = (
    mask_private_keys,
    mask_shapes,
    mask_aws_pairs,
    mask_headers,
    mask_addresses,
    mask_assignments,
    mask_flags,
)


class Masker:
    """Masks texts and JSON values. It may learn more secrets and forgets none; one serves all threads."""

    def __init__(self, literals: Mapping[str, str] | None = None, *, keys: Sequence[str] = ()) -> None:
        """`literals` is an environment: the values of its secret names are masked wherever they stand.

        `keys` are mcode's own keys, which `mask_keys` masks too. Values of less than LITERAL_MINIMUM
        characters are left alone: placeholders for local servers, and ordinary words.
        """
        own = {key for key in keys if len(key) >= LITERAL_MINIMUM}
        found = {
            value
            for name, value in (literals or {}).items()
            if len(value) >= LITERAL_MINIMUM and is_secret_variable(name, value)
        }
        self._keys = _spellings("key", own)
        self._literals = _spellings("env", found - own)
        self._guard = threading.Lock()
        self._kept: dict[str, tuple[object, str]] = {}
        """The last long texts: what was known then, and each as it was masked."""

    @property
    def keys(self) -> tuple[tuple[bytes, bytes], ...]:
        """mcode's own keys as they may stand in a stream of bytes, in each spelling, with their marks."""
        return tuple(
            (spelling.encode("utf-8", "replace"), replacement.encode())
            for spelling, replacement in self._keys
        )

    @property
    def known(self) -> tuple[tuple[bytes, bytes], ...]:
        """Every value that is known to be secret, as in `keys`: those, and the environment's and servers' own."""
        literals = ((text.encode("utf-8", "replace"), mark.encode()) for text, mark in self._literals)
        return (*self.keys, *literals)

    def learn(self, values: Iterable[str]) -> None:
        """Take values for secrets from now on, wherever they stand; ones of less than LITERAL_MINIMUM not."""
        long_enough = {value for value in values if len(value) >= LITERAL_MINIMUM}
        pairs = dict((*_spellings("server", long_enough), *self._literals))
        self._literals = tuple(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0])))

    def mask_keys(self, text: str) -> str:
        """Mask mcode's own keys alone: what even the model may not see."""
        for spelling, replacement in self._keys:
            text = text.replace(spelling, replacement)
        return text

    def mask_known(self, text: str) -> str:
        """Mask the values that are known to be secret, and nothing that only looks like one: what is decided on
        must not hide anything else."""
        text = self.mask_keys(text)
        for spelling, replacement in self._literals:
            text = text.replace(spelling, replacement)
        return text

    def mask(self, text: str) -> str:
        """Mask every secret that can be told from its value, shape, place or name."""
        if len(text) < LITERAL_MINIMUM:
            return text
        return self._kept_or_masked(text) if len(text) > KEPT_FROM else self._masked(text)

    def _kept_or_masked(self, text: str) -> str:
        """A long text stands in several records, one after the other; once a thread has masked it, it costs nothing."""
        literals = self._literals
        found = self._kept.get(text)
        if found is not None and found[0] is literals:
            return found[1]
        masked = "".join(map(self._masked, slices(text))) if len(text) > 4 * SLICE else self._masked(text)
        with self._guard:
            while len(self._kept) >= KEPT or sum(map(len, self._kept)) > KEPT_CHARACTERS:
                del self._kept[next(iter(self._kept))]
            self._kept[text] = (literals, masked)
        return masked

    def _masked(self, text: str) -> str:
        text = self.mask_known(text)
        for mask in _PASSES:
            text = mask(text)
        return text

    def mask_value(self, value: JsonValue) -> JsonValue:
        """A copy of a JSON value with every text and key in it masked, also by the key that it stands under.

        Tuples become lists, as they would in JSON.
        """
        return self._copy(value, "")

    def _copy(self, value: JsonValue, name: str) -> JsonValue:
        if isinstance(value, str):
            masked = self.mask(value)
            if masked == value and name and is_secret_value(strength_of_name(name), value, quoted=True):
                return mark("named", value)
            return masked
        if isinstance(value, dict):
            return self._copy_object(value)  # pyright: ignore[reportUnknownArgumentType] -- narrowed from Any
        if isinstance(value, list | tuple):
            return [self._copy(item, name) for item in value]  # pyright: ignore[reportUnknownVariableType] -- same
        return value

    def _copy_object(self, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        result: dict[str, JsonValue] = {}
        # In lists of variables, name and value are members of one object: {"name": "TOKEN", "value": "..."}.
        named = value.get("name", value.get("key"))
        for key, item in value.items():
            masked_key = self.mask(key)
            while masked_key in result:
                masked_key += "+"
            name = named if key == "value" and isinstance(named, str) else key
            result[masked_key] = self._copy(item, name)
        return result


def slices(text: str) -> Iterator[str]:
    """A long text in pieces that end with a line, and not inside a private key; one without lines at a blank."""
    start = 0
    while start < len(text):
        line = text.find("\n", start + SLICE, start + 4 * SLICE)
        if line < 0:
            line = text.find(" ", start + SLICE, start + 4 * SLICE)
        end = min(start + 4 * SLICE, len(text)) if line < 0 else line + 1
        key = text.rfind("-----BEGIN", start, end)
        if key >= 0 and text.find("-----END", key, end) < 0:
            closing = text.find("-----END", end, end + _PEM_LIMIT)
            line = text.find("\n", closing) if closing >= 0 else end - 1
            end = len(text) if line < 0 else line + 1
        yield text[start:end]
        start = end


def _spellings(kind: str, values: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each value and its forms inside JSON and URLs, with its mark; the longest first, lest one hide another."""
    pairs: dict[str, str] = {}
    for value in sorted(values):
        for spelling in (
            value,
            json.dumps(value)[1:-1],
            json.dumps(value, ensure_ascii=False)[1:-1],
            quote(value, safe="", errors="replace"),
        ):
            pairs.setdefault(spelling, mark(kind, value))
    return tuple(sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0])))
