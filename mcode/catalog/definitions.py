"""A tool as the model is shown it: its definition, with what the user's hints add, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.entry import Entry
from mcode.catalog.hints import Hint
from mcode.model.usage import count_definition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcode.jsontext import JsonObject
    from mcode.tool import Tool

EXAMPLE_LIMIT = 3
"""Examples of a definition."""

RETURN_LIMIT = 1_000
"""Characters of a return type."""

_NO_HINT = Hint()


class Definitions:
    """Writes definitions."""

    def __init__(
        self,
        hints: Mapping[str, Hint] | None = None,
        *,
        native_examples: bool = False,
        check: Callable[[JsonObject, JsonObject], str] = lambda schema, example: "",
    ) -> None:
        """`native_examples`: the endpoint takes `input_examples`; elsewhere they stand in the description.

        `check` says what is wrong with an example under a tool's schema: a hint's example counts only without fault.
        """
        self._hints = hints or {}
        self._check = check
        self._sound: dict[str, tuple[Tool, tuple[JsonObject, ...]]] = {}
        self._reported: set[str] = set()
        self.report: Callable[[str], None] = lambda text: None
        """Told once of each example that does not fit its tool."""
        self.native_examples = native_examples
        self._sizes: dict[str, tuple[Tool, int]] = {}
        self._weighed: dict[str, tuple[JsonObject, int]] = {}

    def of(self, tool: Tool) -> JsonObject:
        """A tool as it stands in a request."""
        return self._written(tool, self.native_examples, ())

    def loaded(self, tool: Tool) -> JsonObject:
        """A tool as a search shows it, the same for every endpoint: with its return type, where that is known."""
        if not tool.output_schema:
            return self._written(tool, False, ())
        from mcode.catalog.signatures import type_text

        return self._written(tool, False, (f"Returns: {type_text(tool.output_schema)[:RETURN_LIMIT]}",))

    def _written(self, tool: Tool, native: bool, notes: tuple[str, ...]) -> JsonObject:
        examples = self.examples(tool)
        if examples and not native:
            notes = (*notes, *(f"Example: {jsontext.dump(each)}" for each in examples))
        description = "\n".join((self.description(tool), *notes))
        definition: JsonObject = {
            "name": tool.name,
            "description": description,
            "input_schema": tool.input_schema,
        }
        if examples and native:
            definition["input_examples"] = list(examples)
        return definition

    def tokens(self, tool: Tool) -> int:
        """What the definition costs where it stands in a request (estimate)."""
        known = self._sizes.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._sizes[tool.name] = (tool, self._measured(tool) or count_definition(self.of(tool)))
        return known[1]

    def is_counted(self, tool: Tool) -> bool:
        """Whether its cost is known already."""
        known = self._sizes.get(tool.name)
        return known is not None and known[0] is tool

    def weight(self, definition: JsonObject) -> int:
        """What a definition costs as it stands in a request (estimate)."""
        name = str(definition["name"])
        known = self._weighed.get(name)
        if known is None or known[0] != definition:
            known = self._weighed[name] = (definition, count_definition(definition))
        return known[1]

    def _measured(self, tool: Tool) -> int:
        """What the tool's source has measured already, where no hint changes the definition; else 0."""
        measured: object = getattr(tool, "tokens", 0)
        return measured if isinstance(measured, int) and tool.name not in self._hints else 0

    def description(self, tool: Tool) -> str:
        """The description, or the user's clearer one."""
        return self._hint(tool).description or tool.description

    def examples(self, tool: Tool) -> tuple[JsonObject, ...]:
        """Realistic arguments: the user's before the tool's own."""
        return (*self._hinted(tool), *tool.input_examples)[:EXAMPLE_LIMIT]

    def _hinted(self, tool: Tool) -> tuple[JsonObject, ...]:
        """The user's examples that fit the tool as it is now."""
        examples = self._hint(tool).examples
        if not examples:
            return ()
        known = self._sound.get(tool.name)
        if known is None or known[0] is not tool:
            sound = tuple(each for number, each in enumerate(examples, 1) if self._fits(tool, each, number))
            known = self._sound[tool.name] = (tool, sound)
        return known[1]

    def _fits(self, tool: Tool, example: JsonObject, number: int) -> bool:
        fault = self._check(tool.input_schema, example)
        text = (
            f"Example {number} for {tool.name} in tools.json does not fit its schema and is not used: {fault}"
        )
        if fault and text not in self._reported:
            self._reported.add(text)
            self.report(text)
        return not fault

    def entry(self, tool: Tool) -> Entry:
        """The tool as the search sees it."""
        hint = self._hint(tool)
        # What a server says is cut for the model, but searched whole.
        whole: object = getattr(tool, "full_description", None)
        text = whole if isinstance(whole, str) and whole else tool.description
        description = f"{hint.description}\n\n{text}" if hint.description else text
        server = "" if tool.source == "core" else tool.source
        return Entry(tool.name, server, tool.title, description, tool.input_schema, hint.hint)

    def _hint(self, tool: Tool) -> Hint:
        return self._hints.get(tool.name, _NO_HINT)
