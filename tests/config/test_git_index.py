"""Whether git tracks a file, told from indexes that the real git wrote."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

import pytest

from mcode.config.git_index import is_tracked, tracked_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.config.conftest import World

NAME = ".mcode/settings.local.json"
NEIGHBOURS = [
    ".mcode/settings.json",
    "a/.mcode/settings.local.json",
    ".mcode/settings.local.json.bak",
    "link",
    "z" * 200,
]


@pytest.fixture
def git(world: World) -> Path:
    world.git("init", "-q")
    for name in NEIGHBOURS:
        world.write(f"home/src/app/{name}", "{}")
    return world.project / ".git"


def add(world: World, *, target: bool, version: int = 2) -> None:
    names = [*NEIGHBOURS, *([NAME] if target else [])]
    if target:
        world.write(f"home/src/app/{NAME}", "{}")
    world.git("-c", f"index.version={version}", "add", "-f", *names)
    world.git("update-index", "--index-version", str(version))


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("target", [True, False])
def test_each_version_of_the_index_is_understood(
    world: World, git: Path, version: int, *, target: bool
) -> None:
    add(world, target=target, version=version)
    assert is_tracked(git, NAME) is target


@pytest.mark.parametrize("version", [2, 3, 4])
def test_all_files_are_listed_with_the_ids_of_their_content(world: World, git: Path, version: int) -> None:
    add(world, target=True, version=version)
    listed = world.git("ls-files", "-s", "-z").split("\0")[:-1]
    wanted = [(line.partition("\t")[2], line.split(" ")[1]) for line in listed]
    assert list(tracked_files(git, 100) or ()) == wanted
    assert tracked_files(git, len(wanted) - 1) is None


def test_version_three_with_an_entry_of_the_long_form(world: World, git: Path) -> None:
    add(world, target=False)
    world.write("home/src/app/later", "x")
    world.git("add", "--intent-to-add", "later")
    assert (git / "index").read_bytes()[7] == 3
    assert not is_tracked(git, NAME)
    world.write(f"home/src/app/{NAME}", "{}")
    world.git("add", "--intent-to-add", "-f", NAME)
    assert is_tracked(git, NAME)


def test_without_an_index_nothing_is_tracked(git: Path) -> None:
    assert not is_tracked(git, NAME)


def test_upper_and_lower_case_are_one(world: World, git: Path) -> None:
    world.write("home/src/app/.mcode2/x", "{}")
    world.git(
        "update-index",
        "--add",
        "--cacheinfo",
        f"100644,{'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'},.MCode/Settings.local.json",
    )
    assert is_tracked(git, NAME)


@pytest.mark.parametrize("target", [True, False])
def test_a_repository_with_long_hashes(world: World, *, target: bool) -> None:
    world.git("init", "-q", "--object-format=sha256")
    for name in NEIGHBOURS:
        world.write(f"home/src/app/{name}", "{}")
    add(world, target=target)
    assert is_tracked(world.project / ".git", NAME) is target


@pytest.mark.parametrize("target", [True, False])
def test_an_index_without_a_sum_is_read_entry_by_entry(world: World, git: Path, *, target: bool) -> None:
    add(world, target=target)
    index = git / "index"
    index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    assert is_tracked(git, NAME) is target


def test_a_split_index_is_not_understood_and_counts_as_tracked(world: World, git: Path) -> None:
    add(world, target=False)
    world.git("update-index", "--split-index")
    assert is_tracked(git, NAME)


def test_a_damaged_index_counts_as_tracked(world: World, git: Path) -> None:
    add(world, target=False, version=4)
    whole = (git / "index").read_bytes()
    for position in (0, 7, 11, 30, 100, len(whole) - 1):
        (git / "index").write_bytes(
            whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :]
        )
        assert is_tracked(git, NAME), position
    for length in (0, 11, 31, len(whole) // 2, len(whole) - 1):
        (git / "index").write_bytes(whole[:length])
        assert is_tracked(git, NAME), length


def signed(content: bytes) -> bytes:
    return content + hashlib.sha1(content).digest()


@pytest.mark.parametrize(
    "content",
    [
        struct.pack(">4sLL", b"DIRC", 5, 0) + bytes(20),
        struct.pack(">4sLL", b"DIRX", 2, 0) + bytes(20),
        struct.pack(">4sLL", b"DIRC", 4, 0) + b"abcd" + bytes(4) + bytes(20),
        struct.pack(">4sLL", b"DIRC", 4, 2**32 - 1) + bytes(100),
    ],
)
def test_what_is_signed_but_unknown_counts_as_tracked(git: Path, content: bytes) -> None:
    (git / "index").write_bytes(signed(content))
    assert is_tracked(git, NAME)


def test_an_index_that_is_no_plain_file_counts_as_tracked(git: Path) -> None:
    (git / "index").mkdir()
    assert is_tracked(git, NAME)
