"""Servers over HTTP made with the protocol's own library, in the newest protocol and in the one of events alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.mcp.test_http import connected, transport_to

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

SERVER = Path(__file__).with_name("real_http_server.py")


@contextlib.asynccontextmanager
async def real_server(transport: str, directory: Path) -> AsyncGenerator[str]:
    """Its address, while the block runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, str(SERVER), transport, str(port)],
        cwd=directory,
        stdout=quiet,
        stderr=quiet,
        env=os.environ,
    )
    try:
        async with asyncio.timeout(60):
            while process.poll() is None:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.1)
        assert process.poll() is None, "the server did not start"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("transport", "kind", "path", "protocol"),
    [("streamable-http", "http", "/mcp", "2026-07-28"), ("sse", "sse", "/sse", "2025-11-25")],
)
async def test_a_real_server_is_connected_listed_and_called(
    tmp_path: Path, transport: str, kind: str, path: str, protocol: str
) -> None:
    pytest.importorskip("uvicorn", reason="the library's servers need it")
    async with (
        real_server(transport, tmp_path) as address,
        connected(transport_to(address + path, tmp_path, kind)) as client,
    ):
        assert client.protocol_version == protocol
        assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]
        result = await client.call_tool("add", {"a": 19, "b": 23})
        assert result.content[0].text == "42"
        wrong = await client.call_tool("add", {"a": "many"})
        assert wrong.is_error
