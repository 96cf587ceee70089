"""The search over the session's own catalogue: an index that follows every change of it, kept by one thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcode.catalog.catalog import Catalog
    from mcode.catalog.entry import Entry, SearchResult
    from mcode.catalog.meaning import Meaning
    from mcode.catalog.search import ToolIndex
    from mcode.tool import Tool


class Finder:
    """Searches the tools as they are at the moment of the search. Only its one thread touches the index."""

    def __init__(
        self,
        catalog: Catalog,
        entry_of: Callable[[Tool], Entry],
        apart: frozenset[str],
        vectors: Path | None = None,
    ) -> None:
        """`apart` names tools that are never found, such as the search itself. `vectors`: where meanings are kept."""
        self._vectors = vectors
        self._catalog = catalog
        self._entry_of = entry_of
        self._apart = apart
        self._index: ToolIndex | None = None
        self._meaning: Meaning | None = None
        self._thread = ThreadPoolExecutor(1, "tool search")
        self._stale = {tool.source for tool in catalog}
        self._forget = catalog.listen(self._stale.add)

    async def warm(self) -> None:
        """Build the index now, so that the first search need not."""
        await self.search("", 0)

    async def search(self, query: str, k: int, server: str | None = None) -> SearchResult:
        """The tools that fit a query best; see `ToolIndex.search`."""
        stale = set(self._stale)
        self._stale.clear()
        tools = tuple(self._catalog) if stale else ()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._search, tools, stale, query, k, server)

    async def close(self) -> None:
        """End both threads; nothing can be searched any more."""
        self._forget()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        if self._meaning is not None:
            self._meaning.stop()
        self._thread.shutdown(cancel_futures=True)
        if self._meaning is not None:  # also one that a search has begun meanwhile
            self._meaning.close()

    def _search(
        self, tools: tuple[Tool, ...], stale: set[str], query: str, k: int, server: str | None
    ) -> SearchResult:
        from mcode.catalog.meaning import Meaning
        from mcode.catalog.search import ToolIndex

        if self._index is None:
            self._meaning = Meaning(self._vectors)
            self._index = ToolIndex(meaning=self._meaning)
        if stale:
            entries: dict[str, list[Entry]] = {source: [] for source in stale}
            for tool in tools:
                if tool.source in stale and tool.name not in self._apart:
                    entries[tool.source].append(self._entry_of(tool))
            for source, found in entries.items():
                self._index.replace_server("" if source == "core" else source, found)
        return self._index.search(query, k, server)
