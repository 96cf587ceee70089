"""NotebookEdit: replace, insert or delete one cell of a Jupyter notebook."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from mcode.builtins.change import Plan, change_file, change_result, compare_bytes, look_at, require_fresh
from mcode.builtins.content import decode, encode, require_encodable
from mcode.builtins.file_tool import FileTool
from mcode.builtins.notebook import CellChange, Notebook
from mcode.builtins.paths import resolve
from mcode.builtins.refusal import UNCHANGED, RefusalError
from mcode.errors import McodeError
from mcode.tool import Effect, Placement, Preview, object_schema

if TYPE_CHECKING:
    from mcode.builtins.handles import Snapshot
    from mcode.jsontext import JsonObject
    from mcode.tool import ToolResult, ToolServices, Workspace


class NotebookEdit(FileTool):
    """Changes one cell. Its data is {path, added, removed}, lines of the notebook's JSON text."""

    name = "NotebookEdit"
    effects = frozenset({Effect.WRITES_FILES})
    placement = Placement.DEFERRED
    path_argument = "notebook_path"
    description_file = "notebook_edit"
    input_schema = object_schema(
        {
            "notebook_path": {"type": "string"},
            "cell_id": {
                "type": "string",
                "description": "The cell's id, or cell-N for its place from 0. insert: the cell to insert behind; "
                "left out: at the beginning",
            },
            "new_source": {"type": "string", "description": "The cell's whole new text; not for delete"},
            "cell_type": {
                "enum": ["code", "markdown"],
                "description": "Default: what the cell is; code for a new one",
            },
            "edit_mode": {"enum": ["replace", "insert", "delete"], "description": "Default replace"},
        },
        required=["notebook_path"],
    )
    input_examples: tuple[JsonObject, ...] = (
        {
            "notebook_path": "analysis/load.ipynb",
            "cell_id": "3f9c2a1e",
            "new_source": "import pandas as pd\n\nframe = pd.read_csv('data.csv')",
        },
        {
            "notebook_path": "analysis/load.ipynb",
            "edit_mode": "insert",
            "cell_id": "cell-0",
            "cell_type": "markdown",
            "new_source": "## Cleaning",
        },
        {"notebook_path": "analysis/load.ipynb", "edit_mode": "delete", "cell_id": "cell-4"},
    )

    @override
    async def preview(self, arguments: JsonObject, workspace: Workspace) -> Preview:
        path, change = Path(arguments["notebook_path"]), _change(arguments)
        title = self.card_name(arguments, workspace)
        where = f"cell {change.cell}" if change.cell else "the beginning"
        body = (
            f"In {path} {change.mode} {'behind ' if change.mode == 'insert' and change.cell else ''}{where}"
        )
        body = body if change.mode == "delete" else f"{body}:\n{change.source}"
        return Preview(title, body, await asyncio.to_thread(_preview_diff, path, change, title))

    @override
    async def work(self, path: Path, arguments: JsonObject, services: ToolServices) -> ToolResult:
        change = _change(arguments)
        if path.suffix != ".ipynb":
            raise RefusalError(f"{path} is not a notebook (.ipynb). {UNCHANGED} Use Edit for other files.")
        if change.mode != "delete" and "new_source" not in arguments:
            raise RefusalError(f"{change.mode} needs new_source, the cell's whole text. {UNCHANGED}")

        def make_plan(target: Path, before: Snapshot | None) -> Plan:
            if before is None:
                raise RefusalError(
                    f"{path} does not exist. {UNCHANGED} Check the path; Write makes a new file."
                )
            require_fresh(self.files, target, before, lambda _: "Read it again for its present cells.")
            return _plan(before, change)

        return change_result(
            await change_file(path, self.files, services, make_plan), path, services.workspace
        )


def _change(arguments: JsonObject) -> CellChange:
    return CellChange(
        arguments.get("edit_mode", "replace"),
        arguments.get("cell_id", ""),
        arguments.get("new_source", "").replace("\r\n", "\n"),
        arguments.get("cell_type", ""),
    )


def _plan(before: Snapshot, change: CellChange) -> Plan:
    content = decode(before.raw)
    require_encodable(content.encoding, change.source)
    text, told = Notebook(content.exact).apply(change)
    return Plan(encode(content.encoding, text), f"changed: {told}")


def _preview_diff(path: Path, change: CellChange, title: str) -> str | None:
    """The diff that the call would make; None where it would fail. Changes nothing."""
    try:
        before = look_at(resolve(path))
        return compare_bytes(before, _plan(before, change).new, title).text or None if before else None
    except (McodeError, OSError):
        return None
