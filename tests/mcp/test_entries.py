"""What one server entry may say, and what becomes of one that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.mcp.expansion import Expander, variables_of
from mcode.mcp.limits import Limits, limits_of
from mcode.mcp.named_authority import metadata_address
from mcode.mcp.server_facts import scrubber
from tests.mcp.server_world import ServerWorld

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> ServerWorld:
    return ServerWorld.fresh(tmp_path)


def test_a_stdio_entry_has_program_arguments_environment_and_limits(world: ServerWorld) -> None:
    entry, said = world.one(
        {
            "command": "npx",
            "args": ["-y", "server", 8080],
            "env": {"DEPTH": 3, "DEEP": True},
            "cwd": "~/data",
            "timeout": 90_000,
            "startupTimeout": 20_000,
            "alwaysLoad": True,
            "includeTools": ["read"],
            "disabled_tools": ["write"],
            "mcode": {"roots": True},
        }
    )
    assert said == []
    assert entry is not None
    assert (entry.kind, entry.command, entry.args) == ("stdio", "npx", ("-y", "server", "8080"))
    assert entry.env == {"DEPTH": "3", "DEEP": "true"}
    assert entry.cwd == world.home / "data"
    assert (entry.timeout, entry.startup_timeout, entry.always_load) == (90.0, 20.0, True)
    assert (entry.include_tools, entry.exclude_tools) == (("read",), ("write",))
    assert entry.own == {"roots": True}
    assert (entry.scope, entry.path) == ("user", world.home / ".mcode" / "mcp.json")


@pytest.mark.parametrize(
    ("written", "kind"),
    [("http", "http"), ("streamable-http", "http"), ("sse", "sse"), (None, "http")],
)
def test_a_remote_entry_has_address_and_headers(world: ServerWorld, written: str | None, kind: str) -> None:
    wanted = {"url": "https://tools.example/mcp", "headers": {"X-Team": "a"}, "headersHelper": "./headers"}
    entry, said = world.one({**wanted, **({"type": written} if written else {})})
    assert entry is not None
    assert (entry.kind, entry.url, entry.headers) == (kind, "https://tools.example/mcp", {"X-Team": "a"})
    assert entry.headers_helper == "./headers"
    assert len(said) == (written is None)
    if written is None:
        assert 'taken for "http"' in said[0]
        assert said[0].startswith("info")


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({}, '"command" is missing'),
        ({"command": 3}, '"command" is the number 3'),
        ({"command": ["npx"]}, '"command" is an array'),
        ({"command": "a\0b"}, '"command" is text'),
        ({"command": "npx", "args": "-y"}, '"args" is the text "-y", expected a list'),
        ({"command": "npx", "args": [None]}, '"args[0]" is null'),
        ({"command": "npx", "env": {"A": {}}}, '"env.A" is an object'),
        ({"command": "npx", "env": {"A=B": "x"}}, 'a name that is empty or has "="'),
        ({"command": "npx", "excludeTools": "write"}, '"excludeTools" is the text'),
        ({"type": "ws", "url": "wss://tools.example"}, 'does not speak "ws"'),
        ({"type": "carrier pigeon"}, '"type" is the text "carrier pigeon"'),
        ({"type": "http"}, '"url" is missing'),
        ({"url": "file:///etc/passwd"}, "no address that begins with https://"),
        ({"url": "https://[::1"}, "no address that begins with https://"),
        ({"url": "https://x.example", "headers": {"A": "b\r\nC: d"}}, "no HTTP request can carry"),
        ({"url": "https://x.example", "headers": {"A B": "b"}}, "no HTTP request can carry"),
        ("npx server", "expected an object"),
    ],
)
def test_a_bad_entry_is_named_and_skipped_and_the_others_load(
    world: ServerWorld, written: object, why: str
) -> None:
    world.user_servers(bad=written, good={"command": "server"})
    gathered = world.gather()
    assert [entry.name for entry in gathered.entries] == ["good"]
    problem = next(problem for problem in gathered.problems if problem.severity == "error")
    assert problem.key == "mcpServers.bad"
    assert why in problem.text
    assert "the others count" in problem.text
    assert problem.line == 3


@pytest.mark.parametrize("name", ["with blank", "dots.are.out", "", "x" * 65, "日本"])
def test_a_name_has_letters_digits_and_dashes(world: ServerWorld, name: str) -> None:
    world.user_servers(**{name: {"command": "server"}})
    gathered = world.gather()
    assert gathered.entries == ()
    assert "a name has 1 to 64 letters" in gathered.problems[0].text


@pytest.mark.parametrize(
    ("field", "near"),
    [("comand", None), ("arg", "args"), ("headerHelper", "headersHelper"), ("alwaysload", "alwaysLoad")],
)
def test_an_unknown_field_is_reported_with_the_nearest_one(
    world: ServerWorld, field: str, near: str | None
) -> None:
    entry, said = world.one({"command": "server", field: "x"})
    assert entry is not None
    assert any(f"mcpServers.one.{field}: mcode does not know this field" in line for line in said)
    assert near is None or any(f'did you mean "{near}"?' in line for line in said)


def test_fields_without_meaning_for_the_kind_are_named(world: ServerWorld) -> None:
    entry, said = world.one({"command": "server", "url": "https://x.example", "headers": {"a": "b"}})
    assert entry is not None
    assert entry.kind == "stdio"
    assert entry.headers == {}
    assert [line.split(":")[0] for line in said] == [
        "warning mcpServers.one.headers",
        "warning mcpServers.one.url",
    ]


def test_a_limit_in_seconds_is_not_taken_for_milliseconds(world: ServerWorld) -> None:
    entry, said = world.one({"command": "server", "timeout": 30})
    assert entry is not None
    assert entry.timeout is None
    assert said == [
        "warning mcpServers.one.timeout: expected milliseconds from 1000, got the number 30; it is ignored"
    ]


def test_m_01_limits_are_the_entrys_else_the_environments_else_the_usual_ones(
    world: ServerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcode.mcp.limits.START", Limits().start)
    plain, _ = world.one({"command": "server"})
    own, said = world.one({"command": "server", "timeout": 90_000, "startup_timeout": 20_000})
    assert plain is not None
    assert own is not None
    assert said == []
    variables = {"MCP_TIMEOUT": "5000", "MCP_TOOL_TIMEOUT": "7000"}
    assert limits_of(plain, {}) == Limits(start=10, call=60, most=600)
    assert limits_of(plain, variables) == Limits(start=5, call=7, most=7)
    assert limits_of(own, variables) == Limits(start=20, call=90, most=90)
    assert limits_of(plain, {"MCP_TIMEOUT": "soon", "MCP_TOOL_TIMEOUT": "-1"}) == limits_of(plain, {})


def test_what_mcode_has_no_extra_for_is_named(world: ServerWorld) -> None:
    _, said = world.one({"command": "server", "mcode": {"roots": True, "root": True, "colour": "red"}})
    assert "mcode.root: mcode does not know this field and ignores it" in "\n".join(said)
    assert "mcode.colour" in "\n".join(said)


def test_blanks_around_a_value_are_told_and_kept(world: ServerWorld) -> None:
    entry, said = world.one({"command": "server ", "args": [" x"]})
    assert entry is not None
    assert (entry.command, entry.args) == ("server ", (" x",))
    assert len(said) == 2
    assert all("they are kept" in line for line in said)


def test_a_whole_command_line_as_command_is_told(world: ServerWorld) -> None:
    _, said = world.one({"command": "npx -y server"})
    text = 'has a blank: it is taken for the name of one program; arguments stand in "args"'
    assert said == [f"warning mcpServers.one.command: {text}"]


@pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
def test_an_entry_can_be_switched_off_in_two_spellings(world: ServerWorld, off: dict[str, bool]) -> None:
    entry, _ = world.one({"command": "server", **off})
    assert entry is not None
    assert entry.disabled
    assert "mcp.json" in entry.why_disabled


def test_variables_are_expanded_where_they_may_stand_and_nowhere_else(world: ServerWorld) -> None:
    world.environment = {"BIN": "/opt", "PORT": "", "TOKEN": "t-${BIN}"}
    entry, said = world.one(
        {
            "command": "${BIN}/server",
            "args": ["--port=${PORT:-80}", "$BIN", "$(id)", "!id"],
            "env": {"${BIN}": "${TOKEN}"},
            "cwd": "${BIN}",
        }
    )
    assert entry is not None
    assert entry.command == "/opt/server"
    assert entry.args == ("--port=80", "$BIN", "$(id)", "!id")
    assert entry.env == {"${BIN}": "t-${BIN}"}, "what comes out is not looked at again"
    assert entry.cwd == world.project / "${BIN}"
    assert said == []
    assert entry.target == "${BIN}/server --port=${PORT:-80} $BIN $(id) !id", "people see it as written"


def test_a_variable_without_value_stays_and_is_told_and_the_server_loads(world: ServerWorld) -> None:
    entry, said = world.one({"url": "https://${HOST_NAME}/mcp", "type": "http"})
    assert entry is not None
    assert entry.url == "https://${HOST_NAME}/mcp"
    assert len(said) == 1
    assert said[0].startswith('warning mcpServers.one: the variable HOST_NAME of server "one" is not set')


def test_an_unset_port_does_not_make_the_address_bad(world: ServerWorld) -> None:
    entry, _ = world.one({"url": "http://127.0.0.1:${PORT}/mcp", "type": "http"})
    assert entry is not None


def test_the_models_key_is_never_given_to_a_projects_server(world: ServerWorld) -> None:
    world.environment = {"ANTHROPIC_API_KEY": "the-key"}
    world.project_servers(thief={"url": "https://x.example/${ANTHROPIC_API_KEY}", "type": "http"})
    gathered = world.gather()
    assert gathered.entries[0].url == "https://x.example/${ANTHROPIC_API_KEY}"
    assert any("never gets the model's key" in problem.text for problem in gathered.problems)


def test_the_hash_is_of_what_is_written_and_not_of_what_it_stands_for(world: ServerWorld) -> None:
    world.environment = {"A": "1"}
    one, _ = world.one({"command": "server", "env": {"X": "${A}"}})
    world.environment = {"A": "2"}
    two, _ = world.one({"env": {"X": "${A}"}, "command": "server", "disabled": True})
    other, _ = world.one({"command": "server", "env": {"X": "${B}"}})
    assert one is not None
    assert two is not None
    assert other is not None
    assert one.hash == two.hash != other.hash
    assert len(one.hash) == 64


def test_an_entry_does_not_show_its_values_by_accident(world: ServerWorld) -> None:
    entry, _ = world.one({"command": "server", "env": {"TOKEN": "hidden-value"}})
    assert "hidden-value" not in repr(entry)


def test_a_default_may_be_empty_and_may_hold_anything_but_a_brace() -> None:
    expander = Expander({})
    assert expander.text("${A:-}|${B:-a:-b $c}|${not a name}|${C") == "|a:-b $c|${not a name}|${C"
    assert not expander.unset
    assert variables_of(["${A:-}${B}", "${A}"]) == ("A", "B")


def test_a_wrong_callback_port_is_left_out(world: ServerWorld) -> None:
    entry, said = world.one(
        {"url": "https://x.example", "type": "http", "oauth": {"clientId": "me", "callbackPort": 99999}}
    )
    assert entry is not None
    assert entry.oauth == {"clientId": "me"}
    assert "expected a port" in said[0]


def test_a_place_for_metadata_that_others_could_stand_in_for_is_not_asked(world: ServerWorld) -> None:
    oauth = {"authServerMetadataUrl": "http://login.example/metadata"}
    entry, said = world.one({"url": "https://x.example", "type": "http", "oauth": oauth})
    assert entry is not None
    assert metadata_address(entry.oauth) == ""
    assert "expected an https address" in said[0]
    good = "https://login.example/metadata"
    _, said = world.one(
        {"url": "https://x.example", "type": "http", "oauth": {"authServerMetadataUrl": good}}
    )
    assert not said


def test_what_errors_say_has_none_of_the_entrys_secrets(world: ServerWorld) -> None:
    key = "key-" + "0123456789"
    world.environment = {"KEY": key}
    entry, _ = world.one(
        {"url": "https://x.example/${KEY}", "type": "http", "headers": {"Authorization": "Bearer ${KEY}"}}
    )
    assert entry is not None
    said = scrubber(entry)(f"cannot reach {entry.url}; sent {key}; tail")
    assert said.startswith("cannot reach https://x.example/${KEY}; sent ")
    assert said.endswith("; tail")
    assert key not in said
