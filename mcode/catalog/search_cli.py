"""
Answers tool searches over a catalogue file, one JSON line each, with the index and ranking that the tool uses.

    python -m mcode.catalog.search_cli [--semantic] CATALOGUE.jsonl

`--semantic` also counts meaning, where the extra of that name is installed, and first works out all vectors.

A line of the catalogue: {"id", "server", "name", "title"?, "description", "input_schema"}. A line on standard
input: {"query": "...", "k": 10}; its answer: {"results": [ids], "no_match": false}.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode import jsontext
from mcode.catalog.entry import Entry
from mcode.catalog.meaning import Meaning
from mcode.catalog.search import ToolIndex
from mcode.model.reading import is_object, text_field

if TYPE_CHECKING:
    from mcode.jsontext import JsonObject

SETTLE = 900.0
"""Seconds that the vectors of a whole catalogue may take."""


def main() -> int:
    *flags, catalogue = sys.argv[1:]
    rows = [
        jsontext.parse_object(line)
        for line in Path(catalogue).read_text("utf-8").splitlines()
        if line.strip()
    ]
    entries = [entry_of(row) for row in rows]
    ids = {entry.name: row["id"] for entry, row in zip(entries, rows, strict=True)}
    meaning = Meaning() if flags == ["--semantic"] else None
    index = ToolIndex.build(entries, meaning=meaning)
    if meaning is not None and (not meaning.settle(SETTLE) or meaning.problem):
        sys.stderr.write(f"by words alone: {meaning.problem or 'the vectors took too long'}\n")
    for line in sys.stdin:
        asked = jsontext.parse_object(line)
        found = index.search(asked["query"], asked.get("k", 10))
        answer = {"results": [ids[hit.name] for hit in found.hits], "no_match": found.no_match}
        sys.stdout.write(jsontext.dump(answer) + "\n")
        sys.stdout.flush()
    return 0


def entry_of(row: JsonObject) -> Entry:
    """A line of a catalogue as an entry, named as mcode names the tools of a server."""
    title = text_field(row, "title") or text_field(row.get("annotations"), "title")
    schema = row.get("input_schema")
    return Entry(
        name=f"mcp__{row['server']}__{row['name']}",
        server=row["server"],
        title=title,
        description=text_field(row, "description"),
        input_schema=schema if is_object(schema) else {},
    )


if __name__ == "__main__":
    sys.exit(main())
