"""How the guide reads what tools answered, in the shapes of our tools and of others."""

from __future__ import annotations

from mcode.model.guide.reading import (
    counts_by_path,
    file_worth_reading,
    found_matches,
    lines_by_language,
    listed_paths,
    read_lines,
    total_of,
    was_cut,
)


def test_listings_are_read_without_their_remarks() -> None:
    assert listed_paths("a.py\nsub/b c.md\n\n(Results are truncated.)") == ("a.py", "sub/b c.md")
    assert listed_paths("No files found") == ()
    assert listed_paths("a\n[… 12 characters left out; the whole text is in /x/y …]\nb") == ("a", "b")
    assert listed_paths("") == ()


def test_totals_are_taken_from_remarks_only() -> None:
    assert total_of("a\nb", 2) == (2, False)
    assert total_of("a\n\nThe first 1 of 1,200 are shown. Narrow it.", 1) == (1200, False)
    assert total_of("docs/the first 1 of 5.txt", 1) == (1, False)
    assert not was_cut("a.py:3:the limit is not reached, more or less.")
    assert not was_cut("a.py\n3:the limit is not reached, more or less.")
    assert was_cut("a.py:1\n[… 900 characters left out; the whole text is in /x/y …]\nb.py:2")


def test_matches_are_read_in_both_shapes() -> None:
    assert [(m.path, m.line, m.text) for m in found_matches("a.py:3:  x: 1\nb/c.py:10:y")] == [
        ("a.py", 3, "x: 1"),
        ("b/c.py", 10, "y"),
    ]
    grouped = "a.py\n2-before\n3:it:4:5\n--\n9:end\n\nb.py\n1:one"
    assert [(m.path, m.line, m.text) for m in found_matches(grouped)] == [
        ("a.py", 3, "it:4:5"),
        ("a.py", 9, "end"),
        ("b.py", 1, "one"),
    ]
    assert found_matches("Nothing matches.") == ()


def test_counts_and_numbered_lines_are_read() -> None:
    assert counts_by_path("a.py:3\nb: c.py: 4\n\nSome note.") == {"a.py": 3, "b: c.py": 4}
    assert read_lines("1\tone\n2\t\n10\tten\n\nThe file has 80 lines.") == ("one", "", "ten")
    assert read_lines("     1\u2192one") == ("one",)
    assert lines_by_language({"a.py": 1, "b.py": 2, "c": 9}) == [("other", 9, 1), ("Python", 3, 2)]


def test_a_readme_is_read_before_anything_else() -> None:
    assert file_worth_reading(["z.py", "docs/readme.md", "README.rst", "a.md"]) == "README.rst"
    assert file_worth_reading(["b.py", "package.json"]) == "package.json"
    assert file_worth_reading(["photo.jpg", "key.md"]) is None
