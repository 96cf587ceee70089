"""
The table of stems that the tool search ships: of the words of its own tables, so that no session works them out.

    python -m tools.stems [--write]

Without `--write`: an exit code of 1 where the shipped table is not what the other tables ask for.
"""

from __future__ import annotations

import argparse
import re
import sys

from mcode.catalog import words
from mcode.catalog.vocabulary.load import TABLES


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="make the table anew")
    if parser.parse_args().write:
        words.STEMS.write_text(table(), "ascii")
    elif words.STEMS.read_text("ascii") != table():
        print("the table of stems is not that of the other tables: python -m tools.stems --write")
        return 1
    return 0


def table() -> str:
    """The table as it should be: a line for each English word of the tables with its stem, where that takes work."""
    found: dict[str, str] = {}
    for file in (*(TABLES / "english").glob("*.txt"), *(TABLES / "glossary").glob("*.txt")):
        for word in re.findall(r"(?<![^\W_])[a-z]{4,}(?![^\W_])", file.read_text("utf-8").lower()):
            if words.is_work(word):
                found[word] = words.work_out_stem(word)
    return "".join(f"{word} {stem}\n" for word, stem in sorted(found.items()))


if __name__ == "__main__":
    sys.exit(main())
