"""What an editor's prompt does that is a command: its answer is text, and what needs a terminal says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcode.errors import UsageError
from mcode.ui.acp.session import EditorSession
from tests.commands.typing import context_of
from tests.stage import stage, turns

if TYPE_CHECKING:
    from pathlib import Path

    from mcode.jsontext import JsonObject
    from tests.stage import Stage


class _Silent:
    """An editor that answers nothing."""

    takes_forms = False

    async def request_permission(self, call: JsonObject, options: list[JsonObject]) -> str | None:
        del call, options
        return None

    async def fill_in(self, message: str, fields: JsonObject) -> JsonObject | None:
        del message, fields
        return None


class _Editor:
    """A session of an editor over a stage; `said` is what the editor was shown since the last prompt."""

    def __init__(self, session: Stage) -> None:
        self.said = ""
        self.session = EditorSession(context_of(session), _Silent(), self._take)

    async def _take(self, update: JsonObject) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            self.said += update["content"]["text"]

    async def prompt(self, text: str) -> str:
        self.said = ""
        assert await self.session.prompt([{"type": "text", "text": text}]) == "end_turn"
        return self.said


async def test_commands_of_an_editor_are_answered_in_text_and_ask_no_model(tmp_path: Path) -> None:
    async with stage(tmp_path, turns("First.")) as here:
        editor = _Editor(here)
        assert "no command /tols" in await editor.prompt("/tols")
        assert "Did you mean /tools?" in editor.said
        assert "Did you mean view?" in await editor.prompt("/context vew")
        assert here.client.requests == []
        assert await editor.prompt("hello") == "First."
        assert await editor.prompt("/copy") == "First."
        assert await editor.prompt("/new") == "/new is for a session in the terminal; nothing was done."
        said = await editor.prompt("/rewind 1 conversation")
        assert "nothing was done" not in said
        assert said
        assert "First." not in str(here.agent.transcript())
        with pytest.raises(UsageError, match="no text and no image"):
            await editor.prompt(" \n")
        assert len(here.client.requests) == 1
        await editor.session.close()
