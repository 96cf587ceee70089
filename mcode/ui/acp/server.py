"""The protocol's methods: sessions by id, each with an agent of its own. The only file that imports the package."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from typing import TYPE_CHECKING, Any, Protocol

from mcode import __version__
from mcode.errors import McodeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Container, Sequence
    from pathlib import Path

    from mcode.commands.host import CommandContext
    from mcode.jsontext import JsonObject
    from mcode.session.store import SessionInfo
    from mcode.ui.acp.session import EditorSession

logger = logging.getLogger(__name__)

NAMELESS = "server"
"""What a server of the editor is called whose own name is empty, or has no letter that a tool's name can have."""

_NAME_LIMIT = 64
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class Opener(Protocol):
    """Opens sessions in folders; `wiring` and `start` fulfil it."""

    async def open(
        self, folder: Path, source: str, reference: str | None, servers: JsonObject
    ) -> CommandContext:
        """An agent that has not started yet, and what its commands need. Raises McodeError.

        `servers`: entries by name as in `.mcp.json`, of the editor and so of the user's own.
        """
        ...

    async def sessions(self, folder: Path) -> Sequence[SessionInfo]:
        """Earlier sessions of a folder, newest first. Raises McodeError."""
        ...

    async def close(self) -> None:
        """End what outlives sessions."""
        ...


async def serve(opener: Opener) -> None:
    """Speak the protocol on standard input and output until the editor closes them."""
    import acp

    server = _Server(opener, acp)
    methods: Any = server
    try:
        await acp.run_agent(methods)
    finally:
        await server.end()


class _Server:
    """Fulfils `acp.Agent`. Its parameters are the protocol's own."""

    def __init__(self, opener: Opener, acp: Any) -> None:
        self._opener = opener
        self._acp = acp
        self._schema: Any = acp.schema
        self._editor: Any = None
        self._sessions: dict[str, EditorSession] = {}
        self._editors: dict[str, _Editor] = {}
        self._takes_forms = False
        """The editor has said that it can ask for words."""

    def on_connect(self, conn: Any) -> None:
        self._editor = conn

    async def initialize(self, protocol_version: int, client_capabilities: Any = None, **_: Any) -> Any:
        elicitation = getattr(client_capabilities, "elicitation", None)
        self._takes_forms = getattr(elicitation, "form", None) is not None
        version = min(protocol_version, self._acp.PROTOCOL_VERSION)
        capabilities = {
            "loadSession": True,
            "promptCapabilities": {"embeddedContext": True, "image": True},
            "mcpCapabilities": {"http": True, "sse": True},
        }
        return self._schema.InitializeResponse.model_validate(
            {
                "protocolVersion": version,
                "agentCapabilities": capabilities,
                "authMethods": [],
                "agentInfo": {"name": "mcode", "title": "mcode", "version": __version__},
            }
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        """The key comes from the environment or the user's settings; there is nothing to do."""

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> Any:
        identifier, session = await self._open(cwd, "startup", None, servers_of(mcp_servers))
        self._editors[identifier].known_soon()
        return self._schema.NewSessionResponse.model_validate(
            {"sessionId": identifier, "modes": session.modes}
        )

    async def load_session(self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any) -> Any:
        identifier, session = await self._open(cwd, "resume", session_id, servers_of(mcp_servers))
        self._editors[identifier].known.set()
        await session.replay()
        return self._schema.LoadSessionResponse.model_validate({"modes": session.modes})

    async def resume_session(self, session_id: str, cwd: str, mcp_servers: Any = None, **_: Any) -> Any:
        identifier, session = await self._open(cwd, "resume", session_id, servers_of(mcp_servers))
        self._editors[identifier].known.set()
        return self._schema.ResumeSessionResponse.model_validate({"modes": session.modes})

    async def fork_session(self, session_id: str, cwd: str, mcp_servers: Any = None, **_: Any) -> Any:
        identifier, session = await self._open(cwd, "fork", session_id, servers_of(mcp_servers))
        self._editors[identifier].known_soon()
        return self._schema.ForkSessionResponse.model_validate(
            {"sessionId": identifier, "modes": session.modes}
        )

    async def set_config_option(self, config_id: str, session_id: str, value: str | bool, **_: Any) -> Any:
        del session_id, value
        raise self._refusal(f"mcode has no option {config_id!r} here. Nothing was changed.")

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> Any:
        from pathlib import Path

        try:
            found = await self._opener.sessions(Path(cwd or "."))
        except McodeError as error:
            raise self._refusal(str(error)) from error
        rows: list[JsonObject] = [
            {"sessionId": info.id, "cwd": cwd or ".", "title": info.name or info.first_prompt[:80]}
            for info in found
        ]
        return self._schema.ListSessionsResponse.model_validate({"sessions": rows})

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        try:
            self._session(session_id).set_mode(mode_id)
        except (McodeError, ValueError) as error:
            raise self._refusal(str(error)) from error
        return self._schema.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        blocks = [block.model_dump(by_alias=True, mode="json") for block in prompt]
        try:
            session = self._session(session_id)
            if await session.trusts_folder():
                session = await self._begin_anew(session_id, session)
            reason = await session.prompt(blocks)
        except McodeError as error:
            raise self._refusal(str(error)) from error
        return self._schema.PromptResponse.model_validate({"stopReason": reason})

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            session.cancel()

    async def close_session(self, session_id: str, **_: Any) -> None:
        session = self._sessions.pop(session_id, None)
        self._editors.pop(session_id, None)
        if session is not None:
            await session.close()

    async def ext_method(self, method: str, params: JsonObject) -> JsonObject:
        del params
        raise self._acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: JsonObject) -> None:
        """Notifications that nobody here knows are passed over."""

    async def end(self) -> None:
        """Close every session, and what outlives them."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()
        await self._opener.close()

    async def _open(
        self, cwd: str, source: str, reference: str | None, servers: JsonObject
    ) -> tuple[str, EditorSession]:
        from pathlib import Path

        from mcode.ui.acp.session import EditorSession

        try:
            context = await self._opener.open(Path(cwd), source, reference, servers)
        except McodeError as error:
            raise self._refusal(str(error)) from error
        identifier = context.agent.session.id
        asker = self._editors.get(identifier) or _Editor(
            self._editor, identifier, self._acp, cwd, takes_forms=self._takes_forms
        )
        asker.servers = servers
        self._editors[identifier] = asker
        session = EditorSession(context, asker, asker.update)
        self._sessions[identifier] = session
        await session.start(source)
        return identifier, session

    async def _begin_anew(self, identifier: str, session: EditorSession) -> EditorSession:
        """Open a session again in which something has been trusted that counts from the beginning of one."""
        mode = session.mode
        await session.close()
        editor = self._editors[identifier]
        opened = (await self._open(editor.folder, "resume", identifier, editor.servers))[1]
        if opened.mode != mode:
            opened.set_mode(mode)
        return opened

    def _session(self, identifier: str) -> EditorSession:
        session = self._sessions.get(identifier)
        if session is None:
            raise self._refusal(f"There is no open session {identifier}. Nothing was done.")
        return session

    def _refusal(self, text: str) -> Exception:
        refusal: Exception = self._acp.RequestError.invalid_params({"message": text})
        return refusal


def servers_of(given: Any) -> JsonObject:
    """The servers of an editor as entries by name; one that is reached through the editor itself is left out.

    Names are the editor's to choose and become parts of tool names here. Those that meet thereby are numbered, and
    one that needs no change keeps its own.
    """
    listed: list[JsonObject] = [
        each.model_dump(by_alias=True, exclude_none=True, mode="json") for each in given or ()
    ]
    entries: JsonObject = {}
    for written in sorted(listed, key=lambda one: _plain(str(one.get("name", ""))) != one.get("name")):
        pairs = {
            str(pair["name"]): str(pair["value"])
            for pair in written.get("env") or written.get("headers") or ()
        }
        name = _free(_plain(str(written.get("name", ""))), entries)
        if "command" in written:
            entries[name] = {"command": written["command"], "args": written.get("args", []), "env": pairs}
        elif "url" in written:
            entries[name] = {"type": written.get("type", "http"), "url": written["url"], "headers": pairs}
    return entries


def _plain(name: str) -> str:
    """A server's name in the characters of tool names; NAMELESS where nothing of it is left."""
    plain = _NOT_IN_A_NAME.sub("_", name)[:_NAME_LIMIT]
    return plain if plain.strip("_-") else NAMELESS


