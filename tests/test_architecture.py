"""The plan of the house, checked over every file of the package."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mcode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(mcode.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

ROWS = (
    ("jsontext", "errors", "demo"),
    ("call", "tool", "events", "text", "masking", "files", "images", "process", "logs", "streams", "threads"),
    ("model", "config"),
    ("catalog", "session"),
    ("permissions", "mcp", "builtins"),
    ("pipeline",),
    ("agent", "run_code"),
    ("commands",),
    ("ui",),
    ("wiring",),
    ("start", "subcommands"),
    ("command_line",),
    ("cli",),
    ("__main__",),
)
"""Rooms from the bottom up. A room imports from rows beneath it only."""

BOTTOM = 2
"""The rows from the bottom up whose rooms may import others of their own row, without circles."""

SLOW: dict[str, str | tuple[str, ...] | None] = {
    "anthropic": "mcode/model/anthropic.py",
    "httpx2": ("mcode/model/anthropic.py", "mcode/mcp/", "mcode/builtins/web_fetch.py"),
    "jsonschema": "mcode/pipeline/validate.py",
    "snowballstemmer": "mcode/catalog/words.py",
    "pathspec": None,
    "keyring": None,
    "prompt_toolkit": "mcode/ui/line/",
    "rich": "mcode/ui/",
    "textual": "mcode/ui/tui/",
    "acp": "mcode/ui/acp/server.py",
    "PIL": "mcode/images/scaling.py",
    "mcp": "mcode/mcp/",
    "mcp_types": "mcode/mcp/",
    "numpy": "mcode/catalog/",
    "onnxruntime": "mcode/catalog/embedding.py",
    "tokenizers": "mcode/catalog/embedding.py",
    "tree_sitter": "mcode/permissions/",
    "tree_sitter_bash": "mcode/permissions/",
    "turbohtml": "mcode/builtins/web_page.py",
}
"""Slow libraries, and where they may be imported (beginnings of paths); None: in one file, whichever."""


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"), str(file))


@pytest.fixture(scope="module", autouse=True)
def no_tree_outlives_these_tests() -> Iterator[None]:
    yield
    tree_of.cache_clear()


def assert_none(faults: Iterable[str]) -> None:
    """Show all of them, not the first alone."""
    found = list(faults)
    assert not found, "\n".join(found)


def place(file: Path) -> str:
    return str(file.relative_to(PACKAGE.parent))


def room_of(module: str) -> str:
    """The room of `mcode.x.y`: x; the files of processes are one room by their first word."""
    parts = module.split(".")
    if len(parts) == 1:
        return ""
    return parts[1].split("_")[0] if parts[1].startswith("process") else parts[1]


@cache
def imports_of(file: Path) -> list[tuple[str, int, bool]]:
    """Every import of a file, wherever it hides: module, line, whether it stands at the top level."""
    top = set(map(id, tree_of(file).body))
    found: list[tuple[str, int, bool]] = []
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "mcode" else [module]
            found += [(name, node.lineno, id(node) in top) for name in names]
    return found


def home_of(file: Path) -> str:
    """The room that a file is in; empty for the package's own `__init__.py`, which is in none."""
    words = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return "" if words == ("mcode", "__init__") else room_of(".".join(words))


def row_of(room: str) -> int:
    return next((index for index, row in enumerate(ROWS) if room in row), -1)


def upward_imports(file: Path) -> Iterator[str]:
    """What is wrong with the imports of a file."""
    own = home_of(file)
    if not own:
        return
    if row_of(own) < 0:
        yield f"{place(file)} is in no room of the plan"
    for module, line, _ in imports_of(file):
        if not module.startswith("mcode.") or module == "mcode.__version__":
            continue
        other = room_of(module)
        below = row_of(other) < row_of(own)
        neighbours = row_of(other) == row_of(own) < BOTTOM
        if other != own and not below and not neighbours:
            yield f"{place(file)}:{line} imports {module}, which is not beneath {own}"


def test_imports_point_down() -> None:
    assert_none(fault for file in FILES for fault in upward_imports(file))


def test_the_rooms_of_the_bottom_rows_do_not_import_in_circles() -> None:
    graph: dict[str, set[str]] = {room: set() for row in ROWS[:BOTTOM] for room in row}
    for file in FILES:
        if (own := home_of(file)) in graph:
            graph[own] |= {
                room_of(module) for module, _, _ in imports_of(file) if module.startswith("mcode.")
            }
    assert "files" in graph["process"], "the graph has no edges between rooms of several files"
    while graph:
        free = [room for room, needs in graph.items() if not (needs - {room}) & graph.keys()]
        assert free, f"these import one another in a circle: {sorted(graph)}"
        for room in free:
            del graph[room]


