"""Rules for the widgets of the screen, checked over their source: no markup from texts, nothing that never rests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import mcode.ui.tui

FILES = sorted(Path(mcode.ui.tui.__file__).parent.glob("*.py"))

BANNED = {"Markdown", "MarkdownViewer", "RichLog", "Log", "LoadingIndicator", "Collapsible"}
"""Widgets of Textual's that grow with the session, or parse what they show."""

CLOCKS = {"activity.py"}
"""The only places that something wakes by the clock."""


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    """True for a plain string, which Textual would read as markup."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_text_is_parsed_as_markup_and_nothing_banned_is_used(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        where = f"{file.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual"):
            assert not BANNED & {alias.name for alias in node.names}, where
        if isinstance(node, ast.Call):
            called = _name(node.func)
            assert called not in {"notify", "from_markup"}, where
            if called in {"Static", "Label", "Button"}:
                plain = {each.arg: ast.unparse(each.value) for each in node.keywords}
                assert plain.get("markup") == "False", where
            if called == "update" and node.args:
                assert not _is_text(node.args[0]), where
            if called == "set_interval":
                assert file.name in CLOCKS, where
        if isinstance(node, ast.Assign):
            named = {_name(target) for target in node.targets}
            if named & {"border_title", "border_subtitle"}:
                assert not _is_text(node.value), where
            if named & {"DEFAULT_CSS", "CSS"} and isinstance(node.value, ast.Constant):
                assert not re.search(r"(^|[\s,>])\*\s*[{,>]", str(node.value.value)), where