def _free(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    numbered = (f"{name[: _NAME_LIMIT - len(str(at)) - 1]}_{at}" for at in itertools.count(2))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)


class _Editor:
    """The other side, for one session."""

    def __init__(
        self, connection: Any, session: str, acp: Any, folder: str, *, takes_forms: bool = False
    ) -> None:
        self._connection = connection
        self._session = session
        self._schema = acp.schema
        self._refusal = acp.RequestError
        self.folder = folder
        """The session's directory, as the editor named it."""
        self.takes_forms = takes_forms
        self.servers: JsonObject = {}
        """The servers that the editor gives the session."""
        self.known = asyncio.Event()
        """Set once the editor knows the session's id: nothing is said of it before."""

    def known_soon(self) -> None:
        """The id stands in the answer that goes out now: what is said of it follows behind."""
        asyncio.get_running_loop().call_soon(self.known.set)

    async def update(self, update: JsonObject) -> None:
        await self.known.wait()
        notification = self._schema.SessionNotification.model_validate(
            {"sessionId": self._session, "update": update}
        )
        await self._connection.session_update(session_id=self._session, update=notification.update)

    async def request_permission(self, call: JsonObject, options: list[JsonObject]) -> str | None:
        await self.known.wait()
        asking = self._connection.request_permission(
            session_id=self._session,
            tool_call=self._schema.ToolCallUpdate.model_validate(call),
            options=[self._schema.PermissionOption.model_validate(option) for option in options],
        )
        answer = await self._answer(asking)
        if answer is None:
            return None
        chosen: Awaitable[str] | str | None = getattr(answer.outcome, "option_id", None)
        return chosen if isinstance(chosen, str) else None

    async def fill_in(self, message: str, fields: JsonObject) -> JsonObject | None:
        await self.known.wait()
        form = {"sessionId": self._session, "requestedSchema": {"type": "object", "properties": fields}}
        mode = self._schema.ElicitationFormSessionMode.model_validate(form)
        answer = await self._answer(self._connection.create_elicitation(message=message, mode=mode))
        if answer is None or answer.action != "accept":
            return None
        filled: JsonObject = answer.model_dump(by_alias=True, mode="json").get("content") or {}
        return filled

    async def _answer(self, asking: Awaitable[Any]) -> Any:
        """What the editor answers; None where it refuses to ask its user, who is then taken to have turned away.

        So it is with an answer that the protocol does not have.
        """
        try:
            return await asking
        except (self._refusal, ValueError) as error:
            logger.warning("the editor did not ask its user, or its answer could not be read: %s", error)
            return None
