"""The server in a thread, as a program of its own, and under a long conversation."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mcode.model.script import (
    Script,
    ScriptError,
    reply,
    text,
)
from tests.tools.raw_client import HEADERS, Answer, connected, request
from tools.messages_server import FAULTS, MessagesServer, running_server
from tools.messages_server.__main__ import main

HELLO = Script(fallback=reply("Hello there."), name="hello")


def post(url: str) -> bytes:
    data = json.dumps(request(stream=False)).encode()
    made = urllib.request.Request(f"{url}/v1/messages", data, HEADERS)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(made, timeout=30) as got:
        return got.read()


def test_a_test_without_a_loop_can_run_the_server_in_a_thread() -> None:
    with running_server(HELLO) as server:
        assert json.loads(post(server.url))["content"] == [text("Hello there.")]
        assert server.wait_for(1)[0].path == "/v1/messages"
        assert server.bodies == [request(stream=False)]
        port = server.port
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_the_server_in_a_thread_fails_loudly_too() -> None:
    def serve() -> None:
        with (
            running_server(Script(name="empty")) as server,
            pytest.raises(urllib.error.HTTPError, match="400"),
        ):
            post(server.url)

    with pytest.raises(ScriptError, match="no turn fits"):
        serve()


def run_module(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tools.messages_server", *arguments]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root)


def test_the_program_prints_its_url_serves_and_logs_requests(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"turns": [{"reply": "Hello."}]}))
    log = tmp_path / "requests.jsonl"
    with run_module(str(script), "--log", str(log)) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        before = time.monotonic()
        post(url)
        with pytest.raises(urllib.error.HTTPError):
            post(url)
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no turn fits request 2" in complaints
    first, second = [json.loads(line) for line in log.read_text().splitlines()]
    assert before <= first["received"] <= second["received"] <= time.monotonic()
    assert first["body"] == request(stream=False)
    assert first["credential"] == "x-api-key"
    assert HEADERS["x-api-key"] not in log.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a script"),
        (["nowhere.json"], "cannot be read"),
        (["mcode.model.guide:nothing"], "no attribute"),
        (["mcode.model.guide:guide_script", "--set", "weather=fine"], "'weather' is unknown"),
        (["mcode.model.guide:guide_script", "--set", "auth=letter"], "takes one of either, bearer"),
    ],
)
def test_the_program_says_what_is_wrong_with_its_arguments(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_the_program_lists_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--faults"]) == 0
    listed = [line.split()[0].split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(FAULTS)


async def test_two_hundred_requests_of_one_growing_conversation_are_answered_from_one_connection() -> None:
    messages: list[dict[str, str]] = []
    async with MessagesServer(HELLO) as server, connected(server) as client:
        got = Answer()
        for number in range(200):
            messages.append({"role": "user", "content": f"{number}: " + "some words " * 10})
            got = await client.post(request(messages=messages, cache_control={"type": "ephemeral"}))
            messages.append({"role": "assistant", "content": "Hello there."})
            assert got.kinds[-1] == "message_stop"
        figures = got.events[0]["message"]["usage"]
        assert figures["cache_read_input_tokens"] > 100 * figures["cache_creation_input_tokens"] > 0
        assert [kept.connection for kept in server.requests] == [1] * 200
