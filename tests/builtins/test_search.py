"""Glob and Grep: the same results with ripgrep and with mcode's own search program."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcode.builtins.grep import Grep
from mcode.builtins.ripgrep import find_ripgrep
from mcode.builtins.search import Searcher
from mcode.call import FailureKind
from tests.children import command_of, living
from tests.waiting import until

if TYPE_CHECKING:
    from mcode.tool import ToolResult
    from tests.builtins.conftest import Session

needs_ripgrep = pytest.mark.skipif(find_ripgrep(()) is None, reason="ripgrep is not installed")

ENGINES = (pytest.param(True, id="ripgrep", marks=needs_ripgrep), pytest.param(False, id="own"))


@pytest.fixture(params=ENGINES)
def searcher(request: pytest.FixtureRequest) -> Searcher:
    return Searcher(use_ripgrep=request.param)


@pytest.fixture
def tree(session: Session) -> Session:
    """A small repository. Times of modification rise in the order of this list."""
    files = {
        "README.md": "# Needle\nhay\n",
        "src/a.py": "def needle():\n    return 1\n\n\nneedle()\n",
        "src/b.py": "hay\r\nneedle = 2\r\n",
        "src/deep/er/c.ts": "const x = needle({});\n",
        "src/deep/d.test.ts": "needle\nneedle needle\n",
        "ignored.log": "needle\n",
        "build/out.py": "needle\n",
        "src/keep.log": "needle\n",
        ".github/ci.yml": "run: needle\n",
        ".env": "KEY=needle\n",
        ".git/config": "needle\n",
        ".gitignore": "*.log\n!keep.log\nbuild/\n",
    }
    for number, (name, content) in enumerate(files.items()):
        path = session.put(name, content)
        os.utime(path, ns=(0, 1_700_000_000_000_000_000 + number * 1_000_000_000))
    return session


def assert_failed(result: ToolResult, *parts: str) -> None:
    assert result.failure is FailureKind.TOOL_ERROR, result.text
    for part in parts:
        assert part in result.text


GLOBS: list[tuple[str, list[str] | None]] = [
    ("**/*.py", ["src/b.py", "src/a.py"]),
    ("*.py", []),
    ("**", ["src/keep.log", "src/deep/d.test.ts", "src/deep/er/c.ts", "src/b.py", "src/a.py", "README.md"]),
    ("{README,src/a}.{md,py}", ["src/a.py", "README.md"]),
    ("src/[!b]*.py", ["src/a.py"]),
    ("**/*.log", ["src/keep.log"]),
    ("**/.*", [".gitignore", ".env"]),
    ("**/.github/**", [".github/ci.yml"]),
    (".github/*", [".github/ci.yml"]),
    ("build/*", ["build/out.py"]),
    ("nothing/*", None),
    ("*.{md,py", None),
    ("src/", None),
]


async def test_glob_finds_the_same_with_both_programs(tree: Session, searcher: Searcher) -> None:
    results = await asyncio.gather(*(tree.glob(pattern, searcher) for pattern, _ in GLOBS))
    found = [(pattern, result.data) for (pattern, _), result in zip(GLOBS, results, strict=True)]
    assert found == GLOBS
    for result in results:
        if result.data is None:
            assert_failed(result, "Nothing was searched")
        else:
            assert result.text == ("\n".join(result.data) or "No file matches.")
            assert result.notes == ()


CONTENT: list[tuple[dict[str, Any], str]] = [
    ({"pattern": "needle"}, "src/keep.log src/deep/d.test.ts src/deep/er/c.ts src/b.py src/a.py"),
    ({"pattern": "Needle", "-i": True, "glob": "*.md"}, "README.md"),
    ({"pattern": "needle", "glob": "*.py"}, "src/b.py src/a.py"),
    ({"pattern": "needle", "glob": "/src/*.py"}, "src/b.py src/a.py"),
    ({"pattern": "needle", "glob": "*.log"}, "src/keep.log"),
    ({"pattern": "needle", "glob": "!*.ts"}, "src/keep.log src/b.py src/a.py"),
    ({"pattern": "needle", "glob": ".github/**"}, ".github/ci.yml"),
    ({"pattern": "needle", "glob": ".env*"}, ".env"),
    ({"pattern": "needle", "path": "src/deep"}, "src/deep/d.test.ts src/deep/er/c.ts"),
    ({"pattern": "needle", "path": "build"}, "build/out.py"),
    ({"pattern": "needle", "path": "src/a.py"}, "src/a.py"),
    ({"pattern": "needle", "path": "ignored.log"}, "ignored.log"),
    ({"pattern": r"^needle\(\)$"}, "src/a.py"),
    ({"pattern": r"needle = 2$"}, "src/b.py"),
    ({"pattern": r"needle\({}\)"}, "src/deep/er/c.ts"),
    ({"pattern": r"[[:upper:]]eedle"}, "README.md"),
    ({"pattern": r"\<hay\>"}, "src/b.py README.md"),
    ({"pattern": r"(needle) \1"}, "src/deep/d.test.ts"),
    ({"pattern": r"(?<=const )x"}, "src/deep/er/c.ts"),
    ({"pattern": r"(?<word>hay)$"}, "src/b.py README.md"),
    ({"pattern": r"\x{6e}eedle = "}, "src/b.py"),
    ({"pattern": r"hay\nneedle", "multiline": True}, "src/b.py"),
    ({"pattern": r"def.*return", "multiline": True}, "src/a.py"),
    ({"pattern": "no such text"}, ""),
]


async def test_grep_finds_the_same_files_with_both_programs(tree: Session, searcher: Searcher) -> None:
    results = await asyncio.gather(*(tree.grep(searcher=searcher, **arguments) for arguments, _ in CONTENT))
    found = [(arguments, result.data) for (arguments, _), result in zip(CONTENT, results, strict=True)]
    assert found == [(arguments, expected.split()) for arguments, expected in CONTENT]
    assert [result.text for result in results] == [
        "\n".join(expected.split()) or "Nothing matches." for _, expected in CONTENT
    ]
    assert {result.notes for result in results} == {()}


async def test_grep_shows_lines_with_numbers_under_their_file(tree: Session, searcher: Searcher) -> None:
    result = await tree.grep("needle", searcher, path="src", glob="*.py", output_mode="content")
    assert result.data == [
        {"path": "src/b.py", "line": 2, "text": "needle = 2"},
        {"path": "src/a.py", "line": 1, "text": "def needle():"},
        {"path": "src/a.py", "line": 5, "text": "needle()"},
    ]
    assert result.text == "src/b.py\n2:needle = 2\n\nsrc/a.py\n1:def needle():\n5:needle()"
    assert result.summary == "3 matches in 2 files"


async def test_grep_shows_context_between_the_matches(tree: Session, searcher: Searcher) -> None:
    result = await tree.grep("needle", searcher, path="src/a.py", output_mode="content", **{"-A": 1})
    assert result.text == "src/a.py\n1:def needle():\n2-    return 1\n--\n5:needle()"
    assert len(result.data) == 2
    result = await tree.grep("return", searcher, path="src/a.py", output_mode="content", **{"-C": 1})
    assert result.text == "src/a.py\n1-def needle():\n2:    return 1\n3-"
    result = await tree.grep(
        "return", searcher, path="src/a.py", output_mode="content", **{"-B": 1, "-n": True}
    )
    assert result.text == "src/a.py\n1-def needle():\n2:    return 1"


async def test_grep_counts_matching_lines(tree: Session, searcher: Searcher) -> None:
    result = await tree.grep("needle", searcher, path="src/deep", output_mode="count")
    assert result.data == [
        {"path": "src/deep/d.test.ts", "count": 2},
        {"path": "src/deep/er/c.ts", "count": 1},
    ]
    assert result.text == "src/deep/d.test.ts:2\nsrc/deep/er/c.ts:1"
    assert result.summary == "3 matches in 2 files"


async def test_grep_across_lines_lists_each_line_of_a_match(tree: Session, searcher: Searcher) -> None:
    result = await tree.grep(r"hay.needle|1\n\n", searcher, output_mode="content", multiline=True)
    lines = [(each["path"], each["line"], each["text"]) for each in result.data]
    expected = [("src/a.py", 2, "    return 1"), ("src/a.py", 3, "")]
    assert lines[-2:] == expected
    result = await tree.grep(r"hay\s+needle", searcher, output_mode="content", multiline=True)
    assert [each["line"] for each in result.data] == [1, 2]


async def test_head_limit_cuts_what_is_shown_and_the_data(tree: Session, searcher: Searcher) -> None:
    result = await tree.grep("needle", searcher, head_limit=2)
    assert result.data == ["src/keep.log", "src/deep/d.test.ts"]
    assert result.notes == ("The first 2 of 5 are shown. Narrow the search to see others.",)
    result = await tree.grep("needle", searcher, head_limit=2, output_mode="content", path="src/deep")
    assert result.text == "src/deep/d.test.ts\n1:needle\n2:needle needle"


async def test_more_than_250_results_are_shown_in_part_and_given_to_programs_whole(
    session: Session, searcher: Searcher
) -> None:
    session.put("f.txt", "x\n" * 400)
    result = await session.grep("x", searcher, output_mode="content")
    assert result.text.count("\n") == 250
    assert len(result.data) == 400
    assert "The first 250 of 400" in result.notes[0]


async def test_files_of_one_time_come_in_order_of_name(session: Session, searcher: Searcher) -> None:
    for name in ("b", "a", "sub/c", "B"):
        os.utime(session.put(name, "x\n"), ns=(0, 5))
    assert (await session.glob("**", searcher)).data == ["B", "a", "b", "sub/c"]
    assert (await session.grep("x", searcher)).data == ["B", "a", "b", "sub/c"]


async def test_paths_are_relative_to_the_shells_directory_or_absolute(
    tree: Session, searcher: Searcher
) -> None:
    tree.workspace.current = tree.directory / "src"
    assert (await tree.glob("*.py", searcher)).data == ["b.py", "a.py"]
    above = await tree.glob("src/*.py", searcher, path=str(tree.directory))
    assert above.data == ["b.py", "a.py"]
    assert (await tree.glob("*.md", searcher, path="..")).data == [str(tree.directory / "README.md")]


async def test_an_absolute_pattern_and_one_with_parents_lead_where_they_say(
    tree: Session, searcher: Searcher
) -> None:
    assert (await tree.glob(f"{tree.directory}/src/*.py", searcher, path="src/deep")).data == [
        "src/b.py",
        "src/a.py",
    ]
    assert (await tree.glob("../*.py", searcher, path="src/deep")).data == ["src/b.py", "src/a.py"]


async def test_ignore_files_count_in_repositories_only_and_end_at_their_border(
    session: Session, searcher: Searcher
) -> None:
    session.put(".gitignore", "*.txt\n/only_top\n")
    session.put("a.txt", "x\n")
    assert (await session.glob("**", searcher)).data == ["a.txt"]
    session.put(".git/info/exclude", "secret\n")
    session.put("secret", "x\n")
    session.put("sub/only_top", "x\n")
    session.put("sub/.gitignore", "!b.txt\n")
    session.put("sub/b.txt", "x\n")
    session.put("sub/c.txt", "x\n")
    session.put("inner/.git/HEAD", "")
    session.put("inner/d.txt", "x\n")
    expected = ["inner/d.txt", "sub/b.txt", "sub/only_top"]
    assert sorted((await session.glob("**", searcher)).data) == expected
    assert sorted((await session.grep("x", searcher)).data) == expected
    assert sorted((await session.glob("*", searcher, path="sub")).data) == ["sub/b.txt", "sub/only_top"]


async def test_f_06_a_broken_line_of_an_ignore_file_is_skipped_and_named(
    session: Session, searcher: Searcher
) -> None:
    session.put(".git/HEAD", "")
    session.put(".gitignore", b"*.log\n[z-a]\n*.tmp\n\xff\n")
    for name in ("a.log", "b.tmp", "c.txt"):
        session.put(name, "x\n")
    result = await session.glob("**", searcher)
    assert result.data == ["c.txt"]
    assert any(".gitignore, line 2: [z-a]" in note for note in result.notes), result.notes


async def test_f_06_fifos_devices_and_link_loops_neither_stop_nor_show(
    session: Session, searcher: Searcher
) -> None:
    session.put("f.txt", "x\n")
    os.mkfifo(session.directory / "fifo")
    (session.directory / "loop").symlink_to(".")
    (session.directory / "broken").symlink_to("nowhere")
    (session.directory / "zero").symlink_to("/dev/zero")
    assert (await session.glob("**", searcher)).data == ["f.txt"]
    assert (await session.grep("x", searcher)).data == ["f.txt"]
    assert_failed(await session.grep("x", searcher, path="fifo"), "a FIFO")
    assert_failed(await session.grep("x", searcher, path="zero"), "a character device")


async def test_f_06_links_to_outside_are_not_followed(
    session: Session, searcher: Searcher, outside: Path
) -> None:
    (outside / "secret.txt").write_text("x\n")
    (session.directory / "out").symlink_to(outside)
    (session.directory / "file").symlink_to(outside / "secret.txt")
    assert (await session.glob("**", searcher)).data == []
    assert (await session.grep("x", searcher)).data == []


async def test_f_05_a_pattern_that_leads_through_a_link_is_judged_by_its_target(
    session: Session, searcher: Searcher, outside: Path
) -> None:
    from mcode.builtins.glob import Glob

    (session.directory / "out").symlink_to(outside)
    tool = Glob(session.files, searcher)
    arguments = tool.normalise({"pattern": "out/*.txt"}, session.workspace)
    assert tool.access(arguments, session.workspace).reads == (session.directory / "out", outside)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow UTF-8 names only")
async def test_f_06_a_name_that_is_not_utf_8_is_shown_with_an_escape(
    session: Session, searcher: Searcher
) -> None:
    Path(os.fsdecode(os.fsencode(session.directory) + b"/caf\xe9.txt")).write_text("x\n")
    for result in (
        await session.glob("*.txt", searcher),
        await session.grep("x", searcher),
    ):
        assert result.data == ["caf\\xe9.txt"]
        assert any("not UTF-8" in note for note in result.notes)
    result = await session.grep("x", searcher, output_mode="content")
    assert result.data == [{"path": "caf\\xe9.txt", "line": 1, "text": "x"}]


async def test_a_name_with_a_newline_stays_one_line(session: Session, searcher: Searcher) -> None:
    session.put("a\nb", "x\n")
    result = await session.glob("*", searcher)
    assert result.data == ["a\nb"]
    assert "\n" not in result.text


async def test_f_06_an_unreadable_directory_is_named_and_the_rest_found(
    session: Session, searcher: Searcher
) -> None:
    session.put("open/f", "x\n")
    closed = session.put("closed/f", "x\n").parent
    closed.chmod(0)
    if os.access(closed, os.R_OK):
        pytest.skip("this user can read every directory")
    try:
        for result in (await session.glob("**", searcher), await session.grep("x", searcher)):
            assert result.data == ["open/f"]
            assert any("Could not be searched: closed" in note for note in result.notes)
    finally:
        closed.chmod(0o755)


async def test_binary_files_are_not_searched(session: Session, searcher: Searcher) -> None:
    session.put("early.bin", b"needle\0\n")
    session.put("late.bin", b"x" * 100 + b"\nneedle\n" + b"y" * 200_000 + b"\0\n")
    session.put("text", "needle\n")
    result = await session.grep("needle", searcher, output_mode="content")
    assert [each["path"] for each in result.data] == ["text"]
    assert "early.bin" not in (await session.grep("needle", searcher)).data


async def test_other_encodings_are_searched(session: Session, searcher: Searcher) -> None:
    session.put("u16.txt", b"\xff\xfe" + "eins\nnädel\n".encode("utf-16-le"))
    session.put("bom.txt", b"\xef\xbb\xbfn\xc3\xa4del\n")
    session.put("latin.txt", b"n\xe4del\nn\xc3\xa4del\n")
    result = await session.grep("^nädel$", searcher, output_mode="content")
    assert sorted((each["path"], each["line"]) for each in result.data) == [
        ("bom.txt", 1),
        ("latin.txt", 2),
        ("u16.txt", 2),
    ]
    result = await session.grep("del$", searcher, output_mode="content", path="latin.txt")
    assert [each["text"] for each in result.data] == ["n\ufffddel", "nädel"]


async def test_t_06_control_characters_in_found_lines_are_shown_as_escapes(
    session: Session, searcher: Searcher
) -> None:
    session.put("f.txt", "red \x1b[31m\n" + "x" * 3_000 + "red\n")
    result = await session.grep("red", searcher, output_mode="content")
    assert "\x1b" not in result.text
    assert "3,003 characters" in result.text
    assert result.data[0]["text"] == "red \x1b[31m"
    assert len(result.data[1]["text"]) == 3_003


async def test_what_cannot_be_searched_is_an_error_with_the_reason(tree: Session, searcher: Searcher) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"pattern": "("}, "cannot be used"),
        ({"pattern": "*a"}, "cannot be used"),
        ({"pattern": ""}, "empty"),
        ({"pattern": "a\nb"}, "Set multiline to true"),
        ({"pattern": r"a\nb"}, "Set multiline to true"),
        ({"pattern": "a" * 2_001}, "2,001 characters, at most 2,000"),
        ({"pattern": "\ud800"}, "surrogate"),
        ({"pattern": "a", "glob": "{a"}, "cannot be used"),
        ({"pattern": "a", "glob": "[z-a]"}, "cannot be used"),
        ({"pattern": "a", "path": "none"}, "does not exist"),
        ({"pattern": "a", "path": "no/ne"}, "no such file or directory"),
    ]
    for arguments, reason in cases:
        assert_failed(await tree.grep(searcher=searcher, **arguments), reason, "Nothing was searched")


async def test_a_class_may_name_the_line_end(tree: Session, searcher: Searcher) -> None:
    result = await tree.grep(r"^def [^\n]*:$", searcher)
    assert result.data == ["src/a.py"]


async def test_files_that_a_rule_keeps_out_do_not_show_and_are_counted(tree: Session) -> None:
    searcher = Searcher(keep_out=lambda path: path.name == "a.py")
    assert (await tree.glob("src/*.py", searcher)).data == ["src/b.py"]
    result = await tree.grep("needle", searcher, glob="*.py", output_mode="content")
    assert [each["path"] for each in result.data] == ["src/b.py"]
    assert result.notes == ("1 file left out, since a rule denies reading.",)


async def test_without_ripgrep_what_only_ripgrep_understands_is_refused(session: Session) -> None:
    searcher = Searcher(use_ripgrep=False)
    for pattern in (r"\p{Greek}", "[a&&b]", "a(?i)b"):
        assert_failed(await session.grep(pattern, searcher), "ripgrep", "not installed")


async def test_f_06_the_walk_stops_at_its_number_of_entries_with_a_notice(session: Session) -> None:
    for number in range(30):
        session.put(f"{number:02}", "x\n")
    result = await session.glob("*", Searcher(use_ripgrep=False, entries=20))
    assert len(result.data) == 20
    assert any("stopped after 20 entries" in note for note in result.notes)


@pytest.mark.parametrize("use_ripgrep", ENGINES)
async def test_f_06_a_search_that_takes_too_long_is_ended_with_a_notice(
    session: Session, use_ripgrep: bool
) -> None:
    session.put("f.txt", ("a" * 28 + "\n") * (200_000 if use_ripgrep else 1_000))
    searcher = Searcher(use_ripgrep=use_ripgrep, seconds=0.001 if use_ripgrep else 0.3)
    result = await session.grep(r"(a|aa)+b", searcher)  # to its end, it would take years
    assert result.failure is None
    assert any("stopped after" in note and "incomplete" in note for note in result.notes), result


async def test_l_02_a_cancelled_search_leaves_no_process_and_no_descriptor(session: Session) -> None:
    session.put("f.txt", ("a" * 28 + "\n") * 1_000)
    searcher = Searcher(use_ripgrep=False)
    await session.grep("x", searcher)
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    task = asyncio.ensure_future(session.grep(r"(a|aa)+b", searcher))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    if sys.platform == "linux":
        await until(lambda: not any("search_worker" in command_of(child) for child in living()))
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before)


@needs_ripgrep
def test_ripgrep_inside_the_workspace_is_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "bin" / "rg"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\ntouch PWN\necho ripgrep 15.0\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{planted.parent}:bin::{os.environ['PATH']}")
    found = find_ripgrep((tmp_path,))
    assert found is not None
    assert not found.is_relative_to(tmp_path)
    assert not (tmp_path / "PWN").exists()


async def test_the_card_says_what_is_searched_where(tree: Session) -> None:
    tool = Grep(tree.files, Searcher())
    arguments = tool.normalise(
        {"pattern": "needle", "path": "src", "glob": "*.py", "-i": True}, tree.workspace
    )
    preview = await tool.preview(arguments, tree.workspace)
    assert preview.title == "needle in src (*.py)"
    assert "-i=True" in preview.body
    everywhere = tool.normalise({"pattern": "needle"}, tree.workspace)
    assert (await tool.preview(everywhere, tree.workspace)).title == "needle"
