"""The page on which the user decides about a folder: everything that would take effect, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcode.config.hint_file import HINTS
from mcode.config.supplied import HOOK, RULE, VALUE, VARIABLE
from mcode.config.trust import MCP_SERVER, MEMORY_IMPORT
from mcode.text import Kind, clean
from mcode.wiring.item_question import CHANGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mcode.config.trust import Item, TrustStore

_LINE_END = "\u2039U+000A\u203a"
"""Stands for the end of a line inside a fact, lest what follows pass for a fact of its own."""

HEADINGS = {
    HOOK: "Commands that mcode runs by itself (hooks), in this folder",
    MCP_SERVER: "Servers of tools (MCP) that mcode starts or contacts",
    RULE: "Calls that run without asking you (allow rules)",
    VARIABLE: "Environment variables of commands, hooks and servers",
    VALUE: "Other settings",
    HINTS: "Words about tools, examples and places of tools",
    MEMORY_IMPORT: "Files from elsewhere that its instructions bring in (by path; what they say may change)",
}
"""Kinds of items in the order of the page."""

AFTERWARDS = (
    "What is changed or added later is asked about again. What a command does is in its own files, which are not "
    "compared: look at them."
)


COUNTED = {HOOK: "hook", RULE: "allow rule", VARIABLE: "variable", VALUE: "other setting", HINTS: "hint file"}
"""What items are called where they are only counted."""


def untrusted_summary(items: Sequence[Item]) -> str:
    """What does not count, for a line on the screen; /trust has all of it."""
    counts = [(sum(item.kind == kind for item in items), name) for kind, name in COUNTED.items()]
    named = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
    return f"This folder is not trusted, so this of its files does not count: {named}. Its deny and ask rules count."


def masked(item: Item, mask: Callable[[str], str]) -> Item:
    """The item with its facts as people may see and keep them: no secret, hidden characters visible, each one line."""

    def shown(text: str) -> str:
        return clean(mask(text), Kind.DECISION).replace("\n", _LINE_END)

    return replace(item, facts={shown(label): shown(text) for label, text in item.facts.items()})


def trust_page(start: Path, items: Sequence[Item], trust: TrustStore, instructions: Sequence[Path]) -> str:
    """The whole page. `items` are masked; `instructions` are the folder's files that are read in any case."""
    known = any(trust.earlier(item) is not None for item in items)
    what = (
        "something here is new, or has changed since you answered" if known else "this folder is not trusted"
    )
    lines = [
        f"mcode was started in {start}, and {what}.",
        "If you trust it, exactly the following counts here. Until then nothing of it does, and nothing is started.",
    ]
    for kind, heading in HEADINGS.items():
        alike = [item for item in items if item.kind == kind]
        if alike:
            lines += ["", heading]
        for item in alike:
            lines += _item_lines(item, trust)
    if instructions:
        lines += ["", "Read in any case, as text for the model", *(f"  {path}" for path in instructions)]
    return "\n".join([*lines, "", AFTERWARDS])


def _item_lines(item: Item, trust: TrustStore) -> Iterator[str]:
    facts = {label: text for label, text in item.facts.items() if label != "file"}
    changes = trust.difference(item)
    mark = "   (changed)" if trust.earlier(item) is not None else ""
    if item.kind in (RULE, VARIABLE, VALUE, HINTS):
        yield f"  {_short(item, facts)}   in {item.facts.get('file', item.folder)}{mark}"
    else:
        name = f"in {item.facts['file']}" if item.kind == HOOK else clean(item.key, Kind.DECISION)
        yield f"  {name}{mark}"
        yield from (f"      {label}: {text}" for label, text in facts.items())
    if changes:
        yield f"      {CHANGED}"
        yield from (f"      {line}" for line in changes)


def _short(item: Item, facts: dict[str, str]) -> str:
    ((label, text), *_) = facts.items()
    return f"{label}: {text}" if item.kind in (VALUE, HINTS) else text
