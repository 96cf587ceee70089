"""Servers over HTTP made with the protocol's own library, in the newest protocol and in the one of events alone."""

from __future__ import annotations

import asyncio
import contextlib
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
    with subprocess.Popen(
        [sys.executable, str(SERVER), transport],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            port = (await asyncio.to_thread(process.stdout.readline)).strip()
            assert port, "the server did not start"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


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
