"""What a folder's settings file would grant, item by item, so that the user can approve exactly that and no more."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

from mcode.config.trust import Item
from mcode.jsontext import canonical, dump

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcode.config.settings import HookHandler, RuleText, Source
    from mcode.jsontext import JsonValue

HOOK, RULE, VARIABLE, VALUE = "hook", "allow-rule", "variable", "setting"
"""Kinds of items, beside `trust.MCP_SERVER`."""


class Supplied:
    """Asks about each item of one file, and remembers which count and which do not."""

    def __init__(self, source: Source, approved: Callable[[Item], bool]) -> None:
        """`source` is a file of the folder itself: `<folder>/.mcode/settings.json`, or one like it."""
        if source.path is None:
            raise ValueError("only a file's content can be approved")
        self._folder = source.path.parent.parent
        self._file = f"{source.path.parent.name}/{source.path.name}"
        self._approved = approved
        self._alike: Counter[str] = Counter()
        self.granted: list[Item] = []
        self.withheld: list[Item] = []

    def rule(self, rule: RuleText) -> bool:
        """Whether an allow rule counts."""
        return self._judge(RULE, rule.text, rule.text, {"allows": rule.text})

    def hook(self, handler: HookHandler) -> bool:
        """Whether a hook runs. A changed one stands in the place of the one before, so that both can be compared."""
        place = f"{handler.event} {handler.matcher or '*'}"
        self._alike[place] += 1
        content: dict[str, JsonValue] = {
            field.name: _plain(getattr(handler, field.name))
            for field in dataclasses.fields(handler)
            if field.name not in ("source", "unsupported", "status_message")
        }
        return self._judge(HOOK, f"{place} {self._alike[place]}", content, _hook_facts(handler))

    def variable(self, name: str, value: str) -> bool:
        """Whether a variable of `env` is set."""
        return self._judge(VARIABLE, name, [name, value], {"sets": f"{name}={value}"})

    def value(self, key: str, value: JsonValue) -> bool:
        """Whether the value of any other key counts."""
        return self._judge(VALUE, key, [key, value], {key: dump(value)})

    def _judge(self, kind: str, name: str, content: JsonValue, facts: Mapping[str, str]) -> bool:
        import hashlib  # loads OpenSSL; only where a folder would grant something

        digest = hashlib.sha256(canonical([kind, content]).encode()).hexdigest()
        item = Item(kind, f"{self._file}: {name}", digest, self._folder, {"file": self._file, **facts})
        counts = self._approved(item)
        (self.granted if counts else self.withheld).append(item)
        return counts


def _plain(value: object) -> JsonValue:
    if isinstance(value, tuple):
        return [str(each) for each in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- the arguments of a hook are text
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _hook_facts(handler: HookHandler) -> dict[str, str]:
    words = (handler.command,) if handler.args is None else (handler.command, *handler.args)
    facts = {
        "at": handler.event,
        "for": handler.matcher or "everything",
        "runs": handler.command if handler.args is None else " ".join(map(dump, words)),
    }
    if handler.args is None:
        facts["with"] = handler.shell or "bash"
    if handler.condition is not None:
        facts["if"] = handler.condition
    if handler.timeout is not None:
        facts["at most"] = f"{handler.timeout:g} s"
    if handler.run_async:
        facts["in the background"] = "yes"
    if handler.once:
        facts["once a session"] = "yes"
    if handler.on_failure == "block":
        facts["when it fails"] = "blocks"
    return facts
