"""A server made with the protocol's own library, `real_http_server.py TRANSPORT`; it prints its port."""

from __future__ import annotations

import importlib
import socket
import sys
from typing import Any

SERVERS: Any = importlib.import_module("mcp.server.mcpserver")  # for the type checker this package is `mcp`

server = SERVERS.MCPServer("real", instructions="Adds numbers.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


uvicorn: Any = importlib.import_module("uvicorn")
app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()
with socket.create_server(("127.0.0.1", 0)) as listener:  # whoever connects from now on waits for its answer
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app)).run(sockets=[listener])
