"""A call that will be denied hears of the denial, whatever else is amiss with it: advice would lead nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcode.wiring.options import Options
from tests.stage import stage, turns, use

if TYPE_CHECKING:
    from pathlib import Path

HOOK = {
    "PreToolUse": [
        {"matcher": "Write", "hooks": [{"type": "command", "command": "echo not today >&2; exit 2"}]}
    ]
}

DENIALS: dict[str, tuple[dict[str, Any], str, str]] = {
    "a rule": ({"permissions": {"deny": ["Edit(kept/**)"]}}, "default", "`Edit(kept/**)`"),
    "mode plan": ({}, "plan", "mode plan only reads"),
    "mode dontAsk": ({}, "dontAsk", "mode dontAsk denies"),
    "a hook": ({"hooks": HOOK}, "default", "not today"),
    "a setting": ({"permissions": {"denyInsteadOfPrompting": True}}, "default", "denyInsteadOfPrompting"),
}


@pytest.mark.parametrize("denial", DENIALS)
async def test_a_file_that_was_never_read_is_denied_by_its_reason(denial: str, tmp_path: Path) -> None:
    settings, mode, why = DENIALS[denial]
    text = await told(tmp_path, settings, mode, attached=True)
    assert why in text
    assert "has not been read" not in text


async def test_where_nobody_can_be_asked_that_is_the_reason(tmp_path: Path) -> None:
    assert "Nobody can be asked in this run" in await told(tmp_path, {}, "default", attached=False)


@pytest.mark.parametrize("settings", [{}, {"permissions": {"allow": ["Edit(kept/**)"]}}])
async def test_where_it_may_run_the_file_has_to_be_read_first(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    text = await told(tmp_path, settings, "default", attached=True)
    assert "has not been read in this session" in text


async def told(directory: Path, settings: dict[str, Any], mode: str, *, attached: bool) -> str:
    """What the model hears of a Write to a file that it has never read; the user would say yes."""
    kept = directory / "project" / "kept" / "a.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("old\n")
    script = turns(use("Write", file_path="kept/a.txt", content="new\n"), "done")
    async with stage(directory, script, settings=settings, options=Options(mode=mode)) as opened:
        if attached:
            opened.answer("once")
        await opened.say("write it")
        assert opened.result().is_error
        assert kept.read_text() == "old\n"
        return opened.result().text
