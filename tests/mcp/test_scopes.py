"""Which files name servers, whose entry wins, and which servers may run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcode.config.trust import TrustStore
from mcode.mcp.scopes import Wanted, trust_item
from tests.mcp.server_world import STDIO, ServerWorld, said

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.mcp.scopes import Gathered


@pytest.fixture
def world(tmp_path: Path) -> ServerWorld:
    return ServerWorld.fresh(tmp_path)


def commands(gathered: Gathered) -> dict[str, str]:
    return {entry.name: entry.command for entry in gathered.entries}


def git_init(directory: Path) -> None:
    (directory / ".git").mkdir(parents=True)
    (directory / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def test_without_any_file_there_are_no_servers_and_no_problems(world: ServerWorld) -> None:
    gathered = world.gather()
    assert gathered.entries == gathered.asking == gathered.problems == ()


def test_local_beats_project_beats_user_and_mcodes_file_beats_the_other_agents(world: ServerWorld) -> None:
    key = str(world.project)
    names = ["a", "b", "c", "d", "e"]

    def servers(where: str, count: int) -> dict[str, object]:
        return {name: {"command": where} for name in names[:count]}

    world.claude(
        mcpServers=servers("user-claude", 5), projects={key: {"mcpServers": servers("local-claude", 2)}}
    )
    own = {"mcpServers": servers("user-own", 4), "projects": {key: {"mcpServers": servers("local-own", 1)}}}
    world.write("home/.mcode/mcp.json", own)
    world.project_servers(**servers("project", 3))
    world.write("home/.mcode/settings.json", {"enableAllProjectMcpServers": True})
    gathered = world.gather()
    assert commands(gathered) == {
        "a": "local-own",
        "b": "local-claude",
        "c": "project",
        "d": "user-own",
        "e": "user-claude",
    }
    assert {entry.name: entry.scope for entry in gathered.entries} == {
        "a": "local",
        "b": "local",
        "c": "project",
        "d": "user",
        "e": "user",
    }
    assert len(gathered.shadowed) == 15 - 5
    assert gathered.problems == ()


def test_the_whole_entry_of_the_stronger_scope_counts_and_fields_are_never_mixed(world: ServerWorld) -> None:
    world.user_servers(one={"command": "weak", "args": ["x"], "env": {"A": "b"}})
    world.write(
        "home/.mcode/mcp.json",
        {
            "mcpServers": {"one": {"command": "weak", "args": ["x"], "env": {"A": "b"}}},
            "projects": {str(world.project): {"mcpServers": {"one": {"command": "strong"}}}},
        },
    )
    entry = world.gather().entries[0]
    assert (entry.command, entry.args, entry.env) == ("strong", (), {})


def test_the_command_line_adds_servers_and_the_last_config_wins(world: ServerWorld) -> None:
    world.user_servers(one={"command": "user"}, two={"command": "user"})
    world.write("home/src/app/extra.json", {"mcpServers": {"one": {"command": "file"}, "three": STDIO}})
    text = json.dumps({"mcpServers": {"one": {"command": "text"}}})
    gathered = world.gather(Wanted(("extra.json", text)))
    assert commands(gathered) == {"one": "text", "two": "user", "three": "server"}
    assert gathered.entries[0].path is None
    assert gathered.entries[1].path == world.project / "extra.json"


def test_strict_leaves_only_what_the_command_line_names(world: ServerWorld) -> None:
    world.user_servers(one=STDIO)
    world.claude(mcpServers={"two": STDIO})
    world.project_servers(three=STDIO)
    text = json.dumps({"mcpServers": {"four": STDIO}})
    gathered = world.gather(Wanted((text,), strict=True))
    assert commands(gathered) == {"four": "server"}
    assert gathered.asking == ()
    assert world.gather(Wanted(strict=True)).entries == ()


def test_a_config_that_is_not_there_is_a_problem(world: ServerWorld) -> None:
    gathered = world.gather(Wanted(("~/none.json", "{broken")))
    assert gathered.problems[0].path is None
    assert "is not valid JSON" in gathered.problems[0].text
    assert gathered.problems[1].path == world.home / "none.json"
    assert "there is none" in gathered.problems[1].text


@pytest.mark.parametrize(
    ("sources", "names"),
    [({"user"}, {"u"}), ({"local"}, {"l"}), ({"project"}, {"p"}), ({"user", "project"}, {"u", "p"})],
)
def test_setting_sources_choose_the_scopes(world: ServerWorld, sources: set[str], names: set[str]) -> None:
    key = str(world.project)
    world.claude(mcpServers={"u": STDIO}, projects={key: {"mcpServers": {"l": STDIO}}})
    world.project_servers(p=STDIO)
    assert set(commands(world.gather(Wanted(sources=frozenset(sources))))) == names


def test_the_administrators_file_decides_alone(world: ServerWorld) -> None:
    world.user_servers(one=STDIO)
    world.write("etc/claude-code/managed-mcp.json", {"mcpServers": {"company": STDIO}})
    gathered = world.gather(Wanted((json.dumps({"mcpServers": {"mine": STDIO}}),)))
    assert commands(gathered) == {"company": "server"}
    assert gathered.entries[0].scope == "managed"
    world.write("etc/mcode/managed-mcp.json", "{broken")
    broken = world.gather()
    assert set(commands(broken)) == {"company"}
    assert any("is not valid JSON" in line for line in said(broken))


def test_another_agents_directory_can_be_moved(world: ServerWorld) -> None:
    world.write("elsewhere/.claude.json", {"mcpServers": {"moved": STDIO}})
    world.claude(mcpServers={"usual": STDIO})
    world.claude_directory = world.root / "elsewhere"
    assert set(commands(world.gather())) == {"moved"}


def test_project_servers_stand_at_the_start_or_above_it_up_to_the_top_of_the_checkout(
    world: ServerWorld,
) -> None:
    git_init(world.project)
    deep = world.project / "a" / "b"
    deep.mkdir(parents=True)
    world.write("home/src/.mcp.json", {"mcpServers": {"above": STDIO}})
    world.project_servers(top=STDIO, both={"command": "top"})
    world.write("home/src/app/a/.mcp.json", {"mcpServers": {"both": {"command": "near"}}})
    gathered = world.gather(start=deep)
    assert commands(gathered) == {"top": "server", "both": "near"}
    assert [entry.name for entry in gathered.asking] == ["both", "top"]
    assert gathered.asking[0].command == "near"


def test_without_a_repository_only_the_start_directory_is_looked_at(world: ServerWorld) -> None:
    deep = world.project / "a"
    deep.mkdir()
    world.project_servers(above=STDIO)
    assert world.gather(start=deep).entries == ()


def test_local_servers_of_a_repository_count_in_its_directories(world: ServerWorld) -> None:
    git_init(world.project)
    deep = world.project / "a"
    deep.mkdir()
    world.claude(projects={str(world.project): {"mcpServers": {"one": STDIO}}})
    assert set(commands(world.gather(start=deep))) == {"one"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "is not valid JSON"),
        ("[]", "is an array, expected an object"),
        ('{"mcpServers": []}', "expected an object, got an array"),
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "stands twice"),
        ("\xff", "is not UTF-8"),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_a_broken_file_is_a_problem_and_the_other_files_count(
    world: ServerWorld, content: str, why: str
) -> None:
    world.user_servers(one=STDIO)
    (world.project / ".mcp.json").write_bytes(content.encode("latin-1"))
    gathered = world.gather()
    assert set(commands(gathered)) == {"one"}
    assert any(why in problem.text and problem.severity == "error" for problem in gathered.problems)


def test_a_pipe_in_place_of_the_file_does_not_block(world: ServerWorld) -> None:
    os.mkfifo(world.project / ".mcp.json")
    gathered = world.gather()
    assert "not a plain file" in gathered.problems[0].text


def test_unknown_keys_of_a_file_are_reported_with_the_nearest(world: ServerWorld) -> None:
    world.write("home/src/app/.mcp.json", {"mcp_servers": {"a": STDIO}, "zzz": 1})
    assert said(world.gather()) == [
        'warning mcp_servers: mcode does not know this key and ignores it; did you mean "mcpServers"?',
        "info zzz: mcode does not know this key and ignores it",
    ]


def test_the_other_agents_file_is_not_checked_for_what_else_it_holds(world: ServerWorld) -> None:
    world.claude(numStartups=5, mcpServers={"a": STDIO}, projects={"/x": {"history": [1]}})
    assert world.gather().problems == ()


def test_an_empty_file_is_no_problem(world: ServerWorld) -> None:
    world.write("home/src/app/.mcp.json", " \n")
    assert world.gather().problems == ()


def test_a_projects_server_waits_for_approval_and_never_the_users(world: ServerWorld) -> None:
    world.project_servers(one=STDIO)
    world.user_servers(two=STDIO)
    one, two = world.gather().entries
    assert (one.needs_approval, one.why_unapproved) == (True, "new")
    assert not two.needs_approval


@pytest.mark.parametrize(
    "changed",
    [
        {"command": "other", "args": ["a"]},
        {"command": "server", "args": ["b"]},
        {"command": "server", "args": ["a"], "env": {"LD_PRELOAD": "b"}},
        {"command": "server", "args": ["a"], "cwd": "elsewhere"},
        {"url": "https://elsewhere.example/mcp"},
        {"url": "https://elsewhere.example/mcp", "headersHelper": "./steal"},
    ],
    ids=["command", "arguments", "variable", "directory", "address", "helper"],
)
def test_m_06_approval_is_for_the_whole_entry_and_a_change_asks_again(
    world: ServerWorld, changed: dict[str, object]
) -> None:
    world.project_servers(one={"command": "server", "args": ["a"]})
    trust = TrustStore(world.places)
    trust.approve(trust_item(world.gather().asking[0]))
    assert not world.gather().entries[0].needs_approval
    world.project_servers(one={"args": ["a"], "command": "server"})
    assert not world.gather().entries[0].needs_approval, "the same content in another order"
    world.project_servers(one=changed)
    entry = world.gather().entries[0]
    assert (entry.needs_approval, entry.why_unapproved) == (True, "changed")


def test_a_refused_server_is_off_until_it_changes(world: ServerWorld) -> None:
    world.project_servers(one=STDIO)
    TrustStore(world.places).refuse(trust_item(world.gather().asking[0]))
    gathered = world.gather()
    assert (gathered.entries[0].disabled, gathered.entries[0].why_disabled) == (True, "you refused it")
    assert gathered.asking == ()
    world.project_servers(one={"command": "other"})
    assert world.gather().asking[0].why_unapproved == "changed"


def test_the_users_own_lists_approve_and_reject_by_name(world: ServerWorld) -> None:
    world.project_servers(one=STDIO, two=STDIO, three=STDIO)
    world.write(
        "home/.claude/settings.json",
        {"enabledMcpjsonServers": ["one", "two"], "disabledMcpjsonServers": ["two"]},
    )
    by_name = {entry.name: entry for entry in world.gather().entries}
    assert not by_name["one"].needs_approval
    assert not by_name["one"].disabled
    assert by_name["two"].disabled
    assert by_name["three"].needs_approval


@pytest.mark.parametrize(
    "name", [".claude/settings.json", ".claude/settings.local.json", ".mcode/settings.json"]
)
def test_w_01_approvals_that_the_repository_brings_do_not_count(world: ServerWorld, name: str) -> None:
    world.project_servers(one=STDIO, two=STDIO)
    world.write(
        f"home/src/app/{name}",
        {
            "enableAllProjectMcpServers": True,
            "enabledMcpjsonServers": ["one"],
            "disabledMcpjsonServers": ["two"],
        },
    )
    one, two = world.gather().entries
    assert one.needs_approval
    assert two.disabled, "what only restricts counts"


def test_the_users_server_stands_in_for_a_projects_one_of_its_name_that_may_not_run(
    world: ServerWorld,
) -> None:
    world.project_servers(one={"command": "foreign"})
    world.user_servers(one={"command": "mine"})
    gathered = world.gather()
    assert commands(gathered) == {"one": "mine"}
    assert [entry.command for entry in gathered.asking] == ["foreign"]
    TrustStore(world.places).refuse(trust_item(gathered.asking[0]))
    assert commands(world.gather()) == {"one": "mine"}
    TrustStore(world.places).approve(trust_item(gathered.asking[0]))
    assert commands(world.gather()) == {"one": "foreign"}


def test_a_projects_server_that_loses_to_a_stronger_one_is_not_asked_about(world: ServerWorld) -> None:
    world.project_servers(one={"command": "foreign"})
    world.claude(projects={str(world.project): {"mcpServers": {"one": {"command": "mine"}}}})
    gathered = world.gather()
    assert commands(gathered) == {"one": "mine"}
    assert gathered.asking == ()


def test_servers_switched_off_for_a_project_are_disabled_there_only(world: ServerWorld) -> None:
    world.user_servers(one=STDIO, two=STDIO)
    world.claude(projects={str(world.project): {"disabledMcpServers": ["one", 7]}})
    one, two = world.gather().entries
    assert (one.disabled, two.disabled) == (True, False)
    elsewhere = world.home / "src" / "other"
    elsewhere.mkdir()
    assert not any(entry.disabled for entry in world.gather(start=elsewhere).entries)


def test_trust_for_one_run_covers_the_folder_and_stores_nothing(world: ServerWorld) -> None:
    world.project_servers(one=STDIO)
    trust = TrustStore(world.places, run=world.project)
    assert not world.gather(trust=trust).entries[0].needs_approval
    assert not (world.places.state / "trust.json").exists()
    assert world.gather().entries[0].needs_approval


def test_a_damaged_store_of_approvals_is_told_and_approves_nothing(world: ServerWorld) -> None:
    world.project_servers(one=STDIO)
    world.write("home/.mcode/trust.json", "{")
    gathered = world.gather()
    assert gathered.entries[0].needs_approval
    assert any("trust.json is damaged" in line for line in said(gathered))


def test_gathering_imports_nothing_slow() -> None:
    program = "import sys, mcode.mcp.scopes, json; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    slow = {"anthropic", "mcp", "mcp_types", "pydantic", "httpx2", "asyncio", "jsonschema"}
    assert not set(json.loads(ran.stdout)) & slow
