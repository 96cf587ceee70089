"""Which files count, in which order, and what comes out of them together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcode.config.load import local_settings_file
from mcode.config.settings import Prices
from tests.config.conftest import messages, texts

if TYPE_CHECKING:
    from tests.config.conftest import World

USER, USER_CLAUDE = "home/.mcode/settings.json", "home/.claude/settings.json"
PROJECT, PROJECT_CLAUDE = "home/src/app/.mcode/settings.json", "home/src/app/.claude/settings.json"
LOCAL, LOCAL_CLAUDE = "home/src/app/.mcode/settings.local.json", "home/src/app/.claude/settings.local.json"
MANAGED, MANAGED_CLAUDE = "etc/mcode/managed-settings.json", "etc/claude-code/managed-settings.json"


def allow(*rules: str) -> dict[str, object]:
    return {"permissions": {"allow": list(rules)}}


def deny(*rules: str) -> dict[str, object]:
    return {"permissions": {"deny": list(rules)}}


def test_without_any_file_the_usual_settings_are_in_force(world: World) -> None:
    settings = world.load()
    assert settings.rules == ()
    assert settings.hooks == ()
    assert settings.problems == ()
    assert settings.sources == ()
    assert settings.cleanup_period_days == 30
    assert settings.bash_output_max_chars == 30_000
    assert settings.respond_to_bash_commands is True
    assert settings.own.max_calls_per_turn == 200
    assert settings.own.sync == "full"
    assert settings.own.undo_required is True


def test_lists_of_all_levels_add_up_and_single_values_come_from_the_strongest(world: World) -> None:
    """The vectors for settings, in a trusted folder."""
    world.write(USER, allow("A") | {"model": "user-model"})
    world.write(PROJECT, allow("B"))
    world.write(LOCAL, deny("B") | {"model": "local-model"})
    settings = world.load(trusted=True)
    assert texts(settings, "allow") == {"A", "B"}
    assert texts(settings, "deny") == {"B"}
    assert settings.model == "local-model"


def test_the_order_of_the_sources(world: World) -> None:
    for name in (MANAGED, MANAGED_CLAUDE, LOCAL, LOCAL_CLAUDE, PROJECT, PROJECT_CLAUDE, USER, USER_CLAUDE):
        world.write(name, {"model": name})
    flag = world.write("flag.json", {"model": "flag.json"})
    settings = world.load(flag=str(flag), trusted=True)
    order = [str(source.path.relative_to(world.root)) for source in settings.sources if source.path]
    assert order == [
        MANAGED,
        MANAGED_CLAUDE,
        "flag.json",
        LOCAL,
        LOCAL_CLAUDE,
        PROJECT,
        PROJECT_CLAUDE,
        USER,
        USER_CLAUDE,
    ]
    assert settings.model == MANAGED
    for name in order:
        assert world.load(flag=str(flag), trusted=True).model == name
        (world.root / name).write_text("{}")


def test_rules_of_stronger_sources_stand_first_with_their_lines(world: World) -> None:
    text = '{\n "permissions": {\n "allow": ["Bash(ls *)",\n "Bash(a \\"b\\")"],\n "deny": [\n\n "Read(.env)"]}}\n'
    world.write(USER, text)
    world.write(MANAGED, deny("Bash(rm *)"))
    rules = [(rule.text, rule.behavior, rule.source.scope, rule.line) for rule in world.load().rules]
    assert rules == [
        ("Bash(rm *)", "deny", "managed", 4),
        ("Read(.env)", "deny", "user", 7),
        ("Bash(ls *)", "allow", "user", 3),
        ('Bash(a "b")', "allow", "user", 4),
    ]


def test_where_a_rules_slash_is_anchored_depends_on_its_source(world: World) -> None:
    for name in (MANAGED, LOCAL, PROJECT, USER, USER_CLAUDE, "other/flag.json"):
        world.write(name, deny(f"Edit(/{name})"))
    settings = world.load(flag=str(world.root / "other/flag.json"))
    bases = {rule.text: rule.source.base for rule in settings.rules}
    assert bases == {
        f"Edit(/{MANAGED})": world.root / "etc/mcode",
        "Edit(/other/flag.json)": world.root / "other",
        f"Edit(/{LOCAL})": world.project,
        f"Edit(/{PROJECT})": world.project,
        f"Edit(/{USER})": world.places.state,
        f"Edit(/{USER_CLAUDE})": world.places.claude,
    }


def test_setting_sources_selects_what_is_read(world: World) -> None:
    world.write(USER, deny("user"))
    world.write(PROJECT, deny("project"))
    world.write(LOCAL, deny("local"))
    world.write(MANAGED, deny("managed"))
    assert texts(world.load(), "deny") == {"user", "project", "local", "managed"}
    assert texts(world.load(sources=frozenset({"user"})), "deny") == {"user", "managed"}
    assert texts(world.load(sources=frozenset({"project", "local"})), "deny") == {
        "project",
        "local",
        "managed",
    }
    assert texts(world.load(sources=frozenset(), flag='{"permissions":{"deny":["flag"]}}'), "deny") == {
        "managed",
        "flag",
    }


def test_the_flag_takes_json_or_a_file_relative_to_the_start(world: World) -> None:
    assert world.load(flag='  {"model": "inline"}').model == "inline"
    world.write("home/src/app/one-run.json", {"model": "from a file"})
    assert world.load(flag="one-run.json").model == "from a file"


def test_a_flag_that_names_no_file_is_an_error_and_nothing_else_is_lost(world: World) -> None:
    world.write(USER, {"model": "mine"})
    settings = world.load(flag="missing.json")
    assert settings.model == "mine"
    assert "missing.json: --settings names this file, but there is none" in messages(settings, "error")


def test_started_in_the_home_directory_the_own_file_is_no_projects_file(world: World) -> None:
    world.write(USER, allow("Bash(ls *)") | {"model": "mine"})
    settings = world.load(start=world.places.home)
    assert [source.scope for source in settings.sources] == ["user"]
    assert texts(settings, "allow") == {"Bash(ls *)"}
    assert settings.problems == ()


def test_project_files_are_looked_for_in_the_start_directory_only(world: World) -> None:
    world.git("init", "-q")
    world.write(PROJECT, deny("above"))
    inner = world.project / "lib"
    inner.mkdir()
    assert world.load(start=inner).rules == ()


def test_the_local_file_stands_at_the_repositorys_root(world: World) -> None:
    world.git("init", "-q")
    world.write(LOCAL, deny("Bash(rm *)"))
    inner = world.project / "lib/deep"
    inner.mkdir(parents=True)
    settings = world.load(start=inner)
    assert texts(settings, "deny") == {"Bash(rm *)"}
    assert settings.rules[0].source.base == inner
    assert local_settings_file(inner) == world.root / LOCAL


def test_in_a_linked_worktree_the_local_file_is_the_main_checkouts(world: World) -> None:
    world.git("init", "-q")
    world.git("commit", "-q", "--allow-empty", "-m", "first")
    world.git("worktree", "add", "-q", "../tree")
    world.write(LOCAL, deny("Bash(rm *)"))
    tree = world.project.parent / "tree"
    assert texts(world.load(start=tree), "deny") == {"Bash(rm *)"}
    assert local_settings_file(tree) == world.root / LOCAL


def test_a_folder_cannot_pose_as_a_worktree_of_another_project(world: World) -> None:
    world.git("init", "-q")
    world.git("commit", "-q", "--allow-empty", "-m", "first")
    world.git("worktree", "add", "-q", "../tree")
    hostile = world.project.parent / "hostile"
    (hostile / "fake").mkdir(parents=True)
    (hostile / "fake/commondir").write_text(f"{world.project}/.git\n")
    (hostile / "fake/gitdir").write_text(f"{hostile}/.git\n")
    for pointer in ("fake", str(world.project / ".git/worktrees/tree")):
        (hostile / ".git").write_text(f"gitdir: {pointer}\n")
        assert local_settings_file(hostile) == hostile / ".mcode/settings.local.json"


def test_a_submodules_local_file_is_its_own(world: World) -> None:
    world.git("init", "-q", "--separate-git-dir", "../module.git")
    assert (world.project / ".git").is_file()
    assert local_settings_file(world.project) == world.root / LOCAL


def test_outside_a_repository_the_local_file_is_in_the_start_directory(world: World) -> None:
    assert local_settings_file(world.project) == world.root / LOCAL


def test_env_is_merged_by_name_and_what_is_no_text_becomes_text(world: World) -> None:
    world.write(USER, {"env": {"A": "user", "B": 5, "C": True}})
    world.write(MANAGED, {"env": {"A": "managed"}})
    settings = world.load()
    assert settings.env == {"A": "managed", "B": "5", "C": "true"}
    assert settings.own_env == settings.env


def test_the_objects_of_mcode_are_merged_member_by_member(world: World) -> None:
    price = {"input": 3, "output": 15}
    world.write(USER, {"mcode": {"prices": {"a": price, "b": price}, "runCode": {"calls": 5}}})
    world.write(MANAGED, {"mcode": {"prices": {"b": price | {"cacheRead": 0.3, "cacheWrite": 3.75}}}})
    own = world.load().own
    assert own.prices == {"a": Prices(3, 15, 3, 3), "b": Prices(3, 15, 0.3, 3.75)}
    assert own.run_code == {"calls": 5}


def test_every_key_of_mcode_arrives(world: World) -> None:
    written = {
        "baseUrl": "https://models.example/api",
        "headerStyle": "x-api-key",
        "apiVersion": "2023-06-01",
        "extraBody": {"seed": 1},
        "maxTokens": 4000,
        "window": 32_000,
        "sync": "relaxed",
        "passEnvironment": ["VIRTUAL_ENV"],
        "undoRequired": False,
        "ui": {"theme": "ansi-light", "bell": False, "title": False, "idleTime": 2, "armDelay": 0.4},
        "maxCallsPerTurn": 0,
        "toolSearch": "auto:5",
        "placement": {"threshold": 5},
        "programs": True,
    }
    world.write(USER, {"mcode": written})
    settings = world.load()
    own = settings.own
    assert settings.problems == ()
    assert (own.base_url, own.header_style, own.api_version) == (
        "https://models.example/api",
        "x-api-key",
        "2023-06-01",
    )
    assert (own.extra_body, own.max_tokens, own.window, own.sync) == ({"seed": 1}, 4000, 32_000, "relaxed")
    assert (own.pass_environment, own.undo_required, own.max_calls_per_turn) == (("VIRTUAL_ENV",), False, 0)
    assert (own.ui.theme, own.ui.bell, own.ui.title) == ("ansi-light", False, False)
    assert (own.ui.idle_time, own.ui.arm_delay) == (2, 0.4)
    assert (own.tool_search, own.placement, own.programs) == ("auto:5", {"threshold": 5}, True)


def test_every_other_key_arrives(world: World) -> None:
    written = {
        "permissions": {
            "defaultMode": "acceptEdits",
            "additionalDirectories": ["~/notes", "../lib", "."],
            "disableBypassPermissionsMode": "disable",
            "denyInsteadOfPrompting": True,
            "blockReadsOutsideWorkingDirectories": True,
            "blockWritesOutsideWorkingDirectories": True,
        },
        "disableAllHooks": True,
        "model": "some-model",
        "apiKeyHelper": "pass show key",
        "statusLine": {"type": "command", "command": "date"},
        "outputStyle": "terse",
        "enableAllProjectMcpServers": True,
        "enabledMcpjsonServers": ["a"],
        "disabledMcpjsonServers": ["b"],
        "claudeMdExcludes": ["/x/**"],
        "cleanupPeriodDays": 7,
        "disableSkillShellExecution": True,
        "respondToBashCommands": False,
        "bashOutputMaxChars": 5000,
        "skillListingMaxDescChars": 100,
        "skillListingBudgetFraction": 0.02,
    }
    (world.places.home / "notes").mkdir()
    (world.project.parent / "lib").mkdir()
    world.write(USER_CLAUDE, written)
    settings = world.load()
    assert settings.problems == ()
    assert settings.default_mode == "acceptEdits"
    assert settings.additional_directories == (
        world.places.home / "notes",
        world.project.parent / "lib",
        world.project,
    )
    assert settings.disable_bypass
    assert settings.deny_instead_of_prompting
    assert settings.block_reads_outside
    assert settings.block_writes_outside
    assert settings.disable_all_hooks
    assert (settings.model, settings.api_key_helper, settings.status_line) == (
        "some-model",
        "pass show key",
        "date",
    )
    assert settings.api_key_helper_source is not None
    assert settings.api_key_helper_source.path == world.root / USER_CLAUDE
    assert settings.output_style == "terse"
    assert settings.enable_all_project_mcp_servers
    assert (settings.enabled_mcpjson_servers, settings.disabled_mcpjson_servers) == (("a",), ("b",))
    assert settings.claude_md_excludes == ("/x/**",)
    assert settings.cleanup_period_days == 7
    assert settings.disable_skill_shell_execution
    assert settings.respond_to_bash_commands is False
    assert settings.bash_output_max_chars == 5000
    assert (settings.skill_listing_max_desc_chars, settings.skill_listing_budget_fraction) == (100, 0.02)


@pytest.mark.parametrize("name", [MANAGED, LOCAL, PROJECT, PROJECT_CLAUDE, USER])
def test_a_block_on_paths_outside_holds_from_any_file_and_no_other_file_lifts_it(
    world: World, name: str
) -> None:
    key = "blockWritesOutsideWorkingDirectories"
    for other in (MANAGED, LOCAL, PROJECT, PROJECT_CLAUDE, USER):
        world.write(other, {"permissions": {key: False}})
    assert world.load().block_writes_outside is False
    world.write(name, {"permissions": {key: True}})
    assert world.load().block_writes_outside is True


def test_an_additional_directory_that_is_none_is_said(world: World) -> None:
    world.write(USER, {"permissions": {"additionalDirectories": ["/no/such/place", "bad\0name"]}})
    settings = world.load()
    assert settings.additional_directories == ()
    assert '"/no/such/place" does not become a working directory: it is no directory' in messages(settings)
    assert len(settings.problems) == 2


def example(guard: str) -> dict[str, object]:
    """A project's file with a bit of everything, as a team would write it."""
    return {
        "permissions": {
            "defaultMode": "default",
            "allow": ["Bash(make check *)", "Bash(git log:*)", "Edit(lib/**)", "mcp__desk__list_*"],
            "ask": ["Bash(git push *)", "mcp__desk__remove"],
            "deny": ["Read(.env)", "Read(./keys/**)", "Bash(wget *)"],
        },
        "enabledMcpjsonServers": ["desk"],
        "env": {"PYTHONUNBUFFERED": "1"},
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "Bash|mcp__desk__.*",
                    "hooks": [
                        {
                            "type": "command",
                            "command": "python3",
                            "args": [guard],
                            "timeout": 10,
                            "onFailure": "block",
                        }
                    ],
                }
            ],
            "PostToolUse": [
                {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "make format"}]}
            ],
        },
    }


