"""Textual's TextArea, imported without tree-sitter: the prompt highlights no language, and the first frame waits
for nothing that it does not need."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.widgets import TextArea
else:
    _NAME = "tree_sitter"
    _modules: dict[str, Any] = sys.modules
    _loaded_before = _NAME in _modules
    if not _loaded_before:
        _modules[_NAME] = None  # an import of it fails, and Textual does without
    try:
        from textual.widgets import TextArea
    finally:
        if not _loaded_before:
            del _modules[_NAME]

__all__ = ["TextArea"]
