"""NotebookEdit on real notebooks: one cell changes, every other byte stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mcode.builtins.notebook_edit import NotebookEdit
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.tool import ToolResult
    from tests.builtins.conftest import Session


def notebook(**more: Any) -> dict[str, Any]:
    return {
        "cells": [
            {"cell_type": "markdown", "id": "aa", "metadata": {}, "source": ["# Größe\n", "text"]},
            {
                "cell_type": "code",
                "execution_count": 3,
                "id": "bb",
                "metadata": {"tags": ["x"]},
                "outputs": [{"name": "stdout", "output_type": "stream", "text": ["1\n"]}],
                "source": ["print(1)"],
            },
            {
                "cell_type": "code",
                "execution_count": None,
                "id": "cc",
                "metadata": {},
                "outputs": [],
                "source": [],
            },
        ],
        "metadata": {"kernelspec": {"name": "python3"}, "odd": 1e400, "float": 0.10},
        "nbformat": 4,
        "nbformat_minor": 5,
        **more,
    }


def layouts() -> dict[str, str]:
    plain = notebook()
    del plain["metadata"]["odd"]
    return {
        "nbformat": json.dumps(plain, indent=1, ensure_ascii=False, sort_keys=True) + "\n",
        "no final newline, two blanks": json.dumps(plain, indent=2, ensure_ascii=False),
        "tabs": json.dumps(plain, indent="\t", ensure_ascii=False) + "\n",
        "escapes": json.dumps(plain, indent=1) + "\n",
        "crlf": json.dumps(plain, indent=1, ensure_ascii=False).replace("\n", "\r\n"),
        "one line": json.dumps(plain),
        "compact": json.dumps(plain, separators=(",", ":"), ensure_ascii=False),
        "odd but valid": '{"nbformat":4, "nbformat_minor" : 5,\n\n "cells": [ {"id":"aa","cell_type":"markdown",'
        '"source":"one"},\n\n  {"id":"bb","cell_type":"code","outputs":[],"source":["x"], "execution_count":null},'
        '{"id":"cc","cell_type":"raw","source":[]}] , "metadata" : {"n": 1.50e3, "dup": 1, "dup": 2}}\n\n',
    }


LAYOUTS = layouts()


async def change(session: Session, **arguments: Any) -> ToolResult:
    return await session.call(NotebookEdit(session.files), notebook_path="n.ipynb", **arguments)


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_replacing_a_source_changes_nothing_but_that_source(session: Session, layout: str) -> None:
    text = LAYOUTS[layout]
    place = session.put("n.ipynb", text)
    await session.read("n.ipynb")
    done = await change(session, cell_id="bb", new_source='a = "ü"\nb')
    assert done.failure is None, done.text
    new = place.read_bytes().decode()
    before, after = json.loads(text), json.loads(new)
    assert after["cells"][1]["source"] == ['a = "ü"\n', "b"]
    assert after["cells"][1]["outputs"] == []
    assert after["cells"][1]["execution_count"] is None
    assert after["cells"][1].get("metadata") == before["cells"][1].get("metadata")
    left = '"one"' if layout == "odd but valid" else 'text"'
    assert new[: new.index(left)] == text[: text.index(left)]
    assert new.endswith(text[text.index('"cc"') :])
    assert ("\r\n" in new) == ("\r\n" in text)
    assert new.replace("\r\n", "").count("\n") == 0 or layout != "crlf"
    if layout == "escapes":
        assert new.isascii()


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_what_is_inserted_and_deleted_again_leaves_the_file_as_it_was(
    session: Session, layout: str
) -> None:
    text = LAYOUTS[layout]
    place = session.put("n.ipynb", text)
    await session.read("n.ipynb")
    for where, number in ((None, 0), ("aa", 1), ("cc", 3)):
        extra = {"cell_id": where} if where else {}
        done = await change(
            session, edit_mode="insert", cell_type="markdown", new_source="## ü\nnew", **extra
        )
        assert done.failure is None, done.text
        cells = json.loads(place.read_bytes())["cells"]
        assert cells[number]["source"] == ["## ü\n", "new"]
        assert len(cells[number]["id"]) == 8
        gone = await change(session, edit_mode="delete", cell_id=cells[number]["id"])
        assert gone.failure is None, gone.text
        assert place.read_bytes().decode() == text


async def test_a_list_may_become_empty_and_grow_again(session: Session) -> None:
    place = session.put(
        "n.ipynb", json.dumps(notebook(cells=[notebook()["cells"][0]], metadata={}), indent=1)
    )
    await session.read("n.ipynb")
    await change(session, edit_mode="delete", cell_id="cell-0")
    assert json.loads(place.read_bytes())["cells"] == []
    await change(session, edit_mode="insert", new_source="x = 1")
    after = place.read_text()
    assert json.loads(after)["cells"][0]["cell_type"] == "code"
    assert after == json.dumps(json.loads(after), indent=1)


async def test_a_cell_becomes_one_of_another_kind(session: Session) -> None:
    place = session.put("n.ipynb", LAYOUTS["nbformat"])
    await session.read("n.ipynb")
    done = await change(session, cell_id="bb", cell_type="markdown", new_source="now text")
    assert "replaced, which was code" in done.text
    cell = json.loads(place.read_bytes())["cells"][1]
    assert cell == {"cell_type": "markdown", "id": "bb", "metadata": {"tags": ["x"]}, "source": ["now text"]}
    await change(session, cell_id="bb", cell_type="code", new_source="1")
    assert json.loads(place.read_bytes())["cells"][1]["outputs"] == []


async def test_a_source_that_is_one_text_stays_one(session: Session) -> None:
    place = session.put("n.ipynb", LAYOUTS["odd but valid"])
    await session.read("n.ipynb")
    await change(session, cell_id="aa", new_source="a\nb")
    assert place.read_text() == LAYOUTS["odd but valid"].replace('"one"', r'"a\nb"')


async def test_the_stale_guard_and_the_undo_store_work_as_for_edit(session: Session) -> None:
    place = session.put("n.ipynb", LAYOUTS["nbformat"])
    never = await change(session, cell_id="bb", new_source="x")
    assert "has not been read in this session" in never.text
    await session.read("n.ipynb")
    place.write_text(LAYOUTS["escapes"])
    stale = await change(session, cell_id="bb", new_source="x")
    assert "file changed on disk since it was read" in stale.text
    assert place.read_text() == LAYOUTS["escapes"]
    assert session.services.kept == []
    await session.read("n.ipynb")
    await change(session, cell_id="bb", new_source="x")
    assert [kept[1] for kept in session.services.kept] == [LAYOUTS["escapes"].encode()]
    assert (await change(session, cell_id="bb", new_source="y")).failure is None


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (
            LAYOUTS["nbformat"],
            {"cell_id": "zz", "new_source": "x"},
            "no cell 'zz' in the notebook. Nothing was",
        ),
        (LAYOUTS["nbformat"], {"cell_id": "cell-3", "new_source": "x"}, "Cells: aa, bb, cc."),
        (LAYOUTS["nbformat"], {"cell_id": "aa"}, "replace needs new_source"),
        (LAYOUTS["nbformat"], {"new_source": "x"}, "replace needs cell_id"),
        ("{", {"cell_id": "aa", "new_source": "x"}, "not valid JSON"),
        ("", {"cell_id": "aa", "new_source": "x"}, "not valid JSON"),
        ('{"worksheets": []}', {"cell_id": "aa", "new_source": "x"}, "not a notebook of format 4"),
        ("[]", {"cell_id": "aa", "new_source": "x"}, "not a notebook of format 4"),
        ('{"cells": [1]}', {"cell_id": "aa", "new_source": "x"}, "a cell that is not an object"),
        (
            '{"cells": ' + "[" * 100_000 + "]" * 100_000 + "}",
            {"cell_id": "a", "new_source": "x"},
            "nested too",
        ),
        (
            '{"cells": [{"id": "a", "source": []}, {"id": "a"}]}',
            {"cell_id": "a", "new_source": "x"},
            "2 cells have the id",
        ),
        (LAYOUTS["nbformat"], {"cell_id": "aa", "new_source": "\ud800"}, "U+D800"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_the_file_stays(
    session: Session, content: str, arguments: dict[str, Any], said: str
) -> None:
    place = session.put("n.ipynb", content)
    await session.read("n.ipynb")
    result = await change(session, **arguments)
    assert result.failure is not None
    assert said in result.text
    assert place.read_text() == content


async def test_other_files_are_for_edit_and_missing_ones_for_write(session: Session) -> None:
    session.put("a.json", "{}")
    await session.read("a.json")
    wrong = await session.call(
        NotebookEdit(session.files), notebook_path="a.json", cell_id="x", new_source=""
    )
    assert "is not a notebook (.ipynb)" in wrong.text
    assert "does not exist" in (await change(session, cell_id="x", new_source="")).text


async def test_a_notebook_is_changed_with_approval_and_a_rule_for_edit_covers_it(tmp_path: Path) -> None:
    script = turns(
        [use("Read", "r", file_path="n.ipynb")],
        "read",
        [use("NotebookEdit", "n", notebook_path="n.ipynb", cell_id="bb", new_source="print(2)")],
        "done",
    )
    rules = {"permissions": {"allow": ["Edit(*.ipynb)"]}}
    async with stage(tmp_path, script, settings=rules) as here:
        (here.project / "n.ipynb").write_text(LAYOUTS["nbformat"])
        await here.say("read")
        await here.say("change")
        assert here.result().text.startswith(
            "n.ipynb changed: cell bb (code) replaced; its outputs were cleared"
        )
        assert here.result().diff is not None
        assert "print(2)" in (here.project / "n.ipynb").read_text()
