"""A folder's own hints for tools, `.mcode/tools.json`: an item that counts only after the user has approved it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcode.config.plain_file import read_plain
from mcode.config.read_settings import SettingsFile
from mcode.config.restrict import Restricted
from mcode.config.settings import Source
from mcode.config.trust import Item
from mcode.jsontext import JsonError, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

HINTS = "hints"
"""Kind of the item; its key is the file, below the folder."""

KEY = ".mcode/tools.json"

SIZE_LIMIT = 1_000_000
"""Bytes of a file of hints; a larger one is skipped."""

NAMES_SHOWN = 20
"""Tools that are named where the user is asked."""


def hint_item(folder: Path) -> Item | None:
    """The folder's hints as they are now; None where there are none, or none that could count."""
    try:
        data = read_plain(folder / KEY, SIZE_LIMIT)
        tools = parse_object(data.decode())
    except (OSError, UnicodeDecodeError, JsonError):
        return None
    if len(data) > SIZE_LIMIT or not tools:
        return None
    import hashlib  # loads OpenSSL; only where a folder would grant something

    named = ", ".join(list(tools)[:NAMES_SHOWN])
    more = f" and {len(tools) - NAMES_SHOWN} more" if len(tools) > NAMES_SHOWN else ""
    facts = {"file": KEY, "describes or places": f"{named}{more}"}
    return Item(HINTS, KEY, hashlib.sha256(data).hexdigest(), folder, facts)


def judged_hints(folder: Path, approved: Callable[[Item], bool], *, trusted: bool) -> Sequence[Restricted]:
    """The folder's hints among the files that the user is asked about; nothing where there are none."""
    item = hint_item(folder)
    if item is None:
        return ()
    file = SettingsFile(Source("project", folder / KEY, folder, trusted))
    if approved(item):
        return (Restricted(file, granted=(item,)),)
    return (Restricted(file, held=("hints for tools",), withheld=(item,)),)