def what_is_long(file: Path) -> Iterator[str]:
    """The file and its functions, where they have too many lines."""
    lines = file.read_text("utf-8").count("\n")
    if lines > 400:
        yield f"{place(file)} has {lines} lines"
    for node in ast.walk(tree_of(file)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > 60:
                yield f"{place(file)}:{node.lineno} {node.name} has {size} lines"


def test_files_and_functions_stay_small() -> None:
    assert_none(fault for file in FILES for fault in what_is_long(file))


def test_every_file_says_what_it_is_for() -> None:
    assert_none(f"{place(file)} has no docstring" for file in FILES if not ast.get_docstring(tree_of(file)))


RUNNERS = frozenset({"command", "copy", "registry", "search", "session"})
"""What may be told to run with two things, as the body of a tool is: none of these names is a tool's."""

HANDED_ON = frozenset({"pipeline", "decided"})
"""Whose `run` may be mentioned without being called: the road, which is no tool, and a field of a decision."""


def receiver_of(node: ast.Attribute) -> str:
    """The last name before the attribute: `registry` of `self._registry(x).run`."""
    return ast.unparse(node.value).split("(")[0].split(".")[-1].strip("_").lower()


def may_be_a_body(call: ast.Call) -> bool:
    """A body is given two things, arguments and services, however they are handed over."""
    unknown = any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    )
    return unknown or len(call.args) + len(call.keywords) == 2


def test_nobody_but_execute_calls_the_body_of_a_tool() -> None:
    for file in FILES:
        called: set[int] = set()
        for node in ast.walk(tree_of(file)):  # a call comes before what it calls
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called.add(id(node.func))
                receiver = receiver_of(node.func)
                if node.func.attr == "run" and may_be_a_body(node) and receiver not in RUNNERS:
                    assert (place(file), receiver) == ("mcode/pipeline/execute.py", "tool"), (
                        f"{place(file)}:{node.lineno}"
                    )
                if node.func.attr == "execute" and receiver == "executor":
                    assert place(file) == "mcode/pipeline/run.py", f"{place(file)}:{node.lineno}"
            elif isinstance(node, ast.Attribute) and node.attr == "run" and id(node) not in called:
                assert receiver_of(node) in HANDED_ON, f"{place(file)}:{node.lineno} hands on a body"


def test_nobody_but_execute_makes_what_a_body_needs_to_run() -> None:
    """A body wants ToolServices; whoever cannot make them cannot run it."""
    for file in FILES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                methods = {
                    each.name
                    for each in node.body
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                }
                if {"progress", "spill_path", "keep_bytes"} <= methods:
                    assert place(file) in {"mcode/tool.py", "mcode/pipeline/execute.py"}, (
                        f"{place(file)} {node.name}"
                    )


def test_execute_calls_it_exactly_once() -> None:
    source = (PACKAGE / "pipeline/execute.py").read_text("utf-8")
    assert source.count("await tool.run(") == 1


def test_slow_libraries_are_imported_late_and_in_one_place() -> None:
    seen: dict[str, set[str]] = {}
    for file in FILES:
        for module, line, top in imports_of(file):
            library = module.split(".")[0]
            if library not in SLOW:
                continue
            allowed = SLOW[library]
            assert allowed is None or place(file).startswith(allowed), (
                f"{place(file)}:{line} imports {library}"
            )
            assert not top or library in {"prompt_toolkit", "rich", "textual"}, (
                f"{place(file)}:{line} imports {library} early"
            )
            seen.setdefault(library, set()).add(place(file))
    for library in ("pathspec", "keyring"):
        assert len(seen.get(library, ())) <= 1, f"{library} is imported in {seen[library]}"


def modules_after(*arguments: str) -> set[str]:
    """Names of the modules that `mcode ARGUMENTS` has imported when it ends."""
    program = (
        "import sys, json\n"
        f"sys.argv = ['mcode', *{list(arguments)!r}]\n"
        "from mcode.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr))


HEAVY = {
    "anthropic",
    "mcp",
    "textual",
    "prompt_toolkit",
    "rich",
    "pydantic",
    "httpx2",
    "jsonschema",
    "asyncio",
}


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_import_nothing_slow(argument: str) -> None:
    assert not modules_after(argument) & HEAVY


def test_settings_load_without_pydantic_or_any_third_party_library() -> None:
    program = "import sys, mcode.config.load, json; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(json.loads(ran.stdout)) & (HEAVY - {"asyncio"})


BROAD_CATCHES = 7
"""Places that may catch every exception: the boundaries of tools, hooks and screens, each of which logs it."""


def test_broad_catches_stand_only_at_the_boundaries_and_give_a_reason() -> None:
    found: list[str] = []
    for file in FILES:
        lines = file.read_text("utf-8").splitlines()
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "everything"
                if caught in {"Exception", "BaseException", "everything"}:
                    assert " -- " in lines[node.lineno - 1], f"{place(file)}:{node.lineno} gives no reason"
                    found.append(f"{place(file)}:{node.lineno}")
            elif isinstance(node, ast.Call) and ast.unparse(node).endswith(
                ("suppress(Exception)", "suppress(BaseException)")
            ):
                assert " -- " in lines[node.lineno - 1], f"{place(file)}:{node.lineno} gives no reason"
                found.append(f"{place(file)}:{node.lineno}")
    assert len(found) <= BROAD_CATCHES, found


def test_suppressions_give_a_reason() -> None:
    for file in FILES:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if "noqa" in line or "pyright: ignore" in line:
                assert " -- " in line, f"{place(file)}:{number} suppresses a check without saying why"
