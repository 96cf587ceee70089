"""Writing settings: one change at a time, nothing else touched, however many write at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcode.config.load import local_settings_file
from mcode.config.write import add_rule, remove_rule, set_value
from mcode.errors import StorageError, UsageError
from tests.config.conftest import texts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import World

USER = "home/.mcode/settings.json"
LOCAL = "home/src/app/.mcode/settings.local.json"


def content(path: Path) -> dict[str, object]:
    return json.loads(path.read_text())


def test_an_always_rule_counts_from_the_next_start_on(world: World) -> None:
    path = local_settings_file(world.project)
    add_rule(path, "allow", "Bash(npm test *)", places=world.places)
    settings = world.load()
    assert texts(settings, "allow") == {"Bash(npm test *)"}
    assert settings.rules[0].source.trusted
    assert settings.problems == ()
    assert content(path) == {"permissions": {"allow": ["Bash(npm test *)"]}}


def test_an_always_rule_in_a_worktree_is_kept_in_the_main_checkout(world: World) -> None:
    world.git("init", "-q")
    world.git("commit", "-q", "--allow-empty", "-m", "first")
    world.git("worktree", "add", "-q", "../tree")
    tree = world.project.parent / "tree"
    add_rule(local_settings_file(tree), "allow", "Bash(make)", places=world.places)
    assert not (tree / ".mcode").exists()
    assert texts(world.load(start=tree), "allow") == texts(world.load(), "allow") == {"Bash(make)"}


def test_a_rule_that_was_taken_back_does_not_come_back_with_the_projects_file(world: World) -> None:
    path = local_settings_file(world.project)
    for rule in ("Bash(make)", "Bash(ls)"):
        add_rule(path, "allow", rule, places=world.places)
    before = path.read_text()
    assert remove_rule(path, "allow", "Bash(make)", places=world.places)
    assert not remove_rule(path, "allow", "Bash(make)", places=world.places)
    path.write_text(before)
    assert texts(world.load(), "allow") == {"Bash(ls)"}


def test_a_rule_that_stands_there_already_is_not_added_again_but_counts(world: World) -> None:
    path = world.write(LOCAL, {"permissions": {"allow": ["Bash(ls *)"]}})
    for _ in range(2):
        add_rule(path, "allow", "Bash(ls *)", places=world.places)
    assert content(path) == {"permissions": {"allow": ["Bash(ls *)"]}}
    assert texts(world.load(), "allow") == {"Bash(ls *)"}


def test_l_07_everything_unknown_in_the_file_is_kept_in_order(world: World) -> None:
    before = {
        "z": [1, {"y": None}],
        "permissions": {"later": True, "deny": ["a"]},
        "mcode": {"new": 1},
        "é": "ü",
    }
    path = world.write(USER, before)
    add_rule(path, "deny", "b", places=world.places)
    set_value(path, ("mcode", "ui", "bell"), value=False, places=world.places)
    set_value(path, ("model",), value="m", places=world.places)
    after = content(path)
    assert after == {
        "z": [1, {"y": None}],
        "permissions": {"later": True, "deny": ["a", "b"]},
        "mcode": {"new": 1, "ui": {"bell": False}},
        "é": "ü",
        "model": "m",
    }
    assert list(after)[:4] == list(before)
    set_value(path, ("mcode", "ui", "bell"), value=None, places=world.places)
    set_value(path, ("missing",), value=None, places=world.places)
    assert world.load().own.ui.bell is True


ADD = """
import sys
from pathlib import Path
from mcode.config.places import Places
from mcode.config.write import add_rule
home = Path(sys.argv[1])
places = Places(home, home / ".mcode", home / ".claude")
add_rule(Path(sys.argv[2]), "allow", sys.argv[3], places=places)
"""


def test_j_06_twenty_processes_that_add_one_rule_each_leave_twenty(world: World) -> None:
    path = world.root / LOCAL
    running = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(world.places.home), str(path), f"Bash(rule {number})"]
        )
        for number in range(20)
    ]
    assert [process.wait(60) for process in running] == [0] * 20
    assert texts(world.load(), "allow") == {f"Bash(rule {number})" for number in range(20)}


def test_j_06_settings_that_cannot_be_read_are_never_overwritten(world: World) -> None:
    path = world.write(USER, '{"permissions": {"deny": ["Bash(rm *)"]},}')
    broken = path.read_bytes()
    with pytest.raises(StorageError, match=str(path)):
        add_rule(path, "allow", "Bash(ls *)", places=world.places)
    assert path.read_bytes() == broken


def test_j_06_a_damaged_record_is_put_aside_and_that_is_said(world: World) -> None:
    record = world.write("home/.mcode/written-rules.json", "{damaged")
    path = world.root / LOCAL
    assert "written-rules.json" in add_rule(path, "allow", "Bash(ls *)", places=world.places)
    assert [other.read_text() for other in record.parent.glob("*.bad-*")] == ["{damaged"]
    assert texts(world.load(), "allow") == {"Bash(ls *)"}


def test_the_users_directory_is_for_the_user_alone(world: World) -> None:
    assert add_rule(world.root / LOCAL, "allow", "Bash(ls *)", places=world.places) == ""
    assert world.places.state.stat().st_mode & 0o777 == 0o700
    assert world.places.written_rules_file.stat().st_mode & 0o777 == 0o600
    assert (world.root / LOCAL).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "key"),
    [({"permissions": []}, "permissions"), ({"permissions": {"allow": "x"}}, "permissions.allow")],
)
def test_a_file_of_another_shape_is_not_changed(world: World, before: object, key: str) -> None:
    path = world.write(USER, before)
    with pytest.raises(StorageError, match=f"was not changed: {key} is"):
        add_rule(path, "allow", "x", places=world.places)
    assert content(path) == before


@pytest.mark.parametrize("name", ["home/.claude/settings.json", "home/src/app/.claude/settings.local.json"])
def test_another_agents_files_are_never_written(world: World, name: str) -> None:
    path = world.write(name, {})
    with pytest.raises(UsageError, match="belongs to another agent"):
        add_rule(path, "allow", "x", places=world.places)
    with pytest.raises(UsageError, match="belongs to another agent"):
        set_value(path, ("model",), value="x", places=world.places)
    assert content(path) == {}
    assert not world.places.state.exists()


def test_the_users_own_link_is_written_through(world: World) -> None:
    target = world.write("dotfiles/settings.json", {})
    world.places.state.mkdir()
    world.places.settings_file.symlink_to(target)
    set_value(world.places.settings_file, ("model",), value="x", places=world.places)
    assert world.places.settings_file.is_symlink()
    assert content(target) == {"model": "x"}


@pytest.mark.parametrize("link", [".mcode", ".mcode/settings.local.json"])
def test_a_projects_link_is_not_written_through(world: World, link: str) -> None:
    elsewhere = world.write("home/elsewhere/settings.local.json", {})
    path = world.project / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere.parent if link == ".mcode" else elsewhere)
    with pytest.raises(StorageError, match="reached through a link"):
        add_rule(world.root / LOCAL, "allow", "x", places=world.places)
    assert content(elsewhere) == {}


def test_personal_settings_stay_out_of_the_repository(world: World) -> None:
    world.git("init", "-q")
    add_rule(world.root / LOCAL, "allow", "Bash(ls *)", places=world.places)
    assert world.git("status", "--porcelain", "--untracked-files=all") == ""
    world.write("home/src/app/.mcode/settings.json", {})
    assert ".mcode/settings.json" in world.git("status", "--porcelain", "--untracked-files=all")


def test_a_projects_own_list_of_ignored_files_is_left_alone(world: World) -> None:
    ignore = world.write("home/src/app/.mcode/.gitignore", "mine\n")
    add_rule(world.root / LOCAL, "allow", "Bash(ls *)", places=world.places)
    assert ignore.read_text() == "mine\n"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_a_storage_error(world: World) -> None:
    world.project.chmod(0o500)
    with pytest.raises(StorageError):
        add_rule(world.root / LOCAL, "allow", "x", places=world.places)
