"""What servers say of their tools, checked and made plain; the whole of it is read only when it is needed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.mcp.names import tool_names
from mcode.mcp.schemas import BadSchemaError, plain_schema, with_plain_names
from mcode.model.reading import is_object, sound, text_field
from mcode.text import Kind, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcode.jsontext import JsonObject, JsonValue

TOOL_LIMIT = 10_000
"""Tools of one server that are taken."""

SHOWN_DESCRIPTION = 2048
"""Bytes of a description that the model is shown; the search knows all of it."""

KEPT_DESCRIPTION = 64 * 1024
"""Characters of a description that are kept at all."""

EXTRA_LIMIT = 16 * 1024
"""Characters of JSON of `_meta` and of `annotations` that are kept."""

CUT = " [… cut: the server's description goes on …]"


class Definition:
    """One tool of a server. What a start needs stands in attributes, the rest is unpacked at first use."""

    __slots__ = ("_body", "_packed", "digest", "meta", "name", "own_name", "title", "tokens")

    def __init__(
        self,
        name: str,
        own_name: str,
        title: str,
        digest: str,
        tokens: int,
        meta: JsonObject,
        body: JsonObject | bytes,
    ) -> None:
        self.name = name
        """`mcp__server__tool`."""
        self.own_name = own_name
        """As the server calls it."""
        self.title = title
        self.digest = digest
        """Hash of name, description, schema and annotations as the server gave them."""
        self.tokens = tokens
        """Estimated size of the definition in a request."""
        self.meta = meta
        self._packed = body if isinstance(body, bytes) else b""
        self._body = None if isinstance(body, bytes) else body

    @property
    def body(self) -> JsonObject:
        """`description` (whole), `note`, `input_schema`, `own_arguments`, `output_schema` and `annotations`."""
        if self._body is None:
            self._body = dict(json.loads(self._packed))
            self._packed = b""
        return self._body

    @property
    def packed(self) -> bytes:
        """The body as one line of JSON."""
        return self._packed or jsontext.dump(self.body).encode()

    @property
    def own_arguments(self) -> JsonObject:
        """The server's own names of arguments, by those that they have here; without those that have the same."""
        return self.body["own_arguments"]

    def arguments_for_server(self, arguments: JsonObject) -> JsonObject:
        """The arguments of a call under the server's own names."""
        own = self.own_arguments
        return {own.get(name, name): value for name, value in arguments.items()} if own else arguments

    @property
    def whole_description(self) -> str:
        return str(self.body["description"])

    @property
    def shown_description(self) -> str:
        """For the model: cut, with what its schema cannot say."""
        note = str(self.body["note"])
        renamed = (f"`{name}` is the server's `{own}`" for name, own in self.own_arguments.items())
        said = clean("; ".join(renamed), Kind.LINE)
        note = "\n".join(filter(None, (note, f"Of the arguments, {said}." if said else "")))
        text = cut_bytes(self.whole_description, SHOWN_DESCRIPTION)
        return f"{text}\n{note}" if note else text


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that one server offers."""

    definitions: tuple[Definition, ...] = ()
    problems: tuple[str, ...] = ()
    """What was left out of the list and why; clean."""
    title: str = ""
    instructions: str = ""
    """What the server says of itself; clean, at most 2 KB."""
    prompts: tuple[JsonObject, ...] = ()
    resources: tuple[JsonObject, ...] = ()
    lookup: dict[str, Definition] = field(default_factory=dict[str, Definition])
    """Definitions by whole name."""


def read_definitions(
    server: str,
    listed: Sequence[JsonObject],
    *,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
) -> tuple[tuple[Definition, ...], tuple[str, ...]]:
    """The tools of a list, sorted by name, and a sentence for each that is left out.

    Takes up to a millisecond for each tool: meant for a thread where there are many.
    """
    problems: list[str] = []
    first: dict[str, JsonObject] = {}
    for tool in listed[:TOOL_LIMIT]:
        name = str(tool["name"])
        if name in first:
            problems.append(f"{_shown(name)} stands twice in the list; the first counts")
        elif name not in exclude and (include is None or name in include):
            first[name] = tool
    if len(listed) > TOOL_LIMIT:
        problems.append(f"it lists {len(listed):,} tools; the first {TOOL_LIMIT:,} are taken")
    whole, refused = tool_names(server, first)
    problems += [f"{_shown(name)} is left out: {why}" for name, why in refused.items()]
    definitions: list[Definition] = []
    for name, full in whole.items():
        try:
            definitions.append(_definition(full, name, sound(first[name])))
        except BadSchemaError as error:
            problems.append(f"{_shown(name)} is left out: {error}")
    return tuple(sorted(definitions, key=lambda each: each.name)), tuple(problems)


def digest_of(tool: JsonObject) -> str:
    """What changes when a server changes what a tool says it is."""
    import hashlib  # loads OpenSSL; a start without servers does without

    said = [tool.get(key) for key in ("name", "description", "inputSchema", "annotations")]
    try:
        text = jsontext.canonical(said)
    except ValueError:  # numbers that JSON does not have
        text = repr(said)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def cut_bytes(text: str, limit: int) -> str:
    """The text where it is short enough, else its beginning with a mark, within `limit` bytes."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= limit:
        return text
    return encoded[: limit - len(CUT.encode())].decode(errors="ignore") + CUT


def _definition(name: str, own_name: str, tool: JsonObject) -> Definition:
    from mcode.model.usage import count_definition

    plain = plain_schema(tool.get("inputSchema"))
    schema, own_arguments = with_plain_names(plain.schema)
    body: JsonObject = {
        "description": clean(text_field(tool, "description")[:KEPT_DESCRIPTION], Kind.MODEL),
        "note": plain.note,
        "input_schema": schema,
        "own_arguments": own_arguments,
        "output_schema": _output_schema(tool.get("outputSchema")),
        "annotations": _small(tool.get("annotations")),
    }
    title = text_field(tool, "title") or text_field(tool.get("annotations"), "title")
    definition = Definition(
        name=name,
        own_name=own_name,
        title=clean(title[:200], Kind.LINE),
        digest=digest_of(tool),
        tokens=0,
        meta=_small(tool.get("_meta")),
        body=body,
    )
    definition.tokens = count_definition(
        {"name": name, "description": definition.shown_description, "input_schema": schema}
    )
    return definition


def _output_schema(value: JsonValue) -> JsonObject | None:
    """The schema of the result; None where there is none that can be used, which is no reason to lose the tool."""
    if not is_object(value):
        return None
    try:
        return plain_schema(value).schema
    except BadSchemaError:
        return None


def _small(value: JsonValue) -> JsonObject:
    return value if is_object(value) and len(jsontext.dump(value)) <= EXTRA_LIMIT else {}


def _shown(name: str) -> str:
    return repr(clean(name[:80], Kind.LINE))
