"""The history file."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from mcode.masking import Masker
from mcode.ui import history as history_module
from mcode.ui.history import HistoryFile


def open_history(path: Path, directory: str = "/w", complaints: list[str] | None = None) -> HistoryFile:
    said = complaints if complaints is not None else []
    return HistoryFile(path, Path(directory), Masker(), said.append)


async def test_entries_come_back_oldest_first_each_once_for_their_own_folder(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history.jsonl"
    here, there = open_history(path), open_history(path, "/elsewhere")
    for text in ("one", "two\nlines", "one"):
        here.add(text)
    there.add("other")
    await here.finish()
    await there.finish()
    assert open_history(path).load() == ["two\nlines", "one"]
    assert open_history(path, "/elsewhere").load() == ["other"]


async def test_only_so_many_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    kept = history_module._KEPT
    history = open_history(path)
    for number in range(kept + 20):
        history.add(str(number))
    await history.finish()
    assert len(path.read_text().splitlines()) == kept
    assert open_history(path).load()[0] == "20"


async def test_j_06_lines_that_cannot_be_read_are_kept_aside_before_the_file_is_written_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"text": "good", "directory": "/w"}\n{"text": "to\n')
    history = open_history(path)
    assert history.load() == ["good"]
    history.add("new")
    await history.finish()
    assert open_history(path).load() == ["good", "new"]
    kept = next(tmp_path.glob("history.jsonl.bad-*"))
    assert '{"text": "to' in kept.read_text()


async def test_j_06_the_state_before_is_kept_as_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for text in ("one", "two"):
        history = open_history(path)
        history.add(text)
        await history.finish()
    assert [json.loads(line)["text"] for line in Path(f"{path}.bak").read_text().splitlines()] == ["one"]


async def test_a_history_that_cannot_be_written_is_complained_of_once(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    complaints: list[str] = []
    history = open_history(blocked / "history.jsonl", complaints=complaints)
    assert history.load() == []
    history.add("one")
    await history.finish()
    history.add("two")
    await history.finish()
    assert len(complaints) == 1
    assert "Not a directory" in complaints[0]


def test_j_06_several_sessions_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    program = (
        "import asyncio, sys, pathlib\n"
        "from mcode.masking import Masker\n"
        "from mcode.ui.history import HistoryFile\n"
        "async def main():\n"
        "    history = HistoryFile(pathlib.Path(sys.argv[1]), pathlib.Path('/w'), Masker(), print)\n"
        "    for number in range(10):\n"
        "        history.add(f'{sys.argv[2]} {number}')\n"
        "        await asyncio.sleep(0)\n"
        "    await history.finish()\n"
        "asyncio.run(main())\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in ("a", "b", "c")]
    assert [process.wait(30) for process in running] == [0, 0, 0]
    assert sorted(open_history(path).load()) == sorted(
        f"{name} {number}" for name in "abc" for number in range(10)
    )


async def test_an_entry_at_the_end_is_written_by_finish(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = open_history(path)
    history.add("sent")
    await asyncio.sleep(0)
    history.add_at_end("draft")
    await history.finish()
    assert open_history(path).load() == ["sent", "draft"]
