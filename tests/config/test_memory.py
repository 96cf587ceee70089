"""Memory files: which are loaded, in which order, and what they bring in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mcode.config.memory import load_memory, memory_for
from mcode.config.memory_gathering import MENTIONS, TEXT_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.config.memory import Memory
    from tests.config.conftest import World

APP = "home/src/app"


def load(world: World, *excludes: str, start: Path | None = None) -> Memory:
    return load_memory(world.places, start or world.project, excludes)


def names(world: World, memory: Memory) -> list[str]:
    """The loaded files relative to the root, in order."""
    return [str(file.path.relative_to(world.root)) for file in memory.files]


def test_the_order_is_managed_user_then_from_the_root_to_the_start(world: World) -> None:
    """The vector for memory: started in a directory of a repository."""
    for name in (
        f"{APP}/lib/CLAUDE.md",
        f"{APP}/CLAUDE.local.md",
        f"{APP}/CLAUDE.md",
        "home/src/CLAUDE.md",
        "home/src/CLAUDE.local.md",
        "CLAUDE.md",
        "home/.mcode/AGENTS.md",
        "home/.claude/CLAUDE.md",
        "etc/claude-code/CLAUDE.md",
    ):
        world.write(name, f"text of {name}")
    memory = load(world)
    assert names(world, memory) == [
        "etc/claude-code/CLAUDE.md",
        "home/.claude/CLAUDE.md",
        "home/.mcode/AGENTS.md",
        "CLAUDE.md",
        "home/src/CLAUDE.md",
        "home/src/CLAUDE.local.md",
        f"{APP}/CLAUDE.md",
        f"{APP}/CLAUDE.local.md",
    ]
    assert [file.scope for file in memory.files] == [
        *("managed", "user", "user", "project", "project", "local", "project", "local")
    ]
    assert memory.files[0].text == "text of etc/claude-code/CLAUDE.md"
    assert memory.notices == ()


def test_a_file_below_enters_only_when_something_there_is_read(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "top")
    world.write(f"{APP}/lib/CLAUDE.md", "lib")
    world.write(f"{APP}/lib/deep/AGENTS.md", "deep")
    world.write(f"{APP}/other/CLAUDE.md", "other")
    memory = load(world)
    assert names(world, memory) == [f"{APP}/CLAUDE.md"]
    assert memory_for(memory, world.project / "main.py").files == memory.files
    assert memory_for(memory, world.root / "home/.claude/CLAUDE.md").files == memory.files
    grown = memory_for(memory, world.project / "lib/deep/x.py")
    assert [file.text for file in grown.files] == ["top", "lib", "deep"]
    assert memory_for(grown, world.project / "lib/x.py").files == grown.files
    assert memory.files[0].text == "top"


def test_without_any_file_there_is_nothing(world: World) -> None:
    memory = load(world)
    assert (memory.files, memory.notices) == ((), ())


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.override.md"])
def test_the_only_one_of_the_names_is_loaded(world: World, name: str) -> None:
    world.write(f"{APP}/{name}", "text")
    assert names(world, load(world)) == [f"{APP}/{name}"]


def test_an_override_replaces_agents_md_also_where_it_is_imported(world: World) -> None:
    world.write(f"{APP}/AGENTS.md", "replaced")
    world.write(f"{APP}/AGENTS.override.md", "override")
    world.write(f"{APP}/CLAUDE.md", "mine\n@AGENTS.md")
    world.write("home/.mcode/AGENTS.md", "replaced too")
    world.write("home/.mcode/AGENTS.override.md", "user's override")
    assert [file.text for file in load(world).files] == ["user's override", "override", "mine\n@AGENTS.md"]


def test_two_different_files_are_both_loaded_and_the_list_says_which_wins(world: World) -> None:
    world.write(f"{APP}/AGENTS.md", "tabs")
    world.write(f"{APP}/CLAUDE.md", "blanks")
    agents, claude = load(world).files
    assert (agents.text, claude.text) == ("tabs", "blanks")
    assert claude.note == "read after AGENTS.md of the same directory, and wins where they differ"
    assert agents.note == ""


@pytest.mark.parametrize(("real", "link"), [("AGENTS.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md")])
def test_a_link_to_the_other_file_loads_the_content_once(world: World, real: str, link: str) -> None:
    world.write(f"{APP}/{real}", "text")
    (world.project / link).symlink_to(real)
    (file,) = load(world).files
    assert (file.text, file.note) == ("text", "")


@pytest.mark.parametrize(("real", "other"), [("AGENTS.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md")])
def test_nothing_but_an_import_of_the_other_file_loads_the_content_once(
    world: World, real: str, other: str
) -> None:
    world.write(f"{APP}/{real}", "text")
    world.write(f"{APP}/{other}", f"<!-- see there -->\n@{real}\n")
    memory = load(world)
    assert [(file.path.name, file.text) for file in memory.files] == [(real, "text")]
    assert memory.notices == ()


def test_the_same_content_is_never_loaded_twice(world: World) -> None:
    world.write("home/src/AGENTS.md", "text\n")
    world.write(f"{APP}/AGENTS.md", "text")
    assert names(world, load(world)) == ["home/src/AGENTS.md"]


def test_started_in_the_home_directory_the_users_file_is_loaded_once(world: World) -> None:
    world.write("home/.claude/CLAUDE.md", "user")
    (file,) = load(world, start=world.places.home).files
    assert file.scope == "user"


def test_imports_are_loaded_after_the_file_that_names_them(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "Read @docs/a.md and @docs/missing.md, not `@docs/code.md`.")
    world.write(f"{APP}/docs/a.md", "a @b.md")
    world.write(f"{APP}/docs/b.md", "b")
    world.write(f"{APP}/docs/code.md", "never")
    memory = load(world)
    assert names(world, memory) == [f"{APP}/CLAUDE.md", f"{APP}/docs/a.md", f"{APP}/docs/b.md"]
    assert [file.imported_by for file in memory.files] == [
        None,
        world.project / "CLAUDE.md",
        world.project / "docs/a.md",
    ]
    assert len(memory.notices) == 1
    assert "imports @docs/missing.md, but there is no such file" in memory.notices[0]


def test_a_word_after_an_at_sign_that_is_no_file_is_no_import(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "Ask @someone about @types/node and @decorator.")
    assert load(world).notices == ()


def test_a_path_with_a_blank_and_one_at_the_end_of_a_sentence_are_found(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "(see @my\\ notes.md) and @b.md.")
    world.write(f"{APP}/my notes.md", "notes")
    world.write(f"{APP}/b.md", "b")
    assert [file.text for file in load(world).files][1:] == ["notes", "b"]


def test_four_imports_follow_one_another_and_the_fifth_is_named(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "start @1.md")
    for number in range(1, 7):
        world.write(f"{APP}/{number}.md", f"text {number} @{number + 1}.md")
    memory = load(world)
    assert names(world, memory)[1:] == [f"{APP}/{number}.md" for number in range(1, 5)]
    assert f"4.md imports {world.project}/5.md: not loaded, more than 4 imports follow" in memory.notices[0]


def test_files_that_import_one_another_end(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "a @b.md @CLAUDE.md")
    world.write(f"{APP}/b.md", "b @CLAUDE.md @b.md")
    memory = load(world)
    assert [file.text for file in memory.files] == ["a @b.md @CLAUDE.md", "b @CLAUDE.md @b.md"]
    assert memory.notices == ()


@pytest.mark.parametrize("written", ["~/private.md", "../sibling.md", "{root}/home/private.md", "link.md"])
def test_w_01_a_projects_import_from_outside_is_not_read_but_named(world: World, written: str) -> None:
    world.write("home/private.md", "private")
    world.write("home/src/sibling.md", "private")
    (world.project / "link.md").symlink_to("../../private.md")
    world.write(f"{APP}/CLAUDE.md", f"@{written.format(root=world.root)}")
    memory = load(world)
    assert not any("private" in file.text for file in memory.files)
    (notice,) = memory.notices
    assert "it was not loaded" in notice
    assert f"outside {world.project}" in notice


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", ".claude/rules/a.md", "CLAUDE.local.md"])
def test_w_01_a_projects_file_that_is_a_link_to_outside_is_not_read(world: World, name: str) -> None:
    world.write("home/private.md", "private")
    path = world.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(world.places.home / "private.md")
    memory = load(world)
    assert memory.files == ()
    assert len(memory.notices) == 1


def test_a_file_above_may_import_from_its_own_directory(world: World) -> None:
    world.write("home/src/CLAUDE.md", "@guides/style.md")
    world.write("home/src/guides/style.md", "style")
    assert [file.text for file in load(world).files] == ["style"]


def test_the_users_own_file_may_import_from_anywhere(world: World) -> None:
    world.write("home/.claude/CLAUDE.md", f"me @~/notes.md @{world.root}/else.md")
    world.write("home/notes.md", "notes")
    world.write("else.md", "else")
    assert [file.text for file in load(world).files][1:] == ["notes", "else"]


@pytest.mark.parametrize("name", [".env", ".env.local", "server.pem", "id_rsa", ".netrc", ".ssh/config"])
def test_k_04_what_usually_holds_secrets_is_no_import(world: World, name: str) -> None:
    world.write(f"{APP}/{name}", "hidden")
    world.write(f"{APP}/CLAUDE.md", f"see @{name}")
    memory = load(world)
    assert not any("hidden" in file.text for file in memory.files)
    assert "usually hold secrets" in memory.notices[0]


def test_block_comments_do_not_reach_the_model_nor_import_anything(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "a\n<!-- @b.md -->\nc")
    world.write(f"{APP}/b.md", "b")
    assert [file.text for file in load(world).files] == ["a\nc"]


def test_rules_without_paths_are_loaded_the_users_before_the_projects(world: World) -> None:
    world.write("home/.claude/rules/z.md", "user rule")
    world.write(f"{APP}/.claude/rules/b/deep.md", "deep rule")
    world.write(f"{APP}/.claude/rules/a.md", "---\ndescription: x\n---\na rule")
    world.write(f"{APP}/.claude/rules/not-a-rule.txt", "no")
    world.write(f"{APP}/CLAUDE.md", "project")
    world.write(f"{APP}/CLAUDE.local.md", "local")
    assert [file.text for file in load(world).files] == [
        *("user rule", "project", "a rule", "deep rule", "local")
    ]


def test_rules_with_paths_wait_for_a_file_that_matches(world: World) -> None:
    world.write(f"{APP}/.claude/rules/api.md", '---\npaths: ["src/**/*.{ts,tsx}"]\n---\napi rule')
    world.write("home/.claude/rules/py.md", "---\npaths:\n  - '**/*.py'\n---\npython rule")
    memory = load(world)
    assert memory.files == ()
    assert memory_for(memory, world.project / "src/a.js").files == ()
    grown = memory_for(memory, world.project / "src/deep/a.tsx")
    assert [file.text for file in grown.files] == ["api rule"]
    grown = memory_for(grown, world.project / "tool.py")
    assert [file.text for file in grown.files] == ["api rule", "python rule"]
    assert grown.waiting == ()
    assert memory_for(grown, world.project / "src/b.ts").files == grown.files
    assert len(memory.waiting) == 2


def test_links_in_a_circle_among_rules_end(world: World) -> None:
    world.write(f"{APP}/.claude/rules/a.md", "a")
    (world.project / ".claude/rules/again").symlink_to(".")
    (world.project / ".claude/rules/loop.md").symlink_to("loop.md")
    assert [file.text for file in load(world).files] == ["a"]


@pytest.mark.parametrize("glob", ["{root}/home/src/CLAUDE.md", "{root}/**/CLAUDE.md", "~/src/*.md"])
def test_excluded_files_are_skipped(world: World, glob: str) -> None:
    world.write("home/src/CLAUDE.md", "excluded")
    world.write(f"{APP}/AGENTS.md", "kept")
    assert [file.text for file in load(world, glob.format(root=world.root)).files] == ["kept"]


def test_the_administrators_file_cannot_be_excluded(world: World) -> None:
    world.write("etc/claude-code/CLAUDE.md", "managed")
    assert [file.text for file in load(world, "/**").files] == ["managed"]


def test_a_file_that_is_too_long_is_cut_and_that_is_said(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "é" * (TEXT_LIMIT + 5))
    memory = load(world)
    assert (
        memory.files[0].text
        == "é" * TEXT_LIMIT + "\n\n[The rest of this file, 5 characters, was not loaded.]"
    )
    assert "CLAUDE.md has 40,005 characters; the model reads the first 40,000" in memory.notices[0]


def test_a_huge_file_is_read_in_part_only(world: World) -> None:
    path = world.write(f"{APP}/CLAUDE.md", "")
    with path.open("wb") as file:
        file.write("日".encode() * 60_000)
        file.truncate(50_000_000)
    assert "is not UTF-8 text" not in load(world).notices[0]
    assert "is larger than 160,000 bytes; only its beginning was read" in load(world).notices[0]
    assert load(world).files[0].text.startswith("日" * TEXT_LIMIT)


def test_all_files_together_are_bounded(world: World) -> None:
    for number in range(15):
        world.write(f"{APP}/.claude/rules/{number:02}.md", f"{number:02}" * 19_000)
    memory = load(world)
    assert len(memory.files) == 10
    assert "all memory files together exceed 400,000 characters" in memory.notices[0]


def test_bytes_that_are_no_utf_8_are_replaced_and_that_is_said(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "").write_bytes(b"\xef\xbb\xbfcaf\xe9 text")
    memory = load(world)
    assert memory.files[0].text == "caf\N{REPLACEMENT CHARACTER} text"
    assert "is not valid UTF-8" in memory.notices[0]


def test_what_is_no_text_is_not_loaded(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "").write_bytes("UTF-16".encode("utf-16"))
    memory = load(world)
    assert memory.files == ()
    assert "it is not UTF-8 text" in memory.notices[0]


def test_pipes_devices_directories_and_dead_links_do_not_stop_the_start(world: World) -> None:
    os.mkfifo(world.project / "AGENTS.md")
    (world.project / "CLAUDE.md").mkdir()
    (world.project / "CLAUDE.local.md").symlink_to("nowhere")
    (world.project / ".claude").symlink_to(".claude")
    memory = load(world)
    assert memory.files == ()
    assert "not a plain file" in memory.notices[0]


def test_a_start_directory_that_is_gone_is_no_problem(world: World) -> None:
    assert load(world, start=world.project / "gone").files == ()


def test_empty_files_count_for_nothing(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", " \n<!-- only a note -->\n")
    memory = load(world)
    assert (memory.files, memory.notices) == ((), ())


def test_what_is_read_through_a_link_belongs_to_where_it_leads(world: World) -> None:
    world.write("home/other/CLAUDE.md", "other project")
    (world.project / "lib").symlink_to(world.places.home / "other")
    memory = load(world)
    assert memory_for(memory, world.project / "lib/x.py").files == ()


def test_a_folder_with_very_many_imports_holds_nobody_up(world: World) -> None:
    world.write(f"{APP}/CLAUDE.md", "\n".join(("Read these:", *(f"@part{number}.md" for number in range(8)))))
    for number in range(8):
        lines = (f"@../{number}/{at}.md" for at in range(1_000))
        world.write(f"{APP}/part{number}.md", "\n".join((f"Part {number}.", *lines)))
    memory = load(world)
    assert names(world, memory) == [f"{APP}/CLAUDE.md", *(f"{APP}/part{number}.md" for number in range(8))]
    first, limit, second = memory.notices
    assert first.endswith(
        "imports @../0/0.md, @../0/1.md, @../0/2.md and 997 more, but there are no such files."
    )
    assert f"more than {MENTIONS:,} words with `@`" in limit
    assert f"@../1/2.md and {MENTIONS - 8 - 1_000 - 3} more, but" in second
