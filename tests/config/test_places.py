"""Where the user's files are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcode.config.places import Places, find_places
from mcode.errors import UsageError

HOME = {"HOME": "/home/someone"}


def test_without_variables_everything_is_in_the_home_directory() -> None:
    places = find_places(HOME)
    assert places.state == Path("/home/someone/.mcode")
    assert places.claude == Path("/home/someone/.claude")
    assert places.settings_file == Path("/home/someone/.mcode/settings.json")


def test_the_variables_of_the_process_move_both_directories() -> None:
    places = find_places(HOME | {"MCODE_CONFIG_DIR": "/srv/state", "CLAUDE_CONFIG_DIR": "~/other"})
    assert places.state == Path("/srv/state")
    assert places.claude == Path("/home/someone/other")


@pytest.mark.parametrize("name", ["MCODE_CONFIG_DIR", "CLAUDE_CONFIG_DIR"])
def test_w_04_a_relative_directory_could_be_the_projects_and_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is '.cfg', which is not an absolute path"):
        find_places(HOME | {name: ".cfg"})


def test_w_04_no_settings_file_moves_the_directories(tmp_path: Path) -> None:
    (tmp_path / ".mcode").mkdir()
    (tmp_path / ".mcode/settings.json").write_text('{"env": {"MCODE_CONFIG_DIR": "/srv/elsewhere"}}')
    assert find_places({"HOME": str(tmp_path)}).state == tmp_path / ".mcode"


def test_w_04_no_environment_file_of_the_folder_moves_the_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".env", ".envrc", ".env.local"):
        (tmp_path / name).write_text(f"export MCODE_CONFIG_DIR={tmp_path}\nCLAUDE_CONFIG_DIR={tmp_path}\n")
    monkeypatch.chdir(tmp_path)
    assert find_places(HOME) == Places(
        Path("/home/someone"), Path("/home/someone/.mcode"), Path("/home/someone/.claude")
    )


def test_without_home_the_account_says_where_home_is() -> None:
    assert find_places({}).home.is_absolute()
    assert find_places({"HOME": "relative"}).home.is_absolute()


def test_a_projects_sessions_are_kept_under_its_munged_path() -> None:
    places = Places(Path("/h"), Path("/h/.mcode"), Path("/h/.claude"))
    assert places.project_directory(Path("/w/my app_2/é")) == Path("/h/.mcode/projects/-w-my-app-2--")


def test_a_very_long_path_gets_a_name_that_file_systems_take_and_no_other_path_has() -> None:
    places = Places(Path("/h"), Path("/h/.mcode"), Path("/h/.claude"))
    one, other = (places.project_directory(Path("/" + "x" * 400 + end)).name for end in "ab")
    assert len(one) == len(other) == 200
    assert one != other
