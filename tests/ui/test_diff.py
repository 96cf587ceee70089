"""Diffs as numbered rows."""

from __future__ import annotations

from mcode.text import Kind
from mcode.ui.diff import diff_rows, painted
from mcode.ui.palette import Palette

DIFF = """\
--- a/cli.py
+++ b/cli.py
@@ -41,3 +41,4 @@
 def run_line(line):
-    parse_line(line)
+    result = parse_line(line)
+    return result
 # end
@@ -90,1 +91,1 @@ def later():
-old
+new
\\ No newline at end of file
"""


def test_rows_carry_the_numbers_of_their_own_file_and_a_sign() -> None:
    assert [row.plain() for row in diff_rows(DIFF)] == [
        "    41   def run_line(line):",
        "    42 -     parse_line(line)",
        "    42 +     result = parse_line(line)",
        "    43 +     return result",
        "    44   # end",
        "     ...",
        "    90 - old",
        "    91 + new",
        "         (No newline at end of file)",
    ]


def test_colour_repeats_the_sign_and_nothing_else() -> None:
    rows = list(diff_rows(DIFF))
    coloured = [painted(row, Palette(color=True)) for row in rows]
    assert coloured[1].startswith("\x1b[31m")
    assert coloured[2].startswith("\x1b[32m")
    assert [painted(row, Palette(color=False)) for row in rows] == [row.plain() for row in rows]


def test_a_line_separator_in_a_line_does_not_pose_as_a_removed_line() -> None:
    rows = list(diff_rows("@@ -0,0 +1,1 @@\n+x\u2028-rm -rf /\n", Kind.DECISION))
    assert [row.sign for row in rows] == ["+"]
    assert rows[0].text == "x\u2039U+2028\u203a-rm -rf /"
