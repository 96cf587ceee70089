"""One session of an editor: its prompts become turns, what happens becomes updates."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from mcode.commands.registry import BoundCommands, without_terminal
from mcode.errors import UsageError
from mcode.text import Kind, clean
from mcode.ui.acp.asking import Questions, trusts_folder
from mcode.ui.acp.updates import Updates

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcode.commands.host import CommandContext
    from mcode.events import Event
    from mcode.jsontext import JsonObject
    from mcode.ui.acp.asking import Asker

STOP_REASONS = {"interrupted": "cancelled", "limit": "max_turn_requests", "refusal": "refusal"}
"""How the protocol calls the ends of a turn; any other is `end_turn`, and an error is told in words before it."""

MODES = ("default", "acceptEdits", "plan", "dontAsk")


class EditorSession:
    """Sends updates in their order, one after the other, and takes the editor's requests."""

    def __init__(
        self, context: CommandContext, asker: Asker, send: Callable[[JsonObject], Awaitable[None]]
    ) -> None:
        """`send` sends one update to the editor."""
        self._context = context
        self._asker = asker
        self._asked_for_trust = False
        self._commands = BoundCommands(context.registry, context)
        self._updates = Updates()
        self._outgoing: asyncio.Queue[JsonObject | asyncio.Event] = asyncio.Queue()
        self._questions = Questions(context.agent.desk, asker)
        self._unsubscribe = context.agent.events.subscribe(self._receive)
        self._sender = asyncio.ensure_future(self._send_all(send))

    @property
    def modes(self) -> JsonObject:
        """The permission modes, and the present one."""
        known = [{"id": mode, "name": mode} for mode in MODES]
        return {"currentModeId": self._context.agent.mode, "availableModes": known}

    @property
    def commands(self) -> JsonObject:
        """The slash commands, and the files that are invoked like them, as an update."""
        own = ((each.name, each.summary, each.usage) for each in self._context.registry)
        known = {command.name for command in self._context.registry}
        files = (
            (each.name, clean(each.description, Kind.LINE), clean(each.argument_hint, Kind.LINE))
            for each in self._context.agent.skills.all
            if each.by_user and each.name not in known
        )
        listed = [
            {"name": name, "description": summary or name, "input": {"hint": usage or "-"}}
            for name, summary, usage in (*own, *files)
        ]
        return {"sessionUpdate": "available_commands_update", "availableCommands": listed}

    async def start(self, source: str) -> None:
        """Begin the session: its notices reach the editor, and the list of commands."""
        await self._context.agent.start(source)
        self._outgoing.put_nowait(self.commands)

    async def replay(self) -> None:
        """Show the conversation so far."""
        for event in self._context.agent.transcript():
            for update in self._updates.of(event, replayed=True):
                self._outgoing.put_nowait(update)
        await self.flush()

    async def trusts_folder(self) -> bool:
        """Before the first prompt: ask about what the folder's files would grant; True where that counts now."""
        control = self._context.around.trust
        if control is None or self._asked_for_trust:
            return False
        self._asked_for_trust = True
        return await trusts_folder(control, self._asker)

    async def prompt(self, blocks: Sequence[JsonObject]) -> str:
        """Run a prompt to its end; returns why it ended, in the protocol's words."""
        text = text_of([await self._with_label(block) for block in blocks])
        if not text.strip():
            raise UsageError("The prompt holds no text and no image. Nothing was sent.")
        if self._commands.takes(text):
            result = await self._commands.run(text)
            if result.turn is None:
                self._say(without_terminal(text, result).text)
                await self.flush()
                return "end_turn"
            finished = await result.turn
        else:
            finished = await self._context.agent.submit(text)
        if finished.reason == "error" and finished.text:
            self._say(f"\n\nerror: {finished.text}")
        await self.flush()
        return STOP_REASONS.get(finished.reason, "end_turn")

    def cancel(self) -> None:
        """Interrupt the present turn."""
        self._context.agent.interrupt()

    @property
    def mode(self) -> str:
        """The permission mode."""
        return self._context.agent.mode

    def set_mode(self, mode: str) -> None:
        """Change the permission mode; raises UsageError."""
        self._context.agent.set_mode(mode)

    async def flush(self) -> None:
        """Return when everything so far has been sent."""
        sent = asyncio.Event()
        self._outgoing.put_nowait(sent)
        await sent.wait()

    async def close(self) -> None:
        """End the session."""
        self._questions.close()
        self._unsubscribe()
        await self._context.agent.close("other")
        self._sender.cancel()

    async def _with_label(self, block: JsonObject) -> JsonObject:
        """An image becomes the label of a pasted one; any other block stays. Raises UsageError, StorageError."""
        if block.get("type") != "image":
            return block
        data = await asyncio.to_thread(_decoded, str(block.get("data", "")))
        label, _ = await asyncio.to_thread(self._context.agent.pasted.keep, data)
        return {"type": "text", "text": f" {label} "}

    def _say(self, text: str) -> None:
        content = {"type": "text", "text": text}
        self._outgoing.put_nowait({"sessionUpdate": "agent_message_chunk", "content": content})

    def _receive(self, event: Event) -> None:
        self._questions.receive(event)
        for update in self._updates.of(event):
            self._outgoing.put_nowait(update)

    async def _send_all(self, send: Callable[[JsonObject], Awaitable[None]]) -> None:
        while True:
            item = await self._outgoing.get()
            if isinstance(item, asyncio.Event):
                item.set()
            else:
                await send(item)


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise UsageError("The image was not taken: it is no base64. Nothing was sent.") from None


def text_of(blocks: Sequence[JsonObject]) -> str:
    """A prompt's blocks as one message; a file that is linked is mentioned, one that is embedded stands in it."""
    parts: list[str] = []
    for block in blocks:
        match block.get("type"):
            case "text":
                parts.append(str(block.get("text", "")))
            case "resource_link":
                parts.append(_mention(str(block.get("uri", ""))))
            case "resource":
                resource: JsonObject = block.get("resource") or {}
                name, text = _path(str(resource.get("uri", ""))), str(resource.get("text", ""))
                parts.append(f'\n<file path="{name}">\n{text}\n</file>\n')
            case _:
                parts.append(f"[{block.get('type')} left out: mcode takes text, images and files here]")
    return "".join(parts).strip()


def _mention(uri: str) -> str:
    return f" @{_path(uri)} " if uri.startswith("file:") else f" {uri} "


def _path(uri: str) -> str:
    return unquote(urlparse(uri).path) if uri.startswith("file:") else uri
