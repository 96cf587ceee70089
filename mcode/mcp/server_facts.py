"""A server's entry as a list of facts for display, with secrets masked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcode.config.json_parts import as_list, as_object
from mcode.mcp.expansion import variables_of
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcode.jsontext import JsonObject, JsonValue
    from mcode.masking import Masker
    from mcode.mcp.entries import ServerEntry


def facts_of(entry: ServerEntry, mask: Callable[[str], str]) -> dict[str, str]:
    """Every field by label, in an order that begins with what is run or contacted.

    Nothing is left out and nothing is cut: this is what the user decides on. Hidden characters are visible.
    """
    facts = {label: clean(mask(text), Kind.DECISION) for label, text in _facts(entry.written)}
    variables = variables_of(_texts(entry.written))
    if variables:
        facts["reads your variables"] = ", ".join(variables)
    return facts


def _facts(written: JsonObject) -> Iterator[tuple[str, str]]:
    if "command" in written:
        words = [written["command"], *(as_list(written.get("args")) or [])]
        yield "runs", " ".join(_word(word) for word in words)
    if "url" in written:
        yield "contacts", _word(written["url"])
    if "headersHelper" in written:
        yield "runs for its headers", _word(written["headersHelper"])
    for label, field in (("environment", "env"), ("header", "headers")):
        for name, value in (as_object(written.get(field)) or {}).items():
            # As an assignment, so that masking knows a secret by its name.
            yield f"{label} {_word(name)}", _assigned(name, value)
    for name, value in written.items():
        if name not in ("command", "args", "url", "headersHelper", "env", "headers", "type"):
            yield _word(name), _word(value)


def _word(value: JsonValue) -> str:
    """A word as it is, or as JSON where its ends could not be seen."""
    if (
        isinstance(value, str)
        and value
        and not any(letter.isspace() or letter in "\"'\\" for letter in value)
    ):
        return value
    return json.dumps(value, ensure_ascii=False)


def _assigned(name: str, value: JsonValue) -> str:
    return f"{name}={_word(value)}"


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for child in as_list(value) or (as_object(value) or {}).values():
        yield from _texts(child)


def secret_values(entry: ServerEntry) -> Iterator[str]:
    """What the entry holds that must not be written anywhere, told by name or by looks: keys and tokens."""
    from mcode.masking.names import is_secret_variable, looks_random

    for name, value in (*entry.env.items(), *entry.headers.items()):
        word = value.rpartition(" ")[2]
        authorizes = name.lower() in {"authorization", "proxy-authorization", "cookie"}
        if authorizes or is_secret_variable(name, value) or looks_random(word):
            yield from dict.fromkeys((value, word))


def scrubber(entry: ServerEntry) -> Callable[[str], str]:
    """Takes the entry's own secrets out of a text: its expanded address, and values that it holds or that it got."""
    written_url = str(entry.written.get("url", ""))
    made: list[Masker] = []

    def masker() -> Masker:
        from mcode.masking import Masker  # many expressions to compile; only where there is a text to look at

        values = (*entry.env.values(), *entry.headers.values())
        words = (word for value in values for word in (value, value.rpartition(" ")[2]))
        made.append(Masker({}, keys=tuple(words)))
        return made[0]

    def scrub(text: str) -> str:
        if entry.url and entry.url != written_url:
            text = text.replace(entry.url, written_url)
        return (made[0] if made else masker()).mask_keys(text)

    return scrub
