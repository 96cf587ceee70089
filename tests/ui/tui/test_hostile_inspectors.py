"""Hostile text in all that inspectors show: no byte of it steers the terminal, no bracket of it is markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.catalog.stand_ins import ServerTool, join
from tests.commands.test_mcp import Steered
from tests.stage import turns, use
from tests.ui.tui.screen import screen
from tests.ui.tui.test_corpus import CORPUS, FORBIDDEN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.tui.screen import Driven

MARKUP = "x[/oops] [@click=app.quit]q[/]"
EVIL = MARKUP + "".join(
    CORPUS[name] for name in ("clipboard", "title", "clear", "C1 CSI", "bell", "bidi", "tags")
)
LINE = EVIL.replace("\n", " ")

PAGES = ("/mcp evil", "/mcp log evil", "/hooks", "/programs 1", "/context view", "/rewind", "/diff")


def hostile(directory: Path) -> dict[str, Any]:
    """The settings of a user who was given bad advice."""
    hook = {"type": "command", "command": f"printf '%s' '{LINE}' >&2; exit 1", "timeout": 5}
    rules = {"deny": [f"Bash({LINE} *)", f"Read({directory}/none)"], "allow": ["Write", "run_code"]}
    return {"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [hook]}]}, "permissions": rules}


async def test_13_and_14_nothing_that_an_inspector_shows_is_a_command_or_markup(tmp_path: Path) -> None:
    script = turns(
        [EVIL, use("Write", "toolu_1", file_path="evil.txt", content=f"{EVIL}\n")],
        use("run_code", "toolu_2", code=f"// {LINE}\nreturn {LINE!r}"),
        "The end.",
    )
    async with screen(tmp_path, script, settings=hostile(tmp_path), size=(160, 70)) as on:
        log = tmp_path / "evil.log"
        log.write_text(f"{EVIL}\n")
        servers = Steered(log=log)
        join(on.stage, [ServerTool("evil", "words", EVIL)], servers, line=LINE, error=LINE)
        await on.type(f"look {MARKUP}\n")
        await on.finished()
        shown = {page: await opened(on, page) for page in PAGES}
        assert [page for page in PAGES if "x[/oops]" not in shown[page]] == []
        assert on.app.is_running


async def opened(on: Driven, page: str) -> str:
    """Open a page, look at each row of it, and leave it; returns what it showed."""
    context = on.app.context()
    await on.app.answers.show(page, await context.registry.run(page, context))
    await on.settle()
    shown = on.shown
    await on.press("end")
    shown += on.shown
    for row in shown.split("\n"):
        assert FORBIDDEN.search(row) is None, (page, row)
    if on.app.screen is not on.app.main:
        await on.press("escape")
    return shown
