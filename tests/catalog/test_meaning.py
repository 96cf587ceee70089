"""The meaning of queries and tools: found where no word agrees, kept on the disk, and never waited for."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from typing_extensions import override

from mcode.catalog import embedding
from mcode.catalog.meaning import Meaning
from mcode.catalog.search import Entry, ToolIndex
from tests.catalog.stand_ins import Servers, jira, join
from tests.children import wait_until
from tests.stage import stage, turns

PATIENCE = 120.0
TOP = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    bool(embedding.missing()), reason=f"the extra `semantic` is not whole here: {embedding.missing()}"
)


@pytest.fixture(autouse=True)
def sessions_search_by_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcode.catalog.meaning.missing", embedding.missing)


def tool(name: str, description: str) -> Entry:
    return Entry(name=f"mcp__office__{name}", server="office", description=description)


SHELF = [
    tool("weather", "Tell how warm it is and whether it rains at a place."),
    tool("ledger", "Book a payment in the accounts."),
    tool("rota", "Plan who works on which shift."),
    tool("travel", "Reserve a seat on an aeroplane."),
]


def settled(cache: Path | None = None) -> tuple[ToolIndex, Meaning]:
    meaning = Meaning(cache, fewest=1)
    index = ToolIndex.build(SHELF, meaning=meaning)
    assert meaning.settle(PATIENCE)
    assert meaning.problem == ""
    return index, meaning


def test_a_tool_is_found_by_what_is_meant_where_no_word_agrees(tmp_path: Path) -> None:
    index, _ = settled(tmp_path / "vectors.db")
    assert index.search("get me a flight to Lisbon", 1).hits[0].name == "mcp__office__travel"
    assert index.search("temperature outside", 1).hits[0].name == "mcp__office__weather"


def test_until_the_vectors_are_there_words_alone_rank() -> None:
    class Never(Meaning):
        @override
        def follow(self, entries: object) -> None:
            del entries

    plain, waiting = ToolIndex.build(SHELF), ToolIndex.build(SHELF, meaning=Never())
    assert waiting.search("book a payment", 4) == plain.search("book a payment", 4)


def test_a_query_in_another_language_is_left_to_the_glossaries(tmp_path: Path) -> None:
    index, _ = settled(tmp_path / "vectors.db")
    for asked in ("ein Dokument löschen", "borrar un documento"):
        assert index.search(asked, 4) == ToolIndex.build(SHELF).search(asked, 4)


def test_a_few_tools_load_no_model() -> None:
    meaning = Meaning()
    index = ToolIndex.build(SHELF, meaning=meaning)
    assert meaning.settle(0)
    assert index.search("get me a flight to Lisbon", 1) == ToolIndex.build(SHELF).search(
        "get me a flight to Lisbon", 1
    )
    meaning.close()


def test_the_model_is_loaded_once_in_a_process() -> None:
    (_, first), (_, second) = settled(), settled()
    assert first._embedder is second._embedder  # pyright: ignore[reportPrivateUsage] -- it is memory that counts


def test_loading_the_model_reports_nothing_to_its_makers_and_leaves_nothing_at_home(tmp_path: Path) -> None:
    """The library would keep an id of the machine there, and send it, unless it is told otherwise before its import."""
    variables = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    code = "from mcode.catalog.embedding import shared_embedder; shared_embedder().embed(['hello'])"
    subprocess.run([sys.executable, "-c", code], env=variables, cwd=TOP, check=True)
    assert not list(tmp_path.iterdir())


def test_a_closed_one_is_let_go(tmp_path: Path) -> None:
    meaning = settled(tmp_path / "vectors.db")[1]
    gone = weakref.ref(meaning)
    meaning.close()
    del meaning
    gc.collect()
    assert gone() is None


def test_vectors_are_kept_and_read_again_as_they_were(tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "vectors.db"
    first, _ = settled(cache)
    database = sqlite3.connect(cache)
    assert database.execute("SELECT count(*) FROM vectors").fetchone() == (4,)
    database.close()
    again, _ = settled(cache)
    query = "reserve a seat"
    assert [hit.name for hit in first.search(query).hits] == [hit.name for hit in again.search(query).hits]


def test_a_cache_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    cache = tmp_path / "vectors.db"
    cache.write_text("not a database, and long enough to be looked at " * 100)
    index, _ = settled(cache)
    assert index.search("reserve a seat", 1).hits[0].name == "mcp__office__travel"
    assert cache.read_text().startswith("not a database")


def test_a_query_without_blanks_is_left_to_the_words() -> None:
    _, meaning = settled()
    assert meaning.nearness("查询天气", SHELF) is None


def test_tools_that_come_later_are_worked_out_as_well(tmp_path: Path) -> None:
    index, meaning = settled(tmp_path / "vectors.db")
    index.replace_server(
        "garden", [Entry("mcp__garden__water", "garden", description="Irrigate the plants.")]
    )
    index.search("anything", 1)
    assert meaning.settle(PATIENCE)
    assert index.search("give the flowers a drink", 1).hits[0].name == "mcp__garden__water"


def test_a_model_that_is_not_the_known_one_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    package, name, _ = embedding._FILES["model"]
    monkeypatch.setitem(embedding._FILES, "model", (package, name, "0" * 64))
    with pytest.raises(embedding.EmbeddingError, match="not the file that mcode knows"):
        embedding.Embedder()
    embedding._loaded.cache_clear()
    meaning = Meaning(fewest=1)
    index = ToolIndex.build(SHELF, meaning=meaning)
    meaning.settle(PATIENCE)
    assert "not the file" in meaning.problem
    assert index.search("book a payment", 1).hits[0].name == "mcp__office__ledger"


async def test_the_threads_end_with_the_session_even_in_the_middle_of_their_work(tmp_path: Path) -> None:
    def own() -> set[threading.Thread]:
        return {
            each for each in threading.enumerate() if each.name.startswith(("tool search", "tool meanings"))
        }

    before = own()
    async with stage(tmp_path, turns("x")) as here:
        join(here, jira(), Servers())
        await here.agent.builder.shelf.finder.warm()
        begun = {each.name for each in own() - before}
    assert any(name.startswith("tool meanings") for name in begun), "there was a thread to end"
    assert wait_until(lambda: not own() - before)
