"""The user's editor gets the draft and the user's environment, but not the model's key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.errors import UsageError
from mcode.ui.editor import edit

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_editor_edits_the_draft_and_is_not_told_the_models_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "mine")
    monkeypatch.setenv("EDITOR_SETTING", "theirs")
    script = f'env > {tmp_path}/told; cat "$0" > {tmp_path}/draft; echo changed > "$0"'
    assert await edit("as it was", ["/bin/sh", "-c", script]) == "changed"
    assert (tmp_path / "draft").read_text() == "as it was\n"
    told = (tmp_path / "told").read_text()
    assert "EDITOR_SETTING=theirs" in told
    assert "ANTHROPIC_API_KEY" not in told


async def test_an_editor_that_fails_leaves_the_draft() -> None:
    with pytest.raises(UsageError, match="exit code 3; the draft is unchanged"):
        await edit("as it was", ["/bin/sh", "-c", "exit 3"])
    with pytest.raises(UsageError, match="could not be started"):
        await edit("as it was", ["/no/such/editor"])
