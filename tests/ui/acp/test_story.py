"""The fixture story in an editor: the protocol's own client drives the real program against the stand-in server."""

from __future__ import annotations

import asyncio
import base64
import functools
import importlib
import json
import socket
import struct
import sys
import zlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from mcode.model.script import parse_script
from mcode.ui.acp.server import _Editor, servers_of  # pyright: ignore[reportPrivateUsage] -- its order is tested
from tests.e2e.binary import Machine, endpoint
from tests.e2e.nursery import Order, nursery
from tests.e2e.story import EDIT, FIXED, LAST_WORD, READ, turn
from tests.mcp.live import HOSTILE
from tests.stage import use
from tests.waiting import until
from tools.messages_server import running_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tools.messages_server import RunningServer


class _Late:
    """A module that is loaded when it is needed: not by every worker that only collects this test."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("acp"), name)


acp: Any = _Late()

PATIENCE = 180.0

PROGRAM = "return (await tools.Glob({pattern: '*.py'})).value.length"

PICTURE = base64.b64encode(
    b"\x89PNG\r\n\x1a\n"
    + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(b"\0\xff\0\0")),
            (b"IEND", b""),
        )
    )
).decode()
"""One red point, as a PNG."""


class Editor:
    """An editor whose user answers every question with the first option of a kind, or of a name."""

    def __init__(self) -> None:
        self.begin()

    def begin(self, *answers: str, filled: tuple[dict[str, Any], ...] = ()) -> None:
        """What comes from now on; the user's next answers, and what they fill in forms; nothing: they turn away."""
        self._answers = list(answers)
        self._filled = list(filled)
        self.forms: list[tuple[str, dict[str, Any]]] = []
        self.updates: list[dict[str, Any]] = []
        self.asked: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []

    def on_connect(self, conn: Any) -> None:
        """Nothing is needed of the connection."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update.model_dump(by_alias=True, exclude_none=True))

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        shown = [option.model_dump(by_alias=True) for option in options]
        self.asked.append((tool_call.model_dump(by_alias=True, exclude_none=True), shown))
        kind = self._answers.pop(0) if self._answers else "cancelled"
        named = (option["optionId"] for option in shown if kind in (option["kind"], option["name"]))
        chosen = next(named, None)
        outcome = {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
        return acp.schema.RequestPermissionResponse.model_validate({"outcome": outcome})

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        fields = mode.model_dump(by_alias=True, exclude_none=True)["requestedSchema"]["properties"]
        self.forms.append((message, fields))
        filled = self._filled.pop(0)
        answer: dict[str, Any] = {"action": "accept", "content": filled} if filled else {"action": "decline"}
        kind = acp.schema.AcceptElicitationResponse if filled else acp.schema.DeclineElicitationResponse
        return kind.model_validate(answer)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    @property
    def said(self) -> str:
        return "".join(update["content"]["text"] for update in self.of("agent_message_chunk"))


@asynccontextmanager
async def connected(
    machine: Machine, server: RunningServer | None, editor: Editor, *more: str
) -> AsyncGenerator[Any]:
    """A connection to `mcode acp`, forked from a process with the SDK; it has ended when the block ends."""
    (asking, asked), (answered, answering) = socket.socketpair(), socket.socketpair()
    with asked, answering:
        order = Order(["acp", *more, *endpoint(server)], machine.home, machine.environment)
        start = functools.partial(nursery().converse, order, asked.fileno(), answering.fileno())
        process = await asyncio.to_thread(start)
    _, writer = await asyncio.open_connection(sock=asking)
    reader, unused = await asyncio.open_connection(sock=answered, limit=50_000_000)
    connection = acp.connect_to_agent(editor, writer, reader, use_unstable_protocol=True)
    try:
        async with asyncio.timeout(PATIENCE):
            yield connection
    finally:
        await connection.close()
        writer.close()
        assert await asyncio.to_thread(process.ended, 60)
        assert process.wait() == 0
        unused.close()


async def begun(connection: Any, folder: Path) -> str:
    session = await connection.new_session(cwd=str(folder), mcp_servers=[])
    assert session.modes.current_mode_id == "default"
    return session.session_id


async def said_hello(connection: Any, **capabilities: Any) -> None:
    told = acp.schema.ClientCapabilities.model_validate(capabilities)
    hello = await connection.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=told)
    assert hello.agent_info.name == "mcode"


TOUCH = use("Bash", command="touch made")

RED, BLUE = {"label": "Red"}, {"label": "Blue"}

ADD = "mcp__of_the_editor__add"

QUESTIONS = use(
    "AskUserQuestion",
    questions=[
        {"question": "Which colour?", "header": "Colour", "options": [RED, BLUE]},
        {"question": "Which of them?", "header": "Several", "multiSelect": True, "options": [RED, BLUE]},
    ],
)

TURNS = [
    turn("I would rather write it anew.", use("Write", file_path="new.py", content="print(1)\n")),
    turn("As you wish.", READ),
    turn("A program counts the files.", use("run_code", "toolu_p", code=PROGRAM)),
    turn(EDIT),
    {"reply": LAST_WORD},
    *(turn("Waiting.", use("Bash", command="sleep 60")), {"reply": "Still here."}),
    *({"reply": "Read."}, {"reply": "Red."}),
    *(turn(TOUCH), {"reply": "No."}, turn(TOUCH), {"reply": "Yes."}),
    {"reply": "Again."},
    turn("Some questions.", QUESTIONS),
    turn("I make it.", use("Bash", "toolu_m", command="touch words")),
    {"reply": "Then not."},
    turn(use("tool_search", queries=[f"select:{ADD}"])),
    turn(use("call_tool", "toolu_add", name=ADD, arguments={"a": 2, "b": 3})),
    {"reply": "Five."},
]


async def test_an_editor_drives_several_sessions_of_one_program_and_loads_one_again(tmp_path: Path) -> None:
    machine = Machine.fresh(tmp_path)
    with running_server(parse_script({"turns": TURNS}, "in an editor")) as server:
        editor = Editor()
        async with connected(machine, server, editor) as connection:
            await said_hello(connection)
            await the_story_has_one_approval_and_one_denial(connection, editor, machine.project)
            session = await a_prompt_is_cancelled_and_the_session_goes_on(connection, editor, machine.project)
            await modes_commands_linked_files_and_images_work(connection, editor, server, machine.project)
            await an_untrusted_folder_is_asked_about_and_counts_from_then_on(
                connection, editor, tmp_path / "other"
            )
            await what_cannot_be_done_is_refused_in_words(connection, tmp_path / "nowhere")
        editor = Editor()
        async with connected(machine, server, editor) as connection:
            await said_hello(connection, elicitation={"form": {}})
            listed = await connection.list_sessions(cwd=str(machine.project))
            assert (session, "wait a while") in [(each.session_id, each.title) for each in listed.sessions]
            await connection.load_session(cwd=str(machine.project), session_id=session, mcp_servers=[])
            shown = [each["content"]["text"] for each in editor.of("user_message_chunk")]
            assert shown == ["wait a while", "are you there?"]
            assert "Still here." in editor.said
            (call,) = editor.of("tool_call")
            assert call["title"] == "Bash sleep 60"
            await connection.prompt(session_id=session, prompt=[acp.text_block("go on")])
            assert "are you there?" in str(server.bodies[-1]["messages"])
            await an_editor_with_forms_is_asked_for_words(connection, editor, server, machine.project)
            await servers_of_the_editor_are_used_in_its_sessions(connection, editor, machine.project)


async def the_story_has_one_approval_and_one_denial(connection: Any, editor: Editor, folder: Path) -> None:
    editor.begin("reject_once", "allow_once")
    session = await begun(connection, folder)
    answer = await connection.prompt(session_id=session, prompt=[acp.text_block("fix the failing test")])
    assert answer.stop_reason == "end_turn"
    assert LAST_WORD in editor.said
    assert FIXED in (folder / "averages.py").read_text()
    assert not (folder / "new.py").exists()
    ended = {each["toolCallId"]: each["status"] for each in editor.of("tool_call_update") if "status" in each}
    assert sorted(ended.values()) == ["completed"] * 4 + ["failed"], str(editor.updates)
    nested = [each for each in editor.of("tool_call") if "_meta" in each]
    assert [each["_meta"]["mcode"]["parent"] for each in nested] == ["toolu_p"]
    assert nested[0]["title"].startswith("Glob")
    assert nested[0]["toolCallId"] in ended
    (_, edit) = editor.asked
    differences = [part for part in edit[0]["content"] if part["type"] == "diff"]
    assert differences[0]["path"].endswith("averages.py")
    assert {option["kind"] for option in edit[1]} >= {"allow_once", "allow_always", "reject_once"}


async def a_prompt_is_cancelled_and_the_session_goes_on(connection: Any, editor: Editor, folder: Path) -> str:
    editor.begin("allow_once")
    session = await begun(connection, folder)
    running = asyncio.ensure_future(
        connection.prompt(session_id=session, prompt=[acp.text_block("wait a while")])
    )
    await until(lambda: editor.asked, "the approval")
    await connection.cancel(session_id=session)
    assert (await running).stop_reason == "cancelled"
    again = await connection.prompt(session_id=session, prompt=[acp.text_block("are you there?")])
    assert again.stop_reason == "end_turn"
    assert "Still here." in editor.said
    return session


async def an_editor_with_forms_is_asked_for_words(
    connection: Any, editor: Editor, server: RunningServer, folder: Path
) -> None:
    filled = ({"words": "Green"}, {"chosen": ["Blue"], "other": "Pink"}, {"words": "never in this folder"})
    editor.begin("Something else", "No, and say why", filled=filled)
    session = await begun(connection, folder)
    await connection.prompt(session_id=session, prompt=[acp.text_block("ask me")])
    told = [str(body["messages"][-1]) for body in server.bodies[-2:]]
    assert "Green" in told[0]
    assert "Blue" in told[0]
    assert "Pink" in told[0]
    assert "the user said no: never in this folder" in told[1]
    assert [sorted(fields) for _, fields in editor.forms] == [["words"], ["chosen", "other"], ["words"]]
    assert editor.forms[1][1]["chosen"]["items"]["enum"] == ["Red", "Blue"]
    assert not (folder / "words").exists()


async def servers_of_the_editor_are_used_in_its_sessions(
    connection: Any, editor: Editor, folder: Path
) -> None:
    editor.begin("allow_once")
    given = {"name": "of the editor", "command": sys.executable, "args": [str(HOSTILE), "none"], "env": []}
    servers = [acp.schema.McpServerStdio.model_validate(given)]
    session = await connection.new_session(cwd=str(folder), mcp_servers=servers)
    await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("what is two and three?")])
    _, added = [each for each in editor.of("tool_call_update") if each.get("status") == "completed"]
    assert "5" in str(added["content"])


async def modes_commands_linked_files_and_images_work(
    connection: Any, editor: Editor, server: RunningServer, folder: Path
) -> None:
    editor.begin()
    (folder / ".claude" / "commands").mkdir(parents=True)
    (folder / ".claude" / "commands" / "greet.md").write_text("Greet $0.")
    session = await begun(connection, folder)
    await connection.set_session_mode(session_id=session, mode_id="plan")
    answer = await connection.prompt(session_id=session, prompt=[acp.text_block("/mode")])
    assert answer.stop_reason == "end_turn"
    assert "plan" in editor.said
    link = acp.resource_link_block("averages.py", (folder / "averages.py").as_uri())
    await connection.prompt(session_id=session, prompt=[acp.text_block("look at "), link])
    assert "def mean" in str(server.bodies[-1]["messages"])
    (commands,) = editor.of("available_commands_update")
    assert {"tools", "greet"} <= {command["name"] for command in commands["availableCommands"]}
    shown = [acp.text_block("what colour is this?"), acp.image_block(PICTURE, "image/png")]
    await connection.prompt(session_id=session, prompt=shown)
    assert "image" in [block["type"] for block in server.bodies[-1]["messages"][-1]["content"]]
    broken = [acp.image_block("bm8gaW1hZ2U=", "image/png")]
    with pytest.raises(acp.RequestError):
        await connection.prompt(session_id=session, prompt=broken)


async def an_untrusted_folder_is_asked_about_and_counts_from_then_on(
    connection: Any, editor: Editor, folder: Path
) -> None:
    (folder / ".mcode").mkdir(parents=True)
    allowed = {"permissions": {"allow": ["Bash(touch made)"]}}
    (folder / ".mcode" / "settings.json").write_text(json.dumps(allowed))
    editor.begin("reject_once", "reject_once", "allow_always")
    session = await begun(connection, folder)
    await connection.prompt(session_id=session, prompt=[acp.text_block("make it")])
    (page, options), (approval, _) = editor.asked
    assert "Bash(touch made)" in page["content"][0]["content"]["text"]
    assert [option["kind"] for option in options] == ["reject_once", "reject_always", "allow_always"]
    assert approval["title"] == "Bash touch made"
    assert not (folder / "made").exists()
    again = await begun(connection, folder)
    await connection.set_session_mode(session_id=again, mode_id="acceptEdits")
    await connection.prompt(session_id=again, prompt=[acp.text_block("make it")])
    assert len(editor.asked) == 3, "the rule of the trusted folder counts, so nothing is asked"
    assert (folder / "made").exists()
    await connection.prompt(session_id=again, prompt=[acp.text_block("/mode")])
    assert "acceptEdits" in editor.said


async def what_cannot_be_done_is_refused_in_words(connection: Any, nowhere: Path) -> None:
    for request in (
        connection.new_session(cwd=str(nowhere), mcp_servers=[]),
        connection.prompt(session_id="none", prompt=[acp.text_block("hello")]),
    ):
        with pytest.raises(acp.RequestError) as refused:
            await request
        assert "Nothing was" in str(refused.value.data)


async def test_nothing_is_said_of_a_session_before_the_editor_knows_its_id() -> None:
    sent: list[str] = []

    class Connection:
        async def session_update(self, **_: Any) -> None:
            sent.append("update")

    asker = _Editor(Connection(), "s", acp, "/")
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
    sending = asyncio.ensure_future(asker.update(update))
    await asyncio.sleep(0)
    asker.known_soon()
    sent.append("answer")
    await sending
    assert sent == ["answer", "update"]


def test_servers_of_an_editor_as_entries() -> None:
    env = [{"name": "KEY", "value": "v"}]
    stdio = acp.schema.McpServerStdio.model_validate(
        {"name": "a b", "command": "c", "args": ["d"], "env": env}
    )
    http = acp.schema.HttpMcpServer.model_validate(
        {"type": "http", "name": "h", "url": "http://h", "headers": env}
    )
    assert servers_of([stdio, http]) == {
        "a_b": {"command": "c", "args": ["d"], "env": {"KEY": "v"}},
        "h": {"type": "http", "url": "http://h", "headers": {"KEY": "v"}},
    }
    assert servers_of(None) == {}


@pytest.mark.parametrize(
    ("given", "entries"),
    [
        (("文档", "检索"), {"server": "0", "server_2": "1"}),
        (("my db", "my_db", "my.db"), {"my_db": "1", "my_db_2": "0", "my_db_3": "2"}),
        (("a b", "a_b_2", "a.b"), {"a_b": "0", "a_b_2": "1", "a_b_3": "2"}),
        (("same", "same"), {"same": "0", "same_2": "1"}),
        (("", " ", "server"), {"server": "2", "server_2": "0", "server_3": "1"}),
        (("x" * 70, "x" * 71), {"x" * 64: "0", f"{'x' * 62}_2": "1"}),
    ],
)
def test_no_server_of_an_editor_is_lost_to_another_one_of_a_like_name(
    given: tuple[str, ...], entries: dict[str, str]
) -> None:
    listed = [
        acp.schema.McpServerStdio.model_validate({"name": name, "command": str(at), "args": [], "env": []})
        for at, name in enumerate(given)
    ]
    assert {name: entry["command"] for name, entry in servers_of(listed).items()} == entries


async def test_an_editor_that_cannot_ask_its_user_counts_as_one_whose_user_turned_away() -> None:
    class Connection:
        async def request_permission(self, **_: Any) -> Any:
            raise acp.RequestError.method_not_found("session/request_permission")

        async def create_elicitation(self, **_: Any) -> Any:
            raise acp.RequestError.method_not_found("elicitation/create")

    asker = _Editor(Connection(), "s", acp, "/", takes_forms=True)
    asker.known.set()
    assert await asker.request_permission({"toolCallId": "a", "title": "t"}, []) is None
    assert await asker.fill_in("Why?", {"words": {"type": "string"}}) is None


async def test_an_answer_that_the_protocol_does_not_have_counts_as_none() -> None:
    class Connection:
        async def request_permission(self, **_: Any) -> Any:
            return acp.schema.RequestPermissionResponse.model_validate({"outcome": {"outcome": "perhaps"}})

    asker = _Editor(Connection(), "s", acp, "/")
    asker.known.set()
    assert await asker.request_permission({"toolCallId": "a", "title": "t"}, []) is None
