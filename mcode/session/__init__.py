"""Sessions: the append-only file of each conversation, and what belongs to it.

`records.py` knows the lines of the file, `bodies.py` what of them is masked, `side_values.py` keeps what is
too large for a line; `journal.py` is an open file. `store.py` has all sessions of a folder, `listing.py`
lists them, `undo.py` keeps what files held before they were changed, `upkeep.py` throws old things away.

On the disk, below a folder's directory: `<id>.jsonl` the session, `<id>.lock` its lock, `<id>/` its side
files (`values/`, `undo/`, outputs), `<id>.jsonl.torn-<n>` what crashes left, `index.json` for fast listings.
"""

from __future__ import annotations