@pytest.mark.parametrize("name", [PROJECT, PROJECT_CLAUDE])
def test_a_teams_file_works_under_either_name(world: World, name: str) -> None:
    guard = "${CLAUDE_PROJECT_DIR}/.claude/guard.py"
    world.write(name, example(guard))
    settings = world.load(trusted=True)
    assert settings.problems == ()
    assert settings.default_mode == "default"
    assert texts(settings, "allow") == {
        "Bash(make check *)",
        "Bash(git log:*)",
        "Edit(lib/**)",
        "mcp__desk__list_*",
    }
    assert texts(settings, "ask") == {"Bash(git push *)", "mcp__desk__remove"}
    assert texts(settings, "deny") == {"Read(.env)", "Read(./keys/**)", "Bash(wget *)"}
    assert settings.enabled_mcpjson_servers == ("desk",)
    assert settings.env == {"PYTHONUNBUFFERED": "1"}
    before, after = settings.hooks
    assert (before.event, before.matcher, before.command) == ("PreToolUse", "Bash|mcp__desk__.*", "python3")
    assert (before.args, before.timeout, before.on_failure) == ((guard,), 10, "block")
    assert (after.event, after.matcher, after.command, after.args) == (
        "PostToolUse",
        "Edit|Write",
        "make format",
        None,
    )
    assert (after.timeout, after.on_failure, after.unsupported) == (None, "continue", None)


def test_loading_imports_little() -> None:
    """What is slow, or rarely needed, stays out of the way of the first frame."""
    program = "import sys, json, mcode.config.load; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(ran.stdout))
    assert not loaded & {
        "asyncio",
        "subprocess",
        "hashlib",
        "difflib",
        "tempfile",
        "pydantic",
        "keyring",
        "mcode.files",
    }


def test_the_files_are_only_read(world: World) -> None:
    world.git("init", "-q")
    for name in (USER, USER_CLAUDE, PROJECT, LOCAL):
        world.write(name, allow("Bash(ls)"))
    before = {path: path.stat().st_mtime_ns for path in Path(world.root).rglob("*")}
    world.load()
    assert {path: path.stat().st_mtime_ns for path in Path(world.root).rglob("*")} == before
