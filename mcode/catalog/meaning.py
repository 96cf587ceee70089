"""How near in meaning tools are to a query: vectors that a thread works out in the background, and keeps.

A search never waits for it: until the vectors of nearly all tools are there, it ranks by words alone.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import logging
import queue
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

from mcode.catalog import words
from mcode.catalog.document import first_sentence
from mcode.catalog.embedding import MODEL, SIZE, EmbeddingError, missing, shared_embedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcode.catalog.embedding import Embedder
    from mcode.catalog.entry import Entry

logger = logging.getLogger(__name__)

NEARLY_ALL = 0.98
"""Share of the tools whose vectors must be there for the meaning to count."""

FEWEST = 25
"""Tools from which on meaning is worth a model in memory; words tell fewer of them apart."""

LOAD = 16
"""Tools that the thread works out before it makes them known and looks for new ones."""

LEAVE_WITHIN = 5.0
"""Seconds that the end of the session, or of the process, waits for the thread: it may be loading the model."""

TEXT = 800
"""Characters of a tool that are read."""


class Meaning:
    """Follows the tools of an index. `follow` and `nearness` belong to the searching thread."""

    def __init__(self, cache: Path | None = None, fewest: int = FEWEST) -> None:
        """`cache`: a database file in which vectors are kept by the hash of their text.

        `fewest`: so many tools must have been seen together before a model is loaded.
        """
        self._cache = cache
        self._fewest = fewest
        self._vectors: dict[bytes, Any] = {}
        """By hash; filled by the thread, read by the search: single items come and never go."""
        self._wanted: queue.SimpleQueue[Sequence[Entry] | None] = queue.SimpleQueue()
        """None ends the thread."""
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._embedder: Embedder | None = None
        self._ready = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._rows: tuple[Sequence[Entry], Any] | None = None
        self.problem = missing() and f"not installed: {missing()}"
        """Why there is no meaning; empty while it works or is still being loaded."""

    def follow(self, entries: Sequence[Entry]) -> None:
        """Work out, in the background, what of these tools is not known yet."""
        if self.problem or self._closed.is_set() or (self._thread is None and len(entries) < self._fewest):
            return
        self._idle.clear()
        self._wanted.put(entries)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="tool meanings", daemon=True)
            self._thread.start()
            # A thread inside the library while the interpreter goes down aborts the whole process.
            atexit.register(self.close)

    def stop(self) -> None:
        """Let the thread end when it has done what it is at; what is not worked out by then stays unknown."""
        self._closed.set()
        self._wanted.put(None)

    def close(self) -> None:
        """Let the thread end, and wait for that; blocks for up to LEAVE_WITHIN seconds."""
        self.stop()
        if self._thread is not None:
            self._thread.join(LEAVE_WITHIN)

    def settle(self, seconds: float) -> bool:
        """Wait until everything asked for is worked out; for tests and measurements."""
        return self._idle.wait(seconds)

    def nearness(self, text: str, entries: Sequence[Entry]) -> list[float] | None:
        """How near each tool is to a text, the nearest at 1; None where that is not known (yet).

        Text without blanks between its words is none that the model has learnt.
        """
        embedder = self._embedder
        if embedder is None or self.problem or any(map(words.is_unspaced, words.pieces(text))):
            return None
        if self._rows is None or self._rows[0] is not entries:
            self._rows = self._collect(entries)
        if self._rows is None:
            return None
        near = self._rows[1] @ embedder.embed([text])[0]
        best = float(near.max())
        return [float(each) / best for each in near] if best > 0 else None

    def _collect(self, entries: Sequence[Entry]) -> tuple[Sequence[Entry], Any] | None:
        import numpy

        rows = numpy.zeros((len(entries), SIZE), numpy.float32)
        known = 0
        for at, entry in enumerate(entries):
            vector = self._vectors.get(_key(entry))
            if vector is not None:
                rows[at] = vector
                known += 1
        return (entries, rows) if entries and known >= NEARLY_ALL * len(entries) else None

    def _work(self) -> None:
        try:
            self._work_out()
        finally:
            atexit.unregister(self.close)

    def _work_out(self) -> None:
        try:
            self._embedder = shared_embedder()
        except EmbeddingError as error:
            self.problem = str(error)
            logger.warning("tools are searched by words alone: %s", error)
            self._idle.set()
            return
        with contextlib.closing(_Store(self._cache)) as store:
            while True:
                entries = self._wanted.get()
                if entries is None or self._closed.is_set():
                    self._idle.set()
                    return
                new = {_key(entry): entry for entry in entries if _key(entry) not in self._vectors}
                self._vectors |= store.load(list(new))
                left = [key for key in new if key not in self._vectors]
                for start in range(0, len(left), LOAD):
                    if self._closed.is_set():
                        break
                    self._learn([(key, new[key]) for key in left[start : start + LOAD]], store)
                self._rows = None
                if self._wanted.empty():
                    self._idle.set()

    def _learn(self, tools: list[tuple[bytes, Entry]], store: _Store) -> None:
        import numpy

        embedder = self._embedder
        if embedder is None:
            return
        sums = embedder.embed([_whole(entry) for _, entry in tools])
        sums = sums + embedder.embed([_short(entry) for _, entry in tools])
        sums /= numpy.linalg.norm(sums, axis=1, keepdims=True)
        found = {key: sums[at] for at, (key, _) in enumerate(tools)}
        if not self._closed.is_set():
            store.keep(found)
        self._vectors |= found


class _Store:
    """Vectors on the disk; without a file, or where it cannot be used, they are worked out anew."""

    def __init__(self, path: Path | None) -> None:
        self._database: sqlite3.Connection | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._database = sqlite3.connect(path, isolation_level=None)
            self._database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
        except (OSError, sqlite3.Error) as error:
            logger.warning("vectors cannot be kept in %s: %s", path, error)
            self._database = None

    def load(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        import numpy

        found: dict[bytes, Any] = {}
        if self._database is None:
            return found
        try:
            for key in keys:
                row = self._database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is not None and len(row[0]) == 2 * SIZE:
                    found[key] = numpy.frombuffer(row[0], numpy.float16).astype(numpy.float32)
        except sqlite3.Error as error:
            logger.warning("kept vectors cannot be read: %s", error)
        return found

    def keep(self, vectors: dict[bytes, Any]) -> None:
        import numpy

        if self._database is None:
            return
        rows = [(key, vector.astype(numpy.float16).tobytes()) for key, vector in vectors.items()]
        try:
            self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            logger.warning("vectors cannot be kept: %s", error)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()


def _key(entry: Entry) -> bytes:
    """Under which a tool's vector is kept: by its texts and the model, wherever the tool comes from."""
    return hashlib.sha256("\0".join((MODEL, _whole(entry), _short(entry))).encode()).digest()


def _whole(entry: Entry) -> str:
    """The name and as much of the description as the model reads."""
    return f"{_name(entry.bare_name)}. {entry.hint} {entry.description}"[:TEXT]


def _short(entry: Entry) -> str:
    """The server, the name and what the first sentence says."""
    sentence, _ = first_sentence(entry.description)
    return f"{_name(entry.server)} {_name(entry.bare_name)}: {entry.title} {sentence}"[:TEXT]


def _name(identifier: str) -> str:
    return " ".join(words.split(identifier))
