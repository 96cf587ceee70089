"""Files of mcode's own: replaced as a whole or not at all, changed under a lock, private to the user.

`disk.py` writes and flushes, `locks.py` locks between processes, `update.py` changes files of JSON.
"""

from __future__ import annotations

from mcode.files.disk import (
    check_writable,
    flush,
    flush_directory,
    private_directory,
    remove_leftovers,
    replace_file,
    storage_error,
)
from mcode.files.locks import FileLock, Holder
from mcode.files.update import update_json

__all__ = [
    "FileLock",
    "Holder",
    "check_writable",
    "flush",
    "flush_directory",
    "private_directory",
    "remove_leftovers",
    "replace_file",
    "storage_error",
    "update_json",
]
