"""
Answers tool searches over a catalogue file, one JSON line each, with the index and ranking that the tool uses.

    python -m mcode.catalog.search_cli CATALOGUE.jsonl

A line of the catalogue: {"id", "server", "name", "title"?, "description", "input_schema"}. A line on standard
input: {"query": "...", "k": 10}; its answer: {"results": [ids], "no_match": false}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcode.catalog.entry import Entry
from mcode.catalog.search import ToolIndex

if TYPE_CHECKING:

    from mcode.jsontext import JsonObject


def main() -> int:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines() if line.strip()]
    entries = [entry_of(row) for row in rows]
    ids = {entry.name: row["id"] for entry, row in zip(entries, rows, strict=True)}
    index = ToolIndex.build(entries)
    for line in sys.stdin:
        asked = json.loads(line)
        found = index.search(asked["query"], asked.get("k", 10))
        answer = {"results": [ids[hit.name] for hit in found.hits], "no_match": found.no_match}
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    return 0


def entry_of(row: JsonObject) -> Entry:
    """A line of a catalogue as an entry, named as mcode names the tools of a server."""
    return Entry(
        name=f"mcp__{row['server']}__{row['name']}",
        server=row["server"],
        title=row.get("title") or (row.get("annotations") or {}).get("title") or "",
        description=row.get("description") or "",
        input_schema=row.get("input_schema") or {},
    )


if __name__ == "__main__":
    sys.exit(main())
