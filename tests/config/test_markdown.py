"""What is read in Markdown files."""

from __future__ import annotations

import time

import pytest

from mcode.config.markdown import mentions, only_mentions, paths_of, split_front_matter, without_comments


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- note -->\nb", "a\nb"),
        ("<!-- one\ntwo\n-->\nb", "b"),
        ("a <!-- inline --> b", "a <!-- inline --> b"),
        ("   <!-- indented -->\nb", "b"),
        ("    <!-- code -->\nb", "    <!-- code -->\nb"),
        ("```\n<!-- code -->\n```\n<!-- x -->\nb", "```\n<!-- code -->\n```\nb"),
        ("~~~\n```\n<!-- code -->\n~~~\n<!-- x -->b", "~~~\n```\n<!-- code -->\n~~~\nb"),
        ("<!-- a --><!-- b -->\nc", "c"),
        ("<!-- a --> kept\nc", " kept\nc"),
        ("a\n<!-- never closed\nb", "a\n<!-- never closed\nb"),
        ("a\n<!--\n```\n-->\nb", "a\nb"),
        ("no comment", "no comment"),
    ],
)
def test_block_comments_go_and_everything_else_stays(text: str, left: str) -> None:
    assert without_comments(text) == left


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@docs/a.md", ("docs/a.md",)),
        ("See @docs/a.md, @./b.md; and (@~/c.md).", ("docs/a.md", "./b.md", "~/c.md).")),
        ("write to me@example.org or a/@scope", ()),
        ("`@code` and ``@more ` @code`` @real", ("real",)),
        ("```\n@fenced\n```\n@after", ("after",)),
        ("```python\n@fenced\n~~~\n@still\n```\n@after", ("after",)),
        ("- list\n  ```\n  @fenced\n  ```\n  @after", ("after",)),
        ("~~~\n@fenced to the end", ()),
        ("an open ` tick\n\n@next ` paragraph", ("next",)),
        ("@a @a @b", ("a", "b")),
        ("@my\\ notes/a.md", ("my notes/a.md",)),
        ("**@bold.md**", ("bold.md",)),
        ("@ alone, @@twice", ()),
        ("```inline``` @real", ("real",)),
    ],
)
def test_mentions_outside_code(text: str, found: tuple[str, ...]) -> None:
    assert mentions(text) == found


def test_text_that_is_nothing_but_mentions() -> None:
    assert only_mentions("@AGENTS.md\n")
    assert only_mentions("@a.md\n@my\\ notes.md")
    assert not only_mentions("See @AGENTS.md")
    assert not only_mentions("")


def test_front_matter_is_what_stands_between_two_lines() -> None:
    assert split_front_matter("---\na: 1\n---\nbody\n---\n") == ("a: 1\n", "body\n---\n")
    assert split_front_matter("---\nno end\n") == ("", "---\nno end\n")
    assert split_front_matter("----\na\n---\n") == ("", "----\na\n---\n")
    assert split_front_matter("text\n---\n") == ("", "text\n---\n")


@pytest.mark.parametrize(
    ("front", "globs"),
    [
        ('paths: "src/**/*.ts"\n', ("src/**/*.ts",)),
        ("paths: src/**/*.{ts,tsx}, lib/*.py # both\n", ("src/**/*.{ts,tsx}", "lib/*.py")),
        ("paths: [a.md, 'b c.md', \"d,e\"]\n", ("a.md", "b c.md", "d,e")),
        ("paths: src/[a,b]/*.py, lib/*(x,y).md\n", ("src/[a,b]/*.py", "lib/*(x,y).md")),
        ("paths:\n  - src/**\n  - 'lib/*' # x\ndescription: y\n", ("src/**", "lib/*")),
        ("paths:\n- a\n- b\n", ("a", "b")),
        ("title: x\n", ()),
        ("paths:\n", ()),
        ("paths: []\n", ()),
    ],
)
def test_the_globs_of_a_rule(front: str, globs: tuple[str, ...]) -> None:
    assert paths_of(front) == globs


@pytest.mark.parametrize("piece", ["`", "<!-- ", "@a`", "```\n", "<!-- -->", "@\\ ", "`a``b", "~~~\n@x\n"])
def test_long_strange_text_takes_no_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    mentions(text)
    without_comments(text)
    only_mentions(text)
    assert time.process_time() - began < 5
