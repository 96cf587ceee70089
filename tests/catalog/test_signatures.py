"""A JSON Schema as one line: what a model reads of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.signatures import LENGTH_LIMIT, signature, type_text
from mcode.model.tokens import count_tokens

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject, JsonValue


def object_of(required: str = "", /, **properties: JsonObject) -> JsonObject:
    """A schema of an object; `required` are names between blanks."""
    return {"type": "object", "properties": properties, "required": required.split()}


STRING: JsonObject = {"type": "string"}


def test_a_tool_reads_like_a_function_with_its_first_sentence_behind() -> None:
    schema = object_of("path", path=STRING, limit={"type": "integer", "default": 20})
    line = signature("read_part", "Reads some lines of a file. Fails on directories.", schema)
    assert line == "read_part(a: {path: string, limit?: integer = 20}) // Reads some lines of a file."


def test_a_tool_without_parameters_has_empty_brackets() -> None:
    assert signature("now", "", {"type": "object", "properties": {}}) == "now()"
    assert signature("now", "", {}) == "now()"
    assert signature("now", "", {"type": "object", "additionalProperties": False}) == "now()"


def test_parameters_that_may_all_be_left_out_make_the_argument_optional() -> None:
    assert signature("find", "", object_of(text=STRING)) == "find(a?: {text?: string})"


def test_required_parameters_come_first() -> None:
    assert type_text(object_of("b", a=STRING, b=STRING)) == "{b: string, a?: string}"


def test_the_shape_of_the_result_stands_behind_the_brackets() -> None:
    result = object_of("items", items={"type": "array", "items": STRING})
    line = signature("names", "", object_of("of", of=STRING), result)
    assert line == "names(a: {of: string}): {items: string[]}"


def test_enumerations_are_unions_of_literals() -> None:
    assert type_text({"enum": ["open", "closed", 3, None]}) == '"open" | "closed" | 3 | null'
    assert type_text({"const": "fixed"}) == '"fixed"'


def test_a_long_enumeration_is_cut() -> None:
    text = type_text({"enum": [f"value{number}" for number in range(500)]})
    assert text.startswith('"value0" | "value1"')
    assert text.endswith(" | ...")
    assert len(text) < 500


def test_unions_and_nullable_types() -> None:
    assert type_text({"anyOf": [{"type": "null"}, STRING, {"type": "integer"}]}) == "string | integer | null"
    assert type_text({"type": ["string", "null"]}) == "string | null"
    assert type_text({"oneOf": [STRING, {"anyOf": [STRING, {"type": "null"}]}]}) == "string | null"


def test_an_optional_parameter_does_not_say_that_it_may_also_be_null() -> None:
    nullable: JsonObject = {"anyOf": [STRING, {"type": "null"}], "default": None}
    assert type_text(object_of(note=nullable)) == "{note?: string}"
    assert type_text(object_of("note", note=nullable)) == "{note: string | null}"


def test_lists_of_unions_have_brackets() -> None:
    assert type_text({"type": "array", "items": {"enum": ["a", "b"]}}) == '("a" | "b")[]'
    assert type_text({"type": "array"}) == "any[]"
    assert type_text({"type": "array", "prefixItems": [STRING, {"type": "number"}]}) == "[string, number]"


def test_nested_objects_are_written_out_and_open_ones_say_so() -> None:
    inner = object_of("x", x={"type": "number"})
    assert type_text(object_of("at", at=inner)) == "{at: {x: number}}"
    assert type_text({"type": "object", "additionalProperties": STRING}) == "{[key: string]: string}"
    assert type_text({**inner, "additionalProperties": True}) == "{x: number, ...}"


def test_references_are_followed() -> None:
    schema = {
        **object_of("who", who={"$ref": "#/$defs/Person"}),
        "$defs": {"Person": object_of("name", name=STRING)},
    }
    assert type_text(schema) == "{who: {name: string}}"


def test_a_reference_that_leads_to_itself_ends() -> None:
    node = object_of("label", label=STRING, children={"type": "array", "items": {"$ref": "#/$defs/Node"}})
    schema = {**object_of("root", root={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}
    assert type_text(schema) == "{root: {label: string, children?: object[]}}"


def test_a_reference_that_leads_nowhere_is_any_value() -> None:
    for target in ("#/$defs/Missing", "other.json#/x", "#/$defs/0"):
        assert type_text({"$ref": target}) == "any"


def test_alternatives_of_required_parameters_are_a_remark() -> None:
    schema = {**object_of(id=STRING, name=STRING), "anyOf": [{"required": ["id"]}, {"required": ["name"]}]}
    assert type_text(schema) == "{id?: string, name?: string} /* needs id or name */"


def test_a_union_at_the_root_is_one_too() -> None:
    schema: JsonObject = {
        "type": "object",
        "anyOf": [object_of("id", id=STRING), object_of("name", name=STRING)],
    }
    assert signature("get", "", schema) == "get(a: {id: string} | {name: string})"


def test_parts_of_an_all_of_are_joined() -> None:
    schema: JsonObject = {"allOf": [object_of("id", id=STRING), object_of("name", name=STRING)]}
    assert type_text(schema) == "{id: string} & {name: string}"


def test_names_that_are_no_identifiers_are_quoted() -> None:
    assert type_text(object_of("x-y", **{"x-y": STRING})) == '{"x-y": string}'


def test_defaults_are_shown_where_they_are_short() -> None:
    schema = object_of(
        order={"type": "string", "default": "asc"},
        deep={"type": "boolean", "default": False},
        text={"type": "string", "default": "x" * 100},
        tags={"type": "array", "items": STRING, "default": []},
    )
    assert (
        type_text(schema)
        == '{order?: string = "asc", deep?: boolean = false, text?: string, tags?: string[]}'
    )


def test_a_giant_definition_is_folded_from_the_inside_out() -> None:
    deep = object_of("leaf", leaf=object_of("value", **{f"value_{number}": STRING for number in range(50)}))
    schema = object_of("target", target=STRING, **{f"part_{number}": deep for number in range(50)})
    line = signature("change_everything", "Changes things.", schema)
    assert len(line) <= LENGTH_LIMIT
    assert line.startswith(
        "change_everything(a: {target: string, part_0?: {leaf: object}, part_1?: {leaf: object}"
    )
    assert line.endswith("}) // Changes things.")


def test_a_definition_with_too_many_parameters_keeps_the_required_ones() -> None:
    names = {f"a_rather_long_name_of_a_parameter_{number}": STRING for number in range(60)}
    line = signature("set_all", "", object_of("key", key=STRING, **names))
    assert line == "set_all(a: {key: string, ...})"


def test_references_that_multiply_do_not_take_for_ever() -> None:
    definitions = {
        f"L{level}": object_of(
            "", **{f"p{number}": {"$ref": f"#/$defs/L{level + 1}"} for number in range(20)}
        )
        for level in range(30)
    }
    assert len(signature("bomb", "", {"$ref": "#/$defs/L0", "$defs": definitions})) <= LENGTH_LIMIT


def test_a_schema_deeper_than_any_stack_is_cut() -> None:
    schema: JsonObject = STRING
    for _ in range(5_000):
        schema = {"type": "array", "items": schema}
    assert type_text(schema).startswith("any[]")


def test_nothing_in_a_schema_can_break_the_line_or_write_to_the_terminal() -> None:
    schema = object_of("", **{"na\nme\x1b[2J": {"enum": ["a\nb", "\x1b]0;title\x07"]}})
    line = signature("odd", "Two\nlines \x1b[31mred\x1b[0m. More.", schema)
    assert "\n" not in line
    assert "\x1b" not in line
    assert line.endswith("// Two lines red.")


def test_schemas_that_are_no_schemas_are_any_value() -> None:
    odd_ones: list[JsonValue] = [None, 3, "text", [], {"type": 7}, {"enum": {}}, {"anyOf": 1}]
    odd_ones.append({"type": "object", "properties": []})
    for odd in odd_ones:
        assert type_text(odd) in {"any", "object"}
    assert type_text(False) == "never"


def test_a_signature_takes_at_most_thirty_percent_of_the_definition() -> None:
    schema = object_of(
        "repository title",
        repository={
            "type": "string",
            "description": "Owner and name of the repository, separated by a slash",
        },
        title={
            "type": "string",
            "description": "Title of the new entry, a single line of plain text",
            "maxLength": 200,
        },
        labels={
            "type": "array",
            "description": "Labels that the new entry gets; each has to exist in the repository already",
            "items": {"type": "string"},
        },
        priority={"type": "string", "enum": ["low", "normal", "high"], "description": "How urgent it is"},
    )
    description = (
        "Adds an entry to the tracker of a repository. The entry is visible to everybody who may read the "
        "repository. Watchers are told by mail unless they have switched that off. Returns its number."
    )
    definition = jsontext.dump({"name": "add_entry", "description": description, "input_schema": schema})
    assert count_tokens(signature("add_entry", description, schema)) <= 0.3 * count_tokens(definition)
