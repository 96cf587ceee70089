"""`@` in a message: which words name files, and what the model is shown of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.agent.mentions import LIMIT, mentioned_paths
from mcode.call import Origin, Status
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("look at @a.txt", ("a.txt",)),
        ("is it @a.txt, or (@src/b.py)?", ("a.txt", "src/b.py")),
        ('see @"with blank.txt" too', ("with blank.txt",)),
        ("@a.txt @a.txt", ("a.txt",)),
        ("all of @src/", ("src/",)),
        ("write to someone@a.txt", ()),
        ("@nothing.txt is not there", ()),
        ("an @ alone, and @", ()),
    ],
)
def test_words_that_begin_with_an_at_sign_and_name_something_are_mentions(
    tmp_path: Path, text: str, expected: tuple[str, ...]
) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.txt", "src/b.py", "with blank.txt"):
        (tmp_path / name).write_text("x")
    assert mentioned_paths(text, tmp_path) == expected


def test_there_is_a_limit_to_mentions(tmp_path: Path) -> None:
    for number in range(LIMIT + 5):
        (tmp_path / f"{number}").write_text("x")
    text = " ".join(f"@{number}" for number in range(LIMIT + 5))
    assert len(mentioned_paths(text, tmp_path)) == LIMIT


async def test_a_mentioned_file_stands_in_front_of_the_message(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("the content\n")
    async with stage(tmp_path, turns("I see.")) as here:
        await here.say("explain @a.txt")
        blocks = here.client.requests[0]["messages"][0]["content"]
        assert "the content" in blocks[-2]["text"]
        assert blocks[-1]["text"] == "explain @a.txt"
        assert (here.result().call.origin, here.result().status) == (Origin.USER, Status.OK)


async def test_a_mentioned_file_may_be_edited_without_reading_it_again(tmp_path: Path) -> None:
    from tests.stage import use

    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("old\n")
    settings = {"permissions": {"defaultMode": "acceptEdits"}}
    script = turns(use("Edit", file_path="a.txt", old_string="old", new_string="new"), "Done.")
    async with stage(tmp_path, script, settings=settings) as here:
        await here.say("change @a.txt")
        assert here.result().status is Status.OK


async def test_a_deny_rule_holds_for_mentions_too(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/.env").write_text("TOKEN=abcdefgh")
    settings = {"permissions": {"deny": ["Read(.env)"]}}
    async with stage(tmp_path, turns("I may not."), settings=settings) as here:
        await here.say("what is in @.env")
        assert here.result().status is Status.DENIED
        assert "abcdefgh" not in str(here.client.requests[0])
        assert "Read(.env)" in str(here.client.requests[0]["messages"])


async def test_a_mentioned_directory_is_listed(tmp_path: Path) -> None:
    (tmp_path / "project/src").mkdir(parents=True)
    (tmp_path / "project/src/b.py").write_text("x")
    async with stage(tmp_path, turns("One file.")) as here:
        await here.say("what is in @src")
        assert "b.py" in here.client.requests[0]["messages"][0]["content"][-2]["text"]
